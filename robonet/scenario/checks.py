"""What types cannot say: names that must exist, files that must be there, things that must fit."""

from pathlib import Path

from robonet.clock import ns_from_s
from robonet.plugins import closest, problem_with, problem_with_params
from robonet.scenario.arena import Objects
from robonet.scenario.problems import Problem, Steps
from robonet.scenario.schema import MotionFile, Robots, Scenario, Station, Stream
from robonet.scenario.sections import Params
from robonet.scenario.wifi_checks import problems_with_wifi
from robonet.scenario.world_checks import problems_with_world

RESERVED_NAMES = ("all", "random")
DISK_ROUTINGS = ("shortest-path", "flooding")


def problems_in(scenario: Scenario, base: Path) -> list[Problem]:
    """Everything wrong with a scenario whose types are right; runs no user code."""
    found: list[Problem] = []
    _check_time(scenario, found)
    _check_names(scenario, found)
    _check_references(scenario, base, found)
    _check_places(scenario, found)
    found += problems_with_world(scenario, base)
    _check_wifi(scenario, found)
    for index, traffic in enumerate(scenario.traffic):
        kind = "cbr" if traffic.cbr is not None else "poisson"
        _check_stream(traffic.chosen, ("traffic", index, kind), scenario, found)
    return found


def _check_time(scenario: Scenario, found: list[Problem]) -> None:
    if scenario.duration_s < scenario.step_s or ns_from_s(scenario.duration_s) % ns_from_s(scenario.step_s):
        found.append(Problem(("duration_s",), f"must be a whole number of steps of {scenario.step_s} s"))
    every_s = scenario.record.poses_every_s
    if every_s is not None and (every_s < scenario.step_s or ns_from_s(every_s) % ns_from_s(scenario.step_s)):
        found.append(Problem(("record", "poses_every_s"), f"must be a whole number of steps of {scenario.step_s} s"))


def _check_names(scenario: Scenario, found: list[Problem]) -> None:
    if not scenario.robots and not scenario.stations:
        found.append(Problem(("robots",), "there is nothing to simulate: give robots or stations", show_value=False))
    seen: dict[str, Steps] = {}
    sections = (("robots", scenario.robots), ("stations", scenario.stations), ("objects", scenario.objects))
    everyone: tuple[Robots | Station | Objects, ...] = (*scenario.robots, *scenario.stations, *scenario.objects)
    places = [(name, index) for name, members in sections for index in range(len(members))]
    for (section, index), member in zip(places, everyone, strict=True):
        steps: Steps = (section, index, "name")
        if member.name in RESERVED_NAMES:
            found.append(Problem(steps, f"the word {member.name} is taken: choose another name"))
        if member.name in seen:
            found.append(Problem(steps, "the name is used twice"))
        seen[member.name] = steps
    groups: tuple[Robots | Objects, ...] = (*scenario.robots, *scenario.objects)
    for group in groups:
        for other in everyone:
            rest = other.name[len(group.name) :]
            if other is group or not other.name.startswith(group.name) or not rest.isdigit():
                continue
            if group.members > 1 and str(int(rest)) == rest and int(rest) < group.members:
                found.append(Problem(seen[other.name], f"the name is also that of a robot of group {group.name}"))


def _check_references(scenario: Scenario, base: Path, found: list[Problem]) -> None:
    def check(reference: str, family: str, steps: Steps) -> None:
        if (problem := problem_with(reference, family, base)) is not None:
            found.append(Problem(steps, problem, show_value=False))

    def check_user(reference: str, family: str, steps: Steps, method: str, params: Params) -> None:
        check(reference, family, steps)
        if not found or found[-1].steps != steps:
            problem = problem_with_params(reference, family, base, method, list(params))
            if problem is not None:
                found.append(Problem((*steps[:-1], "params"), problem, show_value=False))

    check(scenario.engine, "engines", ("engine",))
    check(scenario.network.model, "networks", ("network", "model"))
    routing = scenario.network.disk.routing
    if scenario.network.disk.multihop and routing not in DISK_ROUTINGS:
        known = ", ".join(DISK_ROUTINGS)
        text = f"unknown routing '{routing}'{closest(routing, list(DISK_ROUTINGS))}; disk knows: {known}"
        found.append(Problem(("network", "disk", "routing"), text, show_value=False))
    for index, group in enumerate(scenario.robots):
        if group.controller is not None:
            check_user(group.controller, "controllers", ("robots", index, "controller"), "start", group.params)
            if group.motion is not None:
                text = "robots with a controller move themselves: leave out one of the two"
                found.append(Problem(("robots", index, "motion"), text, show_value=False))
        elif group.params:
            text = "params are for a controller, and there is none"
            found.append(Problem(("robots", index, "params"), text, show_value=False))
        if group.motion is not None and isinstance(group.motion.chosen, MotionFile):
            kind = "ns2" if group.motion.ns2 is not None else "csv"
            path = base / group.motion.chosen.file
            if not path.is_file():
                found.append(Problem(("robots", index, "motion", kind, "file"), f"there is no file {path}", "", False))
    for index, station in enumerate(scenario.stations):
        if station.controller is not None:
            check_user(station.controller, "controllers", ("stations", index, "controller"), "start", station.params)
    for index, hook in enumerate(scenario.hooks):
        check_user(hook.hook, "hooks", ("hooks", index, "hook"), "__init__", hook.params)


