"""What robots see of delay (RoboNetSim, table 3): on average half a step more than there was in the network.

The paper's traffic, at Poisson times: packets at a constant rate keep their phase within the step for good.
"""

import pytest
from conftest import run_json

SCENARIO = """
robonet: 1
name: seen
seed: 2
duration_s: 20
arena: {size_m: [353.6, 353.6]}
robots:
  - {name: robot, count: 25, controller: diffusion, params: {speed_m_s: 1.0}}
traffic:
  - poisson: {senders: 0.2, to: random, rate_hz: 5, payload_bytes: 64, start_s: 1}
network: {model: wifi}
"""


@pytest.mark.parametrize("network", ["wifi", "ns3"])
@pytest.mark.parametrize("step_s", [0.01, 0.05, 0.1, 0.5, 1.0])
def test_robots_see_half_a_step_more(network, step_s, tmp_path):
    path = tmp_path / "seen.yaml"
    path.write_text(SCENARIO + f"step_s: {step_s}\n")
    summary = run_json(path, "--network", network, "--out", tmp_path / "out")
    assert summary["packets"]["delivered"] > 300
    extra_s = summary["delay_seen_s"]["mean"] - summary["delay_s"]["mean"]
    assert extra_s == pytest.approx(step_s / 2, rel=0.1)
