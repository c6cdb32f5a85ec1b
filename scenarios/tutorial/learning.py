# A guide broadcasts where it is; nine followers learn to gather around it, by an evolution strategy on six weights.
#   python learning.py        trains them over ideal radios, and tries what they learned over others
import sys

import numpy as np

from robonet.env import parallel_env

TEAM = {
    "step_s": 0.2,
    "arena": {"size_m": [20, 20]},
    "robots": [{"name": "guide"}, {"name": "follower", "kind": "pioneer", "count": 9}],
    "network": {"disk": {"range_m": 7}, "wifi": {"range_m": 7, "fading": {"rayleigh": {}}}},
}


def act(weights, seen):
    """Of each agent: left and right wheel, whether to speak, two bytes. Only the guide speaks, only others drive."""
    x, y, cosine, sine, _, fresh, *heard = seen.T
    dx, dy = (heard[0] - x) * (fresh > 0), (heard[1] - y) * (fresh > 0)
    ahead, left, always = dx * cosine + dy * sine, dy * cosine - dx * sine, np.ones_like(x)
    speed, turn = weights.reshape(2, 3) @ (ahead, left, always)
    actions = np.column_stack((speed - turn, speed + turn, -always, x, y))
    actions[0, :3] = 0, 0, 1
    return actions


def way_left(env, weights, seed):
    """How far followers are from the guide at the end of an episode, as a share of that at its start."""
    seen, _ = env.reset(seed=seed)
    away_m = []
    while env.agents:
        away_m.append(np.linalg.norm(env.world.xyz[1:, :2] - env.world.xyz[0, :2], axis=1).mean())
        seen, *_ = env.step(dict(zip(seen, act(weights, np.stack(list(seen.values()))), strict=True)))
    return away_m[-1] / away_m[0]


if __name__ == "__main__":
    options = {"observe": ("positioning",), "message_bytes": 2, "hears": 1, "may_be_silent": True, "max_speed_m_s": 1.6}
    envs = {name: parallel_env(TEAM, network=name, max_steps=40, **options) for name in ("ideal", "disk", "wifi")}
    rng, mean, spread = np.random.default_rng(1), np.zeros(6), np.full(6, 2.0)
    for generation in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        tries = rng.normal(mean, spread, (12, 6))
        left = np.array([way_left(envs["ideal"], weights, generation) for weights in tries])
        best = tries[np.argsort(left)[:4]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.2
        print(f"generation {generation}: {left.mean():.2f} of the way left, {left.min():.2f} with the best")
    for name, env in envs.items():
        left = np.mean([way_left(env, mean, 100 + seed) for seed in range(10)])
        print(f"over {name} radios: {left:.2f} of the way left")
