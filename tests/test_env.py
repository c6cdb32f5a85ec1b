"""Scenarios as PettingZoo environments.

   actions                      observations, rewards
agents ──► wheels, radios ──► network decides ──► agents
"""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import ROOT
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.conversions import parallel_to_aec

import robonet
from robonet.env import Reward, parallel_env
from robonet.errors import ControllerError, UserError

TEAM = {
    "seed": 3,
    "arena": {"size_m": [20, 20], "obstacles": [{"box": {"center_m": [3, 0], "size_m": [1, 4]}}]},
    "robots": [{"name": "scout", "count": 5}],
    "network": {"disk": {"range_m": 8, "delivery_probability": 0.7}},
}
NETWORKS = ["ideal", "disk", "wifi"]


def pair(apart_m, range_m=10.0, **more):
    """Two robots that look east, so far apart."""
    places = {"poses": [[0, 0, 0], [0, apart_m, 0]]}
    return {
        "arena": {"size_m": [60, 60]},
        "robots": [{"name": "bot", "count": 2, "place": places}],
        "network": {"disk": {"range_m": range_m, "delay_s": 0.0}},
        **more,
    }


def acting(env, **of_agent):
    """Everyone stands still and says nothing but zeros, except for what is given."""
    actions = {agent: np.zeros(env.action_space(agent).shape) for agent in env.agents}
    for agent, action in of_agent.items():
        actions[agent][: len(action)] = action
    return env.step(actions)


def trajectory(env, seed, steps=20):
    """What everyone perceives, with actions that depend on nothing."""
    rng = np.random.default_rng(0)
    seen, _ = env.reset(seed=seed)
    found = [np.stack(list(seen.values()))]
    for _ in range(steps):
        actions = {agent: rng.uniform(-1, 1, env.action_space(agent).shape) for agent in env.agents}
        seen, *_ = env.step(actions)
        found.append(np.stack(list(seen.values())))
    return np.stack(found)


# --- PettingZoo's own tests ------------------------------------------------------------------------------


@pytest.mark.parametrize("network", NETWORKS)
def test_pettingzoo_finds_nothing_wrong(network, capsys):
    def make():
        return parallel_env(TEAM, network=network, max_steps=40, reward=lambda world, agent: world.time_s)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(make(), num_cycles=50)
        parallel_seed_test(make, num_cycles=50)
        warnings.filterwarnings("ignore", "(?s).*(We recommend agents to be named|infinity)")
        api_test(parallel_to_aec(make()), num_cycles=50)
        seed_test(lambda: parallel_to_aec(make()), num_cycles=20)


def test_pettingzoo_allows_robots_that_come_and_go(tmp_path):
    (tmp_path / "come.py").write_text(
        "import robonet\n"
        "class Come(robonet.Hooks):\n"
        "    def after_step(self, world):\n"
        "        if world.index == 3: world.remove('scout1')\n"
        "        if world.index == 5: self.name = world.add('scout', at_m=(0, 5))\n"
        "        if world.index == 7: world.add('scout', at_m=(0, -5))\n"
        "    def metrics(self): return {'answer': 42}\n"
    )
    path = tmp_path / "team.yaml"
    path.write_text(
        "robonet: 1\nname: team\nduration_s: 2\nrobots: [{name: scout, count: 3, reserve: 1, place: {grid: {spacing_m: 2}}}]\n"
        "hooks: ['come.py:Come']\nnetwork: {model: ideal}\n"
    )
    env = parallel_env(path)
    parallel_api_test(env, num_cycles=50)
    env.reset()
    assert env.possible_agents == ["scout0", "scout1", "scout2", "scout3"]
    there = [list(env.agents)]
    while env.agents:
        *_, over, late, infos = acting(env)
        there.append([agent for agent in over if over[agent]])
        assert not any(late.values()) or not env.agents
    assert there[0] == ["scout0", "scout1", "scout2"]
    assert [agents for agents in there[1:] if agents] == [["scout1"]], "ended for the one that was taken away"
    assert set(late) == {"scout0", "scout2", "scout3"}, "who comes back is no agent again in the same episode"
    assert infos["scout0"]["metrics"] == {"answer": 42}


