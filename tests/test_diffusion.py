"""ARGoS' diffusion: how far foot-bots get in a minute, against ARGoS itself.

ARGoS 3 was run with its diffusion_10 controller (alpha 7.5 degrees, delta 0.1, 5 cm/s, 24 rays of 10 cm, dynamics2d,
ten ticks a second) in 40 x 40 m: with the outer walls 2.854 m on average over 20 seeds of 100 robots and 2.339 m over
3 seeds of 1000; with eight more walls of 8 x 0.1 m that form a cross, 2.775 m and 2.289 m.
"""

from pathlib import Path

import numpy as np
import pytest

from robonet.robots.simulator import RobonetRobots
from robonet.scenario import parse_scenario

CROSS = [
    f"{{box: {{center_m: [{x}, {y}], size_m: [{width}, {height}]}}}}"
    for sign in (-1, 1)
    for far in (4, 12)
    for x, y, width, height in ((sign * far, 0, 8, 0.1), (0, sign * far, 0.1, 8))
]


def displacement_m(count, seed, obstacles):
    text = (
        f"robonet: 1\nname: t\nseed: {seed}\nduration_s: 60\n"
        f"arena: {{size_m: [40, 40], obstacles: [{', '.join(obstacles)}]}}\n"
        f"robots: [{{name: a, count: {count}, controller: diffusion, params: {{speed_m_s: 0.05, alpha_deg: 7.5, delta: 0.1}}}}]\n"
    )
    robots = RobonetRobots(parse_scenario(text).scenario, Path())
    robots.minds.start()
    start = robots.world.xyz.copy()
    for _ in range(600):
        robots.world.look()
        robots.minds.step()
        robots.advance()
    return float(np.linalg.norm(robots.world.xyz - start, axis=1).mean())


@pytest.mark.parametrize(
    ("count", "seeds", "obstacles", "argos_m"),
    [(100, 20, [], 2.854), (1000, 5, [], 2.339), (100, 20, CROSS, 2.775), (1000, 5, CROSS, 2.289)],
    ids=["100", "1000", "100-cross", "1000-cross"],
)
def test_foot_bots_get_as_far_as_in_argos(count, seeds, obstacles, argos_m):
    found = np.mean([displacement_m(count, seed, obstacles) for seed in range(1, seeds + 1)])
    assert found == pytest.approx(argos_m, rel=0.03)
