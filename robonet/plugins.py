"""What can be named in a scenario, with one line of help each; the code behind a name is loaded when it is used."""

import ast
import importlib
import importlib.util
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from robonet.blame import users_traceback
from robonet.errors import UserError


class Plugin(NamedTuple):
    """One registered name."""

    home: str
    """`module:Class` where it lives; empty where it is part of another plug-in."""
    help: str
    """What it is, in one line."""


NETWORKS = {
    "ideal": Plugin("robonet.network.ideal:IdealNetwork", "everything arrives, after a delay of your choice"),
    "disk": Plugin(
        "robonet.network.disk:DiskNetwork",
        "radios with a range, a loss probability and a delay per hop; multi-hop",
    ),
    "wifi": Plugin(
        "robonet.network.wifi.model:WifiNetwork",
        "802.11 ad hoc radios: interference, contention, retries, ARP, and MANET routing",
    ),
    "ns3": Plugin(
        "robonet_bridges.ns3.model:Ns3Network",
        "ns-3 itself, with the radios that the wifi section means (pip install 'robonet[ns3]')",
    ),
    "ns2": Plugin("robonet_bridges.ns2.model:Ns2Network", "ns-2: 802.11 with AODV or DSDV (apt-get install ns2)"),
}
ROBOTS = {
    "foot-bot": Plugin("", "17 cm, two treels, 24 proximity rays of 10 cm, camera, range-and-bearing, gripper"),
    "e-puck": Plugin("", "7 cm, two wheels, 8 proximity rays of 10 cm, range-and-bearing of 80 cm"),
    "kilobot": Plugin("", "33 mm, walks on vibrating legs, talks over 10 cm"),
    "pioneer": Plugin("", "Pioneer 3-DX, 44 x 38 cm, 16 sonars and a laser scanner of 180 beams"),
    "minibot": Plugin("", "20 cm octagon of Stage's swarms, 12 range finders of 2 m"),
    "eye-bot": Plugin("", "50 cm quadrotor with camera, LEDs and range-and-bearing"),
}
"""What they are made of stands in robonet/scenario/robots; scenarios add their own under `kinds`."""
_ENGINES_HOME = "robonet.robots.engines"
ENGINES = {
    "kinematics2d": Plugin(
        f"{_ENGINES_HOME}.kinematics2d:Kinematics2D", "bodies go as fast as they are told and push each other apart"
    ),
    "dynamics2d": Plugin(
        f"{_ENGINES_HOME}.dynamics2d:Dynamics2D", "masses, forces and friction in the plane: pushing, gripping"
    ),
    "pointmass3d": Plugin(f"{_ENGINES_HOME}.pointmass3d:PointMass3D", "quadrotors as point masses in space"),
    "dynamics3d": Plugin(
        f"{_ENGINES_HOME}.dynamics3d:Dynamics3D", "rigid bodies in space (MuJoCo; pip install 'robonet[mujoco]')"
    ),
}
_SENSORS_HOME, _ACTUATORS_HOME = "robonet.robots.sensors", "robonet.robots.actuators"
SENSORS = {
    "proximity": Plugin(f"{_SENSORS_HOME}.range_finders:Proximity", "distances along short rays around the body"),
    "sonar": Plugin(f"{_SENSORS_HOME}.range_finders:Sonar", "range finders that look a few metres far"),
    "laser": Plugin(f"{_SENSORS_HOME}.range_finders:Laser", "a scanner with many beams"),
    "ground": Plugin(f"{_SENSORS_HOME}.ground:Ground", "how bright the floor is"),
    "light": Plugin(f"{_SENSORS_HOME}.light:Light", "where lamps are"),
    "camera": Plugin(f"{_SENSORS_HOME}.camera:Camera", "coloured LEDs all around, as blobs"),
    "positioning": Plugin(f"{_SENSORS_HOME}.positioning:Positioning", "position and heading"),
    "compass": Plugin(f"{_SENSORS_HOME}.compass:Compass", "heading"),
    "odometry": Plugin(f"{_SENSORS_HOME}.odometry:Odometry", "pose since the start, as the motors believe it"),
    "battery": Plugin(f"{_SENSORS_HOME}.battery:Battery", "charge that is left"),
    "contact": Plugin(f"{_SENSORS_HOME}.contact:Contact", "bumpers"),
    "clock": Plugin(f"{_SENSORS_HOME}.clock:Clock", "the robot's own time"),
    "range_and_bearing": Plugin(
        "robonet.robots.media.range_and_bearing:RangeAndBearing", "messages between robots in sight, with their place"
    ),
    "radio": Plugin("robonet.robots.radio:Radio", "send, broadcast and receive over the simulated network"),
}
ACTUATORS = {
    "wheels": Plugin(f"{_ACTUATORS_HOME}.wheels:Wheels", "two wheels on one axle"),
    "omni": Plugin(f"{_ACTUATORS_HOME}.omni:Omni", "wheels that go in every direction"),
    "steering": Plugin(f"{_ACTUATORS_HOME}.steering:Steering", "a car's steered front wheels"),
    "quadrotor_position": Plugin(f"{_ACTUATORS_HOME}.quadrotor:QuadrotorPosition", "flies to where it is told"),
    "quadrotor_velocity": Plugin(f"{_ACTUATORS_HOME}.quadrotor:QuadrotorVelocity", "flies as fast as it is told"),
    "leds": Plugin("robonet.robots.media.leds:Leds", "coloured lights"),
    "gripper": Plugin(f"{_ACTUATORS_HOME}.gripper:Gripper", "takes hold of things (dynamics2d)"),
}
CONTROLLERS = {
    "diffusion": Plugin("robonet.swarm.diffusion:Diffusion", "go straight, turn away from what is near"),
    "dispersal": Plugin("robonet.swarm.dispersal:Dispersal", "turn to where most space is (Stage's benchmark)"),
    "beacon": Plugin("robonet.swarm.beacon:Beacon", "stand still and broadcast a hello at a fixed rate"),
}
_ROUTING_HOME = "robonet.network.wifi.routing"
ROUTING = {
    "aodv": Plugin(f"{_ROUTING_HOME}.aodv:Aodv", "routes on demand by distance vector, RFC 3561 (wifi)"),
    "olsr": Plugin(f"{_ROUTING_HOME}.olsr:Olsr", "link states flooded by relays, RFC 3626 (wifi)"),
    "anthocnet": Plugin(f"{_ROUTING_HOME}.anthocnet:AntHocNet", "ants that find and improve paths (wifi)"),
    "shortest-path": Plugin("robonet.network.disk:ShortestPath", "over the true graph of the moment (disk, wifi)"),
    "static": Plugin(f"{_ROUTING_HOME}.simple:Static", "the same, under the name it has in ns-3 (wifi)"),
    "flooding": Plugin("robonet.network.disk:Flooding", "everyone repeats everything once (disk, wifi)"),
    "none": Plugin(f"{_ROUTING_HOME}.simple:SingleHop", "only who is in reach (wifi)"),
}