def _check_places(scenario: Scenario, found: list[Problem]) -> None:
    low, high = scenario.arena.low_m, scenario.arena.high_m

    def inside(point: tuple[float, float]) -> bool:
        return low[0] <= point[0] <= high[0] and low[1] <= point[1] <= high[1]

    area = f"the arena, which spans [{low[0]:g}, {low[1]:g}] to [{high[0]:g}, {high[1]:g}]"
    for index, group in enumerate(scenario.robots):
        motion = group.motion
        for kind, key in (("random_waypoint", "speed_m_s"), ("random_waypoint", "pause_s"), ("random_walk", "leg_s")):
            settings = getattr(motion, kind, None)
            if settings is not None and getattr(settings, key)[0] > getattr(settings, key)[1]:
                steps = ("robots", index, "motion", kind, key)
                found.append(Problem(steps, "the first number must not exceed the second"))
    for index, station in enumerate(scenario.stations):
        if scenario.arena.walls and not inside(station.at_m):
            found.append(Problem(("stations", index, "at_m"), f"lies outside {area}"))


def _check_wifi(scenario: Scenario, found: list[Problem]) -> None:
    """The section is looked at when it is used, or when it says anything."""
    uses_wifi = scenario.network.model in ("wifi", "ns3")
    if not uses_wifi and not scenario.network.wifi.model_fields_set:
        return
    names = [group.member(i) for group in scenario.robots for i in range(group.members)]
    names += [station.name for station in scenario.stations]
    materials: list[tuple[Steps, str]] = []
    for index, obstacle in enumerate(scenario.arena.obstacles):
        kind = next(name for name, shape in obstacle if shape is not None)
        materials.append((("arena", "obstacles", index, kind, "material"), obstacle.chosen.material))
    if scenario.arena.bitmap is not None:
        materials.append((("arena", "bitmap", "material"), scenario.arena.bitmap.material))
    payloads: list[tuple[Steps, int]] = []
    for index, traffic in enumerate(scenario.traffic):
        kind = "cbr" if traffic.cbr is not None else "poisson"
        payloads.append((("traffic", index, kind, "payload_bytes"), traffic.chosen.payload_bytes))
    if not uses_wifi:
        payloads = []
    found += problems_with_wifi(scenario.network.wifi, names, materials, payloads)


def _check_stream(stream: Stream, steps: Steps, scenario: Scenario, found: list[Problem]) -> None:
    names = [group.name for group in scenario.robots] + [station.name for station in scenario.stations]
    members = {group.member(i) for group in scenario.robots for i in range(group.members)}

    def check(name: str, key: str) -> None:
        if name not in names and name not in members:
            text = f"no robot, group or station is called '{name}'"
            found.append(Problem((*steps, key), text, closest(name, names), show_value=False))

    nodes = len(members) + len(scenario.stations)
    if isinstance(stream.senders, int) and stream.senders > nodes:
        found.append(Problem((*steps, "senders"), f"there are only {nodes} robots and stations"))
    for name in (
        (stream.senders,)
        if isinstance(stream.senders, str)
        else stream.senders
        if isinstance(stream.senders, tuple)
        else ()
    ):
        if name != "all":
            check(name, "senders")
    if stream.to not in RESERVED_NAMES:
        check(stream.to, "to")
    elif stream.to == "random" and nodes < 2:
        found.append(Problem((*steps, "to"), "there is no other robot or station to send to", show_value=False))
    if stream.stop_s is not None and stream.stop_s <= stream.start_s:
        found.append(Problem((*steps, "stop_s"), f"must be later than start_s ({stream.start_s:g})"))
