"""robonet: robot teams and their radio networks, simulated together in lock-step."""

from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

if TYPE_CHECKING:
    from robonet.embedded import World
    from robonet.env import parallel_env
    from robonet.robots.controllers import Controller, SwarmController
    from robonet.robots.hooks import Hooks

__all__ = ["Controller", "Hooks", "SwarmController", "World", "__version__", "parallel_env"]

_HOMES = {
    "Controller": "robonet.robots.controllers",
    "SwarmController": "robonet.robots.controllers",
    "Hooks": "robonet.robots.hooks",
    "World": "robonet.embedded",
    "parallel_env": "robonet.env",
}


def __getattr__(name: str) -> Any:
    """Load what users write controllers with only when it is asked for, so that the command line starts fast."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'robonet' has no attribute {name!r}")
