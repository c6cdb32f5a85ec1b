"""The worlds that are measured: rooms along a corridor, and robots that carry what their rule needs."""

import math
from typing import Any, NamedTuple

from robonet.scenario.kinds import Kind, shipped_kinds

SIDE_M = 40.0
ROOM_M, DOOR_M, WALL_M, HALF_CORRIDOR_M = 8.0, 1.6, 0.1, 1.5
STEP_S = 0.1

Wall = tuple[float, float, float, float]
"""Centre and extent."""


class Benchmark(NamedTuple):
    """What one of them consists of."""

    text: str
    kind: str
    """The shipped robot whose body and devices it takes."""
    devices: tuple[str, ...]
    scale: float
    """Size of the body beside the shipped one."""
    fits: int
    """So many have room in the arena; it grows with the number beyond that."""
    array: str
    python: str
    """Controllers."""
    robots: tuple[int, ...]
    """Sizes measured by default."""


BENCHMARKS = {
    "argos": Benchmark(
        "diffusion of foot-bots with 24 rays of 0.1 m",
        "foot-bot", ("wheels", "proximity"), 1.0, 10_000,
        "diffusion", "robots_bench.minds:Diffusion", (10, 100, 1_000, 10_000, 100_000),
    ),
    "stage": Benchmark(
        "dispersal of minibots of 0.1 m with 12 rays of 2 m",
        "minibot", ("wheels", "sonar"), 0.5, 10_000,
        "robonet.swarm.dispersal:Dispersal", "robots_bench.minds:Dispersal", (10, 100, 1_000, 10_000),
    ),
    "laser": Benchmark(
        "dispersal of pioneers with 180 beams of 8 m",
        "pioneer", ("wheels", "laser"), 1.0, 1_000,
        "robonet.swarm.dispersal:Dispersal", "robots_bench.minds:Dispersal", (10, 100, 1_000),
    ),
    "rab": Benchmark(
        "diffusion of foot-bots that all send 10 bytes over 3 m of sight in every step",
        "foot-bot", ("wheels", "proximity", "range_and_bearing"), 1.0, 10_000,
        "robots_bench.minds:TalkingSwarm", "robots_bench.minds:Talking", (10, 100, 1_000),
    ),
}  # fmt: skip


def side_m(benchmark: str, robots: int) -> float:
    """Extent of the arena: 40 m, or as much as keeps the density where more robots would not fit."""
    return SIDE_M * math.sqrt(max(1.0, robots / BENCHMARKS[benchmark].fits))


def inner_walls(side: float) -> list[Wall]:
    """A corridor through the middle, rooms to both sides; every room has a door to it and one to the next room."""
    rooms = max(1, round(side / ROOM_M))
    width, half = side / rooms, side / 2
    depth = half - HALF_CORRIDOR_M
    found: list[Wall] = []
    for room in range(rooms):
        left = -half + room * width
        for way in (-1, 1):
            piece = (width - DOOR_M) / 2
            for x in (left + piece / 2, left + width - piece / 2):
                found.append((x, way * HALF_CORRIDOR_M, piece, WALL_M))
            if room:
                piece = (depth - DOOR_M) / 2
                for y in (HALF_CORRIDOR_M + piece / 2, half - piece / 2):
                    found.append((left, way * y, WALL_M, piece))
    return found


def kind_of(benchmark: str) -> Kind:
    """The robot: a shipped one with nothing but what is used, as other simulators are told to simulate it."""
    chosen = BENCHMARKS[benchmark]
    shipped, scale = shipped_kinds()[chosen.kind], chosen.scale
    kept = {name: getattr(shipped.devices, name) for name in chosen.devices}
    kept["wheels"] = kept["wheels"].model_copy(update={"wheel_distance_m": scale * kept["wheels"].wheel_distance_m})
    body = shipped.body
    if body.polygon is not None and scale != 1.0:
        corners = tuple((scale * x, scale * y) for x, y in body.polygon.corners_m)
        body = body.model_copy(update={"polygon": body.polygon.model_copy(update={"corners_m": corners})})
    bare = type(shipped.devices)()
    return shipped.model_copy(
        update={
            "name": "measured",
            "body": body,
            "height_m": scale * shipped.height_m,
            "devices": bare.model_copy(update=kept),
        }
    )


def sections(
    benchmark: str, robots: int, engine: str, threads: int, controller: str | None, *, is_whole: bool = False
) -> dict[str, Any]:
    """The scenario, as `robonet.World` takes it."""
    chosen, side = BENCHMARKS[benchmark], side_m(benchmark, robots)
    kind = kind_of(benchmark).model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    team: dict[str, Any] = {"name": "team", "kind": chosen.kind if is_whole else "measured", "count": robots}
    if controller is not None:
        team["controller"] = controller
    if benchmark == "laser" and controller == chosen.array:
        team["params"] = {"sensor": "laser"}
    boxes = [{"box": {"center_m": [x, y], "size_m": [w, h]}} for x, y, w, h in inner_walls(side)]
    return {
        "name": f"{benchmark}-{robots}",
        "step_s": STEP_S,
        "engine": engine,
        "threads": threads,
        "arena": {"size_m": [side, side], "obstacles": boxes},
        "kinds": [kind],
        "robots": [team],
    }
