"""One wrong place in a scenario, and how to say it."""

from typing import NamedTuple

Steps = tuple[str | int, ...]


class Problem(NamedTuple):
    """One wrong place in a scenario."""

    steps: Steps
    text: str
    hint: str = ""
    show_value: bool = True