# --- seeds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", NETWORKS)
def test_a_seed_is_a_trajectory(network):
    first, second = (parallel_env(TEAM, network=network) for _ in range(2))
    once = trajectory(first, 7)
    trajectory(first, 8)
    assert np.array_equal(once, trajectory(first, 7)), "whatever went before"
    assert np.array_equal(once, trajectory(second, 7))
    assert not np.array_equal(once, trajectory(first, 8))


def test_networks_differ_and_motion_does_not():
    short = {"observe": ("positioning",), "overrides": ("network.wifi.range_m=8",)}
    found = [trajectory(parallel_env(TEAM, network=network, **short), 7) for network in NETWORKS]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert np.array_equal(found[one][:, :, :4], found[other][:, :, :4])
        assert not np.array_equal(found[one], found[other])


def test_episodes_without_a_seed_follow_from_the_last_one():
    def places(env, *seeds):
        return [env.reset(seed=seed)[0]["scout0"].tolist() for seed in seeds]

    env = parallel_env(TEAM)
    first = places(env, None, None, None)
    assert first[0] != first[1] != first[2]
    assert places(env, 3, None, None) == first, "the scenario's seed is 3"
    assert places(parallel_env(TEAM, seed=5), None)[0] == places(env, 5)[0] != first[0]


def test_the_world_is_that_of_the_same_seed_in_a_run(small):
    env = parallel_env(small)
    env.reset(seed=11)
    with robonet.World(small, overrides=("seed=11",)) as world:
        assert np.array_equal(env.world.xyz, world.xyz)


# --- who hears whom --------------------------------------------------------------------------------------


def test_only_who_is_in_range_hears():
    for apart_m, count in ((5.0, 1), (20.0, 0)):
        env = parallel_env(pair(apart_m), network="disk", message_bytes=2, hears=1, flat=False)
        env.reset()
        seen, *_, infos = acting(env, bot0=[0, 0, 1.0, -0.5], bot1=[0, 0, 0.25, 0.0])
        assert seen["bot0"]["heard"] == seen["bot1"]["heard"] == count
        assert infos["bot0"] == {"sent": 1, "expected": 1, "reached": count, "heard": count}
        if count:
            assert np.allclose(seen["bot1"]["messages"][1:], [1.0, -0.5], atol=0.5 / 127)
            assert np.allclose(seen["bot0"]["messages"][1:], [0.25, 0.0], atol=0.5 / 127)
            assert 1 / 1.1 <= seen["bot0"]["messages"][0] <= 1.0, "sent at some moment of a step of 0.1 s"
        else:
            assert not seen["bot0"]["messages"].any()


def test_the_latest_messages_are_remembered_newest_first():
    env = parallel_env(pair(5.0), network="ideal", message_bytes=1, hears=3, may_be_silent=True, flat=False)
    env.reset()
    for number in range(4):
        seen, *_ = acting(env, bot0=[0, 0, 1, number / 4])
    for _ in range(2):
        seen, *_ = acting(env)
    fresh, words = seen["bot1"]["messages"].reshape(3, 2).T
    assert np.allclose(words, [0.75, 0.5, 0.25], atol=0.01) and seen["bot1"]["heard"] == 0
    assert (np.diff(fresh) < 0).all() and np.allclose(1 / fresh - 1, [0.25, 0.35, 0.45], atol=0.051), "ages in seconds"
    assert not seen["bot0"]["messages"].any(), "bot1 never spoke, and nobody hears himself"


def test_everyone_may_speak_at_once_on_a_shared_channel():
    env = parallel_env({**TEAM, "arena": {"size_m": [20, 20]}}, network="wifi")
    env.reset()
    for _ in range(20):
        *_, infos = acting(env)
    assert sum(info["reached"] for info in infos.values()) > 0.9 * sum(info["expected"] for info in infos.values())


def test_no_network_no_messages():
    env = parallel_env(pair(1.0), network=None)
    env.reset()
    *_, infos = acting(env)
    assert infos["bot0"] == {"sent": 1, "expected": 1, "reached": 0, "heard": 0}
    without = parallel_env(pair(1.0), message_bytes=0, observe=("compass",))
    seen, infos = without.reset()
    assert infos == {"bot0": {}, "bot1": {}} and without.action_space("bot0").shape == (2,)
    assert seen["bot0"].tolist() == [1.0, 0.0]