FAMILIES: dict[str, dict[str, Plugin]] = {
    "networks": NETWORKS,
    "robots": ROBOTS,
    "engines": ENGINES,
    "sensors": SENSORS,
    "actuators": ACTUATORS,
    "controllers": CONTROLLERS,
    "routing": ROUTING,
}


def closest(word: str, known: list[str]) -> str:
    """Return a hint such as ` (did you mean 'range_m'?)`, or nothing when no known word is near."""
    near = get_close_matches(word, known, n=1, cutoff=0.5)
    return f" (did you mean '{near[0]}'?)" if near else ""


def problem_with(reference: str, family: str, base: Path) -> str | None:
    """Say what is wrong with a name or a `file.py:Class`, without running any code; None if nothing is."""
    known = FAMILIES.get(family, {})
    if reference in known:
        return None
    where, colon, name = reference.rpartition(":")
    if not colon:
        options = ", ".join(known) or "none are built in"
        return f"unknown {family.rstrip('s')} '{reference}'{closest(reference, list(known))}; known: {options}"
    if not where or not name.isidentifier():
        return f"'{reference}' is not of the form file.py:Class or package.module:Class"
    if not where.endswith(".py"):
        if not all(part.isidentifier() for part in where.split(".")):
            return f"'{where}' is neither a .py file nor a module name"
        return None
    path = base / where
    if not path.is_file():
        return f"there is no file {path}"
    try:
        body = ast.parse(path.read_text(encoding="utf-8"), filename=str(path)).body
    except (SyntaxError, ValueError) as error:
        return f"{path} is not valid Python: {error}"
    except OSError as error:
        return f"cannot read {path}: {error.strerror}"
    classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
    imported = [alias.asname or alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names]
    if name not in classes + imported:
        return f"{path} defines no class {name}{closest(name, classes)}"
    return None


