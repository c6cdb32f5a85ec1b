"""The same world in ARGoS and in Stage, where they are installed: same walls, same places, a rule of the same kind.

Neither tells how long a tick takes. Each runs twice, for a few ticks and for many, and the difference is what the
ticks in between took, without start-up; CPU time is that of all threads of the process.
"""

import math
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from robots_bench import worlds

FEW = 5
"""Ticks of the short run."""
BORDER_M = 0.1
"""Thickness of the walls around the arena; their inner sides are its border."""


class PeerFailed(Exception):
    """Another simulator is there but did not run."""


class Peer(NamedTuple):
    """Ticks of another simulator."""

    wall_ms: float
    cpu_ms: float
    controller_ms: float | None
    """Of which in the controllers' own arithmetic, where that can be told."""
    ticks: int


def names_for(benchmark: str) -> list[str]:
    """Which other simulators know this benchmark and are on the path."""
    knowing = {"argos": ["argos3"], "rab": ["argos3"], "stage": ["stage"], "laser": ["stage"]}[benchmark]
    return [name for name in knowing if shutil.which(name)]


def run(name: str, benchmark: str, world: Any, options: Any, before: Peer | None = None) -> Peer:
    """Run another simulator from where the world's robots are; about as long as `options.peer_seconds`.

    The turn before, if there was one, tells how many ticks that are and what the controllers' share is.
    """
    with tempfile.TemporaryDirectory(prefix="robonet-peer-") as folder:

        def timed(ticks: int, passes: int = 1) -> tuple[float, float]:
            if name == "argos3":
                return _timed(name, _write_argos(Path(folder), benchmark, world, ticks, passes, options))
            return _timed(name, _write_stage(Path(folder), benchmark, world, ticks, options))

        few = timed(FEW)
        if before is None:
            per_tick_s = max((timed(3 * FEW)[0] - few[0]) / (2 * FEW), 1e-5)
            between = int(min(max(options.steps, 4 * FEW), max(4 * FEW, options.peer_seconds / per_tick_s))) - FEW
        else:
            between = before.ticks
        many = timed(FEW + between)
        controller_ms = before.controller_ms if before is not None else None
        if before is None and name == "argos3" and options.argos_controller is None:
            twice = timed(FEW + between, passes=2)
            controller_ms = max(0.0, 1e3 * (twice[1] - many[1]) / between)
        return Peer(1e3 * (many[0] - few[0]) / between, 1e3 * (many[1] - few[1]) / between, controller_ms, between)