def test_what_was_said_is_found_again_after_thousands_of_messages():
    env = parallel_env(pair(5.0), network="ideal", observe=("compass",), message_bytes=1, hears=1, max_steps=1500)
    env.reset()
    for number in range(1500):
        word = (number % 201 - 100) / 127
        seen, *_, infos = acting(env, bot0=[0, 0, word])
        assert seen["bot1"][-1] == np.float32(word)
    assert infos["bot0"]["reached"] == infos["bot1"]["heard"] == 1500


def test_controllers_hear_agents_and_agents_hear_controllers(tmp_path):
    (tmp_path / "echo.py").write_text(
        "import robonet\n"
        "class Echo(robonet.Controller):\n"
        "    def step(self):\n"
        "        for message in self.radio.receive():\n"
        "            self.radio.send(message.sender, bytes([message.payload[0] + 1, 200]))\n"
    )
    path = tmp_path / "echo.yaml"
    path.write_text(
        "robonet: 1\nname: echo\nduration_s: 2\nrobots: [{name: bot}]\nnetwork: {model: ideal}\n"
        "stations: [{name: base, at_m: [3, 3], controller: 'echo.py:Echo'}]\n"
    )
    env = parallel_env(path, message_bytes=3, hears=1, may_be_silent=True, flat=False)
    env.reset()
    acting(env, bot=[0, 0, 1, 5 / 127])
    seen, *_ = acting(env)
    assert seen["bot"]["heard"] == 1
    assert np.allclose(seen["bot"]["messages"][1:] * 127, [6, 200 - 256, 0], atol=1e-4)


def test_whoever_is_gone_neither_speaks_nor_hears(tmp_path):
    (tmp_path / "gone.py").write_text(
        "import robonet\n"
        "class Gone(robonet.Hooks):\n"
        "    def after_step(self, world):\n"
        "        if world.index == 2: world.remove('bot1')\n"
    )
    scenario = pair(5.0, name="gone", duration_s=1.0, hooks=["gone.py:Gone"])
    import yaml

    (tmp_path / "gone.yaml").write_text(yaml.safe_dump({"robonet": 1, **scenario}))
    env = parallel_env(tmp_path / "gone.yaml", network="ideal")
    env.reset()
    acting(env)
    *_, over, late, infos = acting(env)
    assert over == {"bot0": False, "bot1": True} and env.agents == ["bot0"]
    assert infos["bot1"]["heard"] == 1, "it was taken away before the second message arrived"
    while env.agents:
        *_, late, infos = acting(env)
    assert late == {"bot0": True} and infos["bot0"]["heard"] == 2 and infos["bot0"]["expected"] == 2


# --- acting and perceiving -------------------------------------------------------------------------------


def test_wheels_turn_as_they_are_told():
    env = parallel_env(pair(5.0), network=None, max_speed_m_s=0.5, message_bytes=0)
    env.reset()
    acting(env, bot0=[1, 1], bot1=[-0.5, 0.5])
    assert np.allclose(env.world.xyz[:2], [[0.05, 0, 0], [0, 5, 0]])
    assert np.allclose(env.world.heading[:2], [0, 0.5 / 0.14 * 0.1])
    env.step({"bot0": [9, 9], "bot1": [0, 0]})
    assert np.isclose(env.world.xyz[0, 0], 0.1), "more than all is all"


def test_a_slow_robot_stays_slow():
    team = pair(5.0)
    team["robots"][0]["kind"] = "kilobot"
    env = parallel_env(team, network=None, message_bytes=0, observe=("positioning",))
    env.reset()
    acting(env, bot0=[1, 1])
    assert np.isclose(env.world.xyz[0, 0], 0.006)