def problem_with_params(reference: str, family: str, base: Path, method: str, given: list[str]) -> str | None:
    """Say which params a class does not take, or misses, as far as its source shows without running it."""
    made = _source_of(reference, family, base)
    name = reference.rpartition(":")[2] if made is None else made.name
    methods = [node for node in made.body if isinstance(node, ast.FunctionDef)] if made else []
    taken = next((node.args for node in methods if node.name == method), None)
    if taken is None or taken.kwarg is not None:
        return None
    names = [argument.arg for argument in [*taken.posonlyargs, *taken.args][1:] + taken.kwonlyargs]
    for param in given:
        if param not in names:
            takes = ", ".join(names) or "none"
            return f"{name}.{method} takes no '{param}'{closest(param, names)}; it takes: {takes}"
    positional = [argument.arg for argument in [*taken.posonlyargs, *taken.args][1:]]
    required = positional[: len(positional) - len(taken.defaults)]
    required += [a.arg for a, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True) if default is None]
    missing = [param for param in required if param not in given]
    return f"{name}.{method} needs '{missing[0]}'" if missing else None


def attributes_used(reference: str, family: str, base: Path) -> set[str]:
    """What a class reads or calls of itself, as far as its source shows without running it."""
    made = _source_of(reference, family, base)
    nodes = ast.walk(made) if made is not None else ()
    read = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
    return {node.attr for node in read if isinstance(node.value, ast.Name) and node.value.id == "self"}


def _source_of(reference: str, family: str, base: Path) -> ast.ClassDef | None:
    """The source of a class, None where it is not at hand."""
    home = FAMILIES.get(family, {}).get(reference)
    where, _, name = (home.home if home else reference).rpartition(":")
    if home is not None:
        spec = importlib.util.find_spec(where)
        path = Path(spec.origin) if spec is not None and spec.origin else None
    else:
        path = base / where if where.endswith(".py") else None
    if path is None or not path.is_file():
        return None
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (SyntaxError, ValueError, OSError):
        return None
    return next((node for node in body if isinstance(node, ast.ClassDef) and node.name == name), None)


def load(reference: str, family: str, base: Path) -> Any:
    """Load what a registered name or a reference stands for; this runs the user's module."""
    if (problem := problem_with(reference, family, base)) is not None:
        raise UserError(problem)
    home = FAMILIES.get(family, {}).get(reference)
    where, _, name = (present(home.home) if home else reference).rpartition(":")
    if not where.endswith(".py"):  # packages beside the scenario, or where the user stands, come last
        sys.path += [place for place in (str(base.resolve()), str(Path.cwd())) if place not in sys.path]
    try:
        module = _load_file(base / where) if where.endswith(".py") else importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise UserError(
            f"cannot load '{reference}': {type(error).__name__}: {error}\n{users_traceback(error)}"
        ) from error
    if not hasattr(module, name):
        raise UserError(f"module {where} has no {name}")
    return getattr(module, name)


def present(home: str) -> str:
    """Bridges install as `robonet_bridges`; in a checkout they lie beside the package, and those are the latest."""
    beside = Path(__file__).parent.parent / "bridges" / "__init__.py"
    is_bridge = home.startswith("robonet_bridges.")
    return home.removeprefix("robonet_") if is_bridge and beside.is_file() else home


def _load_file(path: Path) -> Any:
    """Import a file as a module of its own, once; its folder is importable, so that it can have neighbours."""
    path = path.resolve()
    name = f"robonet_user_{path.stem}_{abs(hash(str(path))):x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"cannot load {path}")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
