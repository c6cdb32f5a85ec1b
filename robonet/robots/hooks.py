"""Code of the user's around the steps: metrics, changes to the world, an end of its own."""

from pathlib import Path
from typing import Any

import numpy as np

from robonet.blame import users_traceback
from robonet.errors import ControllerError
from robonet.plugins import load
from robonet.robots.world import World


class Hooks:
    """Subclass it and override what you need; hooks may see and change everything in the world."""

    def on_start(self, world: World) -> None:
        """Everyone is in place, nothing has happened yet."""

    def before_step(self, world: World) -> None:
        """A step begins: controllers come next."""

    def after_step(self, world: World) -> None:
        """A step is over: everyone has moved."""

    def is_finished(self, world: World) -> bool:
        """Whether the run should end after this step."""
        return False

    def on_end(self, world: World) -> None:
        """The last step is over."""

    def metrics(self) -> dict[str, float]:
        """Figures for `metrics` in summary.json."""
        return {}


class HookChain:
    """All hooks of a scenario, in its order."""

    def __init__(self, world: World, base: Path) -> None:
        self._world = world
        self._hooks: list[tuple[Hooks, str]] = []
        for settings in world.scenario.hooks:
            kind = load(settings.hook, "hooks", base)
            try:
                self._hooks.append((kind(**settings.params), settings.hook))
            except (Exception, SystemExit) as error:
                raise self._blamed(error, settings.hook) from error

    def call(self, name: str) -> bool:
        """Call one method of every hook; whether any of them answered with something true."""
        answer = False
        for hook, reference in self._hooks:
            try:
                answer = bool(getattr(hook, name)(self._world)) or answer
            except (Exception, SystemExit) as error:
                raise self._blamed(error, f"{reference}.{name}") from error
        return answer

    def metrics(self) -> dict[str, Any]:
        """All figures together."""
        found: dict[str, Any] = {}
        for hook, reference in self._hooks:
            try:
                for name, value in hook.metrics().items():
                    if not isinstance(value, (int, float, np.integer, np.floating)):
                        raise TypeError(f"metric '{name}' must be a number, not {type(value).__name__}")
                    found[str(name)] = float(value) if np.isfinite(value) else None
            except (Exception, SystemExit) as error:
                raise self._blamed(error, f"{reference}.metrics") from error
        return found

    def _blamed(self, error: BaseException, what: str) -> ControllerError:
        trace = users_traceback(error)
        return ControllerError(
            f"hook {what} raised at simulated time {self._world.time_s:.3f} s: {type(error).__name__}: {error}\n{trace}"
        )