@pytest.mark.parametrize(
    ("devices", "action", "moved"),
    [
        ({"omni": {}}, [0.6, 0.8, 0.5], [0.06, 0.08, 0.0]),
        ({"omni": {}}, [1.0, 1.0, 0.0], [0.1 / 2**0.5, 0.1 / 2**0.5, 0.0]),
        ({"steering": {}}, [1.0, 0.0], [0.1, 0.0, 0.0]),
    ],
)
def test_other_drives(devices, action, moved):
    kind = {"name": "cart", "body": {"disk": {"radius_m": 0.1}}, "devices": {**devices, "compass": {}}}
    team = pair(5.0, kinds=[kind])
    team["robots"][0]["kind"] = "cart"
    env = parallel_env(team, network=None, message_bytes=0, observe=("compass",))
    env.reset()
    acting(env, bot0=action)
    assert np.allclose(env.world.xyz[0], moved, atol=0.01)


def test_rotors():
    kind = {
        "name": "drone", "body": {"disk": {"radius_m": 0.1}},
        "devices": {"quadrotor_velocity": {"max_acceleration_m_s2": 100}, "positioning": {}},
    }  # fmt: skip
    team = pair(5.0, kinds=[kind])
    team["robots"][0]["kind"] = "drone"
    env = parallel_env(team, network=None, message_bytes=0, observe=("positioning",))
    before, _ = env.reset()
    for _ in range(10):
        after, *_ = acting(env, bot0=[0, 0, 1, 0], bot1=[1, 0, 0, 0])
    assert after["bot0"].shape == (5,) and after["bot0"][2] > before["bot0"][2]
    assert after["bot1"][0] > before["bot1"][0] and after["bot1"][2] == before["bot1"][2]


ALL = ("proximity", "ground", "light", "positioning", "compass", "odometry", "battery", "contact", "clock")


def test_observations_are_in_their_spaces_and_the_same_in_both_forms():
    flat, parts = (parallel_env(TEAM, observe=ALL, flat=flat, network="ideal") for flat in (True, False))
    flat.reset(seed=2)
    parts.reset(seed=2)
    for _ in range(5):
        one, *_ = acting(flat, scout0=[1, 0.5])
        other, *_ = acting(parts, scout0=[1, 0.5])
        for agent in flat.agents:
            assert flat.observation_space(agent).contains(one[agent])
            assert parts.observation_space(agent).contains(other[agent])
            assert np.array_equal(
                one[agent], np.concatenate([other[agent][name] for name in (*ALL, "heard", "messages")])
            )
    at_m = flat.world.xyz[0, :2]
    assert np.allclose(other["scout0"]["positioning"][:2], at_m / 10)
    assert np.allclose(other["scout0"]["clock"], 0.5 / 30)


def test_observations_of_a_step_do_not_change_in_the_next():
    env = parallel_env(TEAM, network="ideal")
    before, _ = env.reset()
    copy = before["scout0"].copy()
    acting(env, scout0=[1, 1])
    assert np.array_equal(before["scout0"], copy)


def test_an_observation_of_ones_own_and_groups_that_differ():
    def east_m(world, rows):
        return world.xyz[rows, 0]

    team = {
        **TEAM, "robots": [{"name": "bot", "count": 2}, {"name": "eye", "kind": "pioneer"}],
    }  # fmt: skip
    env = parallel_env(team, observe=("proximity", "laser", east_m), message_bytes=0, flat=False)
    seen, _ = env.reset()
    assert list(seen) == ["bot0", "bot1", "eye"]
    assert not seen["bot0"]["laser"].any() and seen["bot0"]["proximity"].any(), "what one does not carry reads zero"
    assert seen["eye"]["laser"].all() and not seen["eye"]["proximity"].any()
    assert [one["east_m"].item() for one in seen.values()] == env.world.xyz[:3, 0].astype(np.float32).tolist()
    assert parallel_env(team, group="eye", observe=("laser",)).possible_agents == ["eye"]


def test_controllers_of_agents_are_not_used_and_those_of_others_are(small):
    env = parallel_env(small, group="scout", network="ideal", message_bytes=4, hears=1)
    env.reset()
    before = env.world.xyz.copy()
    for _ in range(15):
        *_, infos = acting(env)
    assert np.array_equal(before, env.world.xyz), "nobody diffuses"
    assert infos["scout0"]["heard"] > 15 * 7, "the beacon speaks, too"


