"""Papers whose studies come with robonet, and what each part of them found."""

from pathlib import Path
from typing import NamedTuple

import robonet
from robonet.errors import UserError
from robonet.plugins import closest


class Part(NamedTuple):
    """A figure or a table of a paper."""

    study: Path
    asks: str
    says: str
    """What the paper found."""


_ROBONETSIM = {
    "fig4": (
        "what do both simulators cost as the team grows?",
        "CPU time grows with the number of robots; beyond 75 to 100 the network simulator takes most of it",
    ),
    "table3": (
        "how much later does a robot see what the network delivered?",
        "half a step: 5 ms at 0.01 s, 26 at 0.05, 52 at 0.1, 140 at 0.2, 250 at 0.5, 540 at 1.0",
    ),
    "fig5": (
        "does the step change what the network delivers?",
        "delays are similar for steps of 0.01, 0.02 and 1.0 s, and not the same",
    ),
    "fig6": (
        "what does the communication model do to coordinated motion, 22 robots?",
        "ideal: within a few metres; a disk of 120 m worse; 802.11 worse still",
    ),
    "fig6-large": (
        "the same with 122 robots",
        "the same order",
    ),
    "fig7": (
        "and the step, at 5 m/s?",
        "single runs differ without a trend; averages hardly",
    ),
    "fig8": (
        "AODV or AntHocNet?",
        "AntHocNet lowers the error",
    ),
    "fig9": (
        "what does the communication model do to task assignment?",
        "20 robots: 802.11 up to more than 50 % slower than ideal; 40 robots: no significant difference",
    ),
}
_FILES = {"fig9": "task_assignment.study.yaml"}
PAPERS = {"robonetsim": _ROBONETSIM}


def parts_of(paper: str) -> dict[str, Part]:
    """The parts of a paper that can be run again, in its order."""
    if paper not in PAPERS:
        known = ", ".join(PAPERS)
        raise UserError(f"there is no paper '{paper}'{closest(paper, list(PAPERS))}; known: {known}")
    folder = _folder(paper)
    found = {name: folder / _FILES.get(name, f"{name}.study.yaml") for name in PAPERS[paper]}
    return {name: Part(path, *PAPERS[paper][name]) for name, path in found.items()}


def _folder(paper: str) -> Path:
    """In a checkout beside the package, otherwise within it."""
    package = Path(robonet.__file__).parent
    beside = package.parent / "scenarios" / paper
    return beside if beside.is_dir() else package / "scenario" / "papers" / paper