def _timed(name: str, file: Path) -> tuple[float, float]:
    """Wall and CPU seconds of a whole run."""
    program = shutil.which(name)
    assert program is not None
    home = Path(program).resolve().parent.parent
    environment = dict(os.environ)
    if name == "argos3":
        command = [program, "-n", "-z", "-c", str(file)]
        environment.setdefault("ARGOS_PLUGIN_PATH", str(home / "lib" / "argos3"))
    else:
        command = [program, "-g", str(file)]
        environment.setdefault("STAGEPATH", str(next((home / "lib").glob("Stage-*"), home)))
    environment["LD_LIBRARY_PATH"] = os.pathsep.join([str(home / "lib"), environment.get("LD_LIBRARY_PATH", "")])
    began = time.perf_counter()
    before = os.times()
    try:
        done = subprocess.run(
            command, env=environment, cwd=file.parent, capture_output=True, text=True, errors="replace",
            timeout=3600, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise PeerFailed(f"{name} did not end within an hour") from None
    after = os.times()
    if done.returncode:
        raise PeerFailed(f"{name} failed:\n{(done.stdout + done.stderr)[-1500:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, cpu


def _walls(benchmark: str, robots: int) -> list[worlds.Wall]:
    side = worlds.side_m(benchmark, robots)
    out, long = (side + BORDER_M) / 2, side + 2 * BORDER_M
    around = [(0, out, long, BORDER_M), (0, -out, long, BORDER_M), (out, 0, BORDER_M, long), (-out, 0, BORDER_M, long)]
    return [*around, *worlds.inner_walls(side)]


# --- ARGoS -----------------------------------------------------------------------------------------------

LUA_RULE = """
local narrow, speed = math.cos(math.rad(7.5)), 5
local function decide()
  local rays, ahead, aside = robot.proximity, 0, 0
  for i = 1, #rays do
    ahead = ahead + rays[i].value * math.cos(rays[i].angle)
    aside = aside + rays[i].value * math.sin(rays[i].angle)
  end
  local length = math.sqrt(ahead * ahead + aside * aside)
  if length == 0 or (ahead >= narrow * length and length < 0.1 * #rays) then
    robot.wheels.set_velocity(speed, speed)
  elseif aside > 0 then
    robot.wheels.set_velocity(speed, 0)
  else
    robot.wheels.set_velocity(0, speed)
  end
{TALK}
end
function init() end
function step() for pass = 1, {PASSES} do decide() end end
function reset() end
function destroy() end
"""
LUA_TALK = """
  for i = 1, 10 do robot.range_and_bearing.set_data(i, i) end
  local sum = 0
  for i = 1, #robot.range_and_bearing do sum = sum + robot.range_and_bearing[i].range end
"""


def _write_argos(folder: Path, benchmark: str, world: Any, ticks: int, passes: int, options: Any) -> Path:
    """An experiment with its controller in Lua, or in the library that the user names."""
    robots, talks = world.robots, benchmark == "rab"
    side = worlds.side_m(benchmark, robots)
    if options.argos_controller is None:
        script = folder / "rule.lua"
        script.write_text(
            LUA_RULE.replace("{TALK}", LUA_TALK if talks else "").replace("{PASSES}", str(passes)), encoding="utf-8"
        )
        tag, library, params = "lua_controller", "", f'<params script="{script}"/>'
    else:
        tag = options.argos_label
        library = f' library="{Path(options.argos_controller).resolve()}"'
        params = '<params alpha="7.5" delta="0.1" velocity="5"/>'
    acts, senses, media, equipped = "", "", "", ""
    if talks:
        acts = '<range_and_bearing implementation="default"/>'
        senses = '<range_and_bearing implementation="medium" medium="rab" show_rays="false"/>'
        cells = math.ceil(side / 3.0)
        media = f'<range_and_bearing id="rab" index="grid" grid_size="{cells},{cells},1"/>'
        equipped = ' rab_range="3" rab_data_size="10"'
    boxes = "\n".join(
        f'<box id="wall{k}" size="{w},{h},0.5" movable="false"><body position="{x},{y},0" orientation="0,0,0"/></box>'
        for k, (x, y, w, h) in enumerate(_walls(benchmark, robots))
    )
    bots = "\n".join(
        f'<foot-bot id="r{i}"{equipped}><controller config="rule"/>'
        f'<body position="{x:.6f},{y:.6f},0" orientation="{math.degrees(heading):.4f},0,0"/></foot-bot>'
        for i, ((x, y, _), heading) in enumerate(zip(world.xyz[:robots], world.heading[:robots], strict=True))
    )
    threads = 0 if options.peer_threads == 1 else options.peer_threads
    file = folder / "world.argos"
    file.write_text(
        f"""<?xml version="1.0" ?>
<argos-configuration>
<framework>
<system threads="{threads}"/>
<experiment length="{ticks * worlds.STEP_S:.3f}" ticks_per_second="{round(1 / worlds.STEP_S)}" random_seed="1"/>
</framework>
<controllers>
<{tag} id="rule"{library}>
<actuators><differential_steering implementation="default"/>{acts}</actuators>
<sensors><footbot_proximity implementation="default" show_rays="false"/>{senses}</sensors>
{params}
</{tag}>
</controllers>
<arena size="{side + 2},{side + 2},2" center="0,0,0.5">
{boxes}
{bots}
</arena>
<physics_engines><dynamics2d id="floor" iterations="10"/></physics_engines>
<media>{media}</media>
</argos-configuration>
""",
        encoding="utf-8",
    )
    return file


# --- Stage -----------------------------------------------------------------------------------------------


def _write_stage(folder: Path, benchmark: str, world: Any, ticks: int, options: Any) -> Path:
    """A worldfile whose robots have a controller that is installed with Stage."""
    robots = world.robots
    kind = worlds.kind_of(benchmark)
    assert kind.body.polygon is not None
    corners = kind.body.polygon.corners_m
    size_x = max(x for x, _ in corners) - min(x for x, _ in corners)
    size_y = max(y for _, y in corners) - min(y for _, y in corners)
    outline = " ".join(f"point[{k}] [{x} {y}]" for k, (x, y) in enumerate(corners))
    if benchmark == "laser":
        assert kind.devices.laser is not None
        beams, reach = kind.devices.laser.beams, kind.devices.laser.range_m
        sensors = f"sensor( samples {beams} range [0 {reach}] fov {kind.devices.laser.field_of_view_deg} )"
        controller = "wander"
    else:
        assert kind.devices.sonar is not None
        rays, reach = kind.devices.sonar.rays, kind.devices.sonar.range_m
        sensors = "\n    ".join(
            f"sensor( samples 1 range [0 {reach}] fov 1 pose [0 0 0 {360 * k / rays:g}] )" for k in range(rays)
        )
        controller = "expand_swarm"
    walls = "\n".join(f"wall( size [{w} {h} 0.5] pose [{x} {y} 0 0] )" for x, y, w, h in _walls(benchmark, robots))
    bots = "\n".join(
        f"bot( pose [{x:.6f} {y:.6f} 0 {math.degrees(heading):.4f}] )"
        for (x, y, _), heading in zip(world.xyz[:robots], world.heading[:robots], strict=True)
    )
    file = folder / "team.world"
    file.write_text(
        f"""resolution 0.02
speedup -1
paused 0
threads {options.peer_threads}
interval_sim {round(1000 * worlds.STEP_S)}
quit_time {ticks * worlds.STEP_S:.3f}
define wall model( ranger_return 0.5 obstacle_return 1 gui_move 0 )
define bot position
(
  size [{size_x} {size_y} {kind.height_m}]
  block( points {len(corners)} {outline} z [0 {kind.height_m}] )
  ranger
  (
    pose [0 0 {-kind.height_m / 2} 0]
    {sensors}
  )
  ctrl "{controller}"
)
{walls}
{bots}
""",
        encoding="utf-8",
    )
    return file