def test_state_and_picture():
    env = parallel_env(TEAM, render_mode="rgb_array", network="ideal")
    with pytest.raises(UserError, match="reset"):
        env.render()
    env.reset()
    acting(env)
    assert env.state_space.contains(env.state()) and env.state().shape == (25,)
    picture = env.render()
    assert picture.shape == (480, 480, 3) and picture.dtype == np.uint8
    colours = {tuple(colour) for colour in picture.reshape(-1, 3).tolist()}
    assert (0x21, 0x66, 0xAC) in colours and (0xBB, 0xBB, 0xBB) in colours and (0xF2, 0xC9, 0xA0) in colours
    assert parallel_env(TEAM).render() is None


# --- rewards and ends ------------------------------------------------------------------------------------


def test_rewards_of_a_function_and_of_a_class():
    class Task(Reward):
        def reset(self, world, rows):
            self.steps = 0

        def step(self, world, rows):
            self.steps += 1
            return world.xyz[rows, 0] * self.steps

        def is_finished(self, world):
            return self.steps == 3

    env = parallel_env(TEAM, reward=Task(), message_bytes=0)
    for _ in range(2):
        env.reset()
        x_m = env.world.xyz[:5, 0].tolist()
        for number in range(1, 4):
            _, rewards, over, late, _ = acting(env)
            assert list(rewards.values()) == [x * number for x in x_m]
        assert all(over.values()) and not any(late.values()) and not env.agents
    each = parallel_env(TEAM, reward=lambda world, agent: float(agent == "scout2"), message_bytes=0)
    each.reset()
    assert list(acting(each)[1].values()) == [0, 0, 1, 0, 0]


def test_the_end_of_time_cuts_off_and_a_hook_ends(tmp_path):
    env = parallel_env(TEAM, max_steps=3)
    env.reset()
    for number in range(3):
        *_, over, late, _ = acting(env)
        assert not any(over.values()) and set(late.values()) == {number == 2}
    with pytest.raises(UserError, match="the episode is over: call reset"):
        env.step({})
    assert env.reset()[0] and env.agents

    (tmp_path / "done.py").write_text(
        "import robonet\nclass Done(robonet.Hooks):\n    def is_finished(self, world): return world.index == 3\n"
    )
    path = tmp_path / "done.yaml"
    path.write_text("robonet: 1\nname: done\nduration_s: 0.3\nrobots: [{name: bot}]\nhooks: ['done.py:Done']\n")
    env = parallel_env(path)
    env.reset()
    acting(env)
    acting(env)
    *_, over, late, _ = acting(env)
    assert over == {"bot": True} and late == {"bot": False}, "both at once: it was ended"


def test_errors_in_the_users_code_are_told_as_such():
    def fails(world, agent):
        return 1 / 0

    env = parallel_env(TEAM, reward=fails)
    env.reset()
    with pytest.raises(
        ControllerError, match=r"reward .*step raised at simulated time 0.100 s: ZeroDivisionError(.|\n)*fails"
    ):
        acting(env)
    env = parallel_env(TEAM, reward=lambda world, agent: float("nan") if agent == "scout1" else 0.0)
    env.reset()
    with pytest.raises(ControllerError, match="reward of 'scout1' at simulated time 0.100 s is nan"):
        acting(env)
    with pytest.raises(ControllerError, match=r"observation 'three' must be an array of shape \(5, n\), not \(3, 1\)"):

        def three(world, rows):
            return [1, 2, 3]

        parallel_env(TEAM, observe=(three,))


# --- bad arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group": "scuot"}, r"group: no group of robots is called 'scuot' \(did you mean 'scout'\?\); known: scout"),
        ({"group": ()}, "group: name at least one"),
        ({"observe": ("proximty",)}, r"observe: unknown 'proximty' \(did you mean 'proximity'\?\); known: proximity"),
        ({"observe": ("laser",)}, "observe: none of the agents has a laser; they have: proximity, ground"),
        ({"observe": "compass"}, r"observe is a list: \('compass',\)"),
        ({"observe": (5,)}, "observe: 5 is neither"),
        ({"observe": ("compass", "compass")}, "observe: 'compass' is there twice"),
        ({"observe": (), "message_bytes": 0}, "observe: agents would perceive nothing"),
        ({"message_bytes": -1}, "message_bytes must be a whole number from 0 to 1024, got -1"),
        ({"hears": 1.5}, "hears must be a whole number"),
        ({"max_steps": 0}, "max_steps must be a whole number from 1"),
        ({"max_speed_m_s": float("inf")}, "max_speed_m_s must be positive and finite, got inf"),
        ({"reward": 5}, r"reward must be a function of \(world, agent\) or a robonet.env.Reward, not 5"),
        ({"reward": Reward}, r"reward: give an object, not the class: Reward\(\)"),
        ({"network": "wiffi"}, "unknown network 'wiffi'"),
        ({"variant": "other"}, "has no variant 'other'"),
        ({"overrides": "seed=1"}, "overrides is a list"),
        ({"overrides": ("robots.scout.count=0", "robots.scout.reserve=2")}, "nobody of scout is there at the start"),
        ({"overrides": ("robots.scout.motion={random_walk: {}}",)}, "no robots that could be agents"),
        ({"overrides": ("robots.scout.motion={random_walk: {}}",), "group": "scout"}, "'scout' follows a prescribed motion"),
        ({"overrides": ("robots.scout.kind=eye-bot",)}, "group 'scout' has nothing that agents can drive; known: wheels"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"render_mode": "human"}, "render_mode: unknown 'human'; known: rgb_array"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(UserError, match=message):
        parallel_env(TEAM, **arguments)


def test_radios_and_drives_that_do_not_fit():
    kinds = [
        {"name": "mute", "body": {"disk": {"radius_m": 0.1}}, "devices": {"wheels": {}, "compass": {}}},
        {"name": "slider", "body": {"disk": {"radius_m": 0.1}}, "devices": {"omni": {}, "radio": {}}},
    ]
    team = {**TEAM, "kinds": kinds, "robots": [{"name": "one", "kind": "mute"}, {"name": "two", "kind": "slider"}]}
    with pytest.raises(UserError, match="group 'one' has no radio to send messages with: say message_bytes=0"):
        parallel_env(team, group="one", observe=("compass",))
    with pytest.raises(UserError, match="'one' by wheels, 'two' by omni; choose with group="):
        parallel_env(team, observe=("compass",), message_bytes=0)


def test_bad_actions_are_blamed_on_their_agents():
    env = parallel_env(TEAM)
    with pytest.raises(UserError, match=r"call reset\(\)"):
        env.step({})
    env.reset()
    good = {agent: np.zeros(10) for agent in env.agents}
    for changes, message in (
        ({"scout3": np.zeros(9)}, r"the action of 'scout3' must have 10 numbers, its shape is \(9,\)"),
        ({"scout1": np.full(10, np.nan)}, "the action of 'scout1' must be finite"),
        ({"scout1": None}, "the action of 'scout1'"),
        ({"scout2": ["left"] * 10}, "the action of 'scout2' is no array of numbers"),
        ({"scout9": np.zeros(10)}, "action for agent 'scout9', which does not exist"),
    ):
        with pytest.raises(UserError, match=message):
            env.step({**good, **changes})
    del good["scout4"]
    with pytest.raises(UserError, match="no action for agent 'scout4'"):
        env.step(good)
    with pytest.raises(UserError, match="there is no agent 'scout7'"):
        env.action_space("scout7")
    with pytest.raises(UserError, match="seed must be a whole number"):
        env.reset(seed=0.5)


def test_without_the_extra_it_says_what_to_install():
    code = "import sys; sys.modules['pettingzoo'] = None\nimport robonet.env"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert "UserError: robonet.env needs PettingZoo and Gymnasium" in done.stderr
    assert "pip install 'robonet[learning]'" in done.stderr


def test_the_example_learns_and_short_radios_hinder_it():
    example = ROOT / "scenarios" / "tutorial" / "learning.py"
    assert len(example.read_text().splitlines()) <= 50
    done = subprocess.run(
        [sys.executable, example, "3"], capture_output=True, text=True, check=True, cwd=ROOT, timeout=100
    )
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["generation"] * 3 + ["over"] * 3
    ideal, disk, wifi = (float(line.split()[3]) for line in lines[3:])
    assert ideal < wifi and ideal < disk and ideal < float(lines[0].split()[2])
