"""A scenario's data as YAML that people like to read, with what could not be taken over in comments below."""

import re
from typing import Any, NamedTuple

from robonet.imports.parts import Unmapped

WIDTH = 112
MOST_COMMENTS = 300
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS_OF_YAML = {"yes", "no", "on", "off", "true", "false", "null", "y", "n", "none", "nan", "inf"}


class Note(NamedTuple):
    """A value with a comment behind it."""

    value: Any
    text: str


def scenario_text(data: dict[str, Any], source: str, unmapped: list[Unmapped]) -> str:
    """The whole file."""
    lines = [f"# Made from {source} by `robonet import`."]
    if unmapped:
        lines.append(f"# {len(unmapped)} parts of it did not map; they are listed at the end.")
    lines += _block(data, 0)
    if unmapped:
        lines += ["", "# Not taken over:"]
        lines += [f"#   {_one_line(str(one))}" for one in unmapped[:MOST_COMMENTS]]
        if len(unmapped) > MOST_COMMENTS:
            lines.append(f"#   ... and {len(unmapped) - MOST_COMMENTS} more")
    return "\n".join(lines) + "\n"


def _block(data: dict[str, Any], depth: int) -> list[str]:
    lines = []
    for key, noted in data.items():
        value, comment = (noted.value, f"  # {noted.text}") if isinstance(noted, Note) else (noted, "")
        head = f"{'  ' * depth}{key}:"
        flow = f"{head} {_flow(value)}"
        if not isinstance(value, (dict, list)) or not value or (depth > 0 and len(flow) <= WIDTH):
            lines.append(flow + comment)
        elif isinstance(value, dict):
            lines += [head + comment, *_block(value, depth + 1)]
        else:
            lines += [head + comment, *_items(value, depth + 1)]
    return lines


def _items(items: list[Any], depth: int) -> list[str]:
    space = "  " * depth
    if all(not isinstance(item, dict) for item in items):
        return [f"{space}- {_flow(item)}" for item in items]
    lines = []
    for item in items:
        flow = f"{space}- {_flow(item)}"
        if len(flow) <= WIDTH and not _has_notes(item):
            lines.append(flow)
        else:
            below = _block(item, depth + 1)
            lines += [f"{space}- {below[0].lstrip()}", *below[1:]]
    return lines


def _has_notes(item: Any) -> bool:
    return isinstance(item, dict) and any(isinstance(value, Note) for value in item.values())


def _flow(value: Any) -> str:
    if isinstance(value, Note):
        return _flow(value.value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _number(value: float) -> str:
    rounded = round(value, 9) + 0.0  # no -0
    return str(int(rounded)) if rounded == int(rounded) else f"{rounded:.9f}".rstrip("0")


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return "'" + _one_line(text).replace("'", "''") + "'"


def _one_line(text: str) -> str:
    """Without anything that would end a comment or a text, or steer a terminal."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


class Names:
    """Makes names that scenarios take, each only once, and none that a robot of a numbered group has."""

    def __init__(self) -> None:
        self._given: dict[str, bool] = {"all": False, "random": False}

    def fresh(self, wish: str, otherwise: str, *, is_group: bool = False) -> str:
        """The wish if it is free and can be a name, or something near it."""
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", wish).strip("_")[:48]
        if not name or not name[0].isalpha():
            name = f"{otherwise}_{name}" if name else otherwise
        number, found = 2, name
        while self._clashes(found, is_group):
            found, number = f"{name}-{number}", number + 1
        self._given[found] = is_group
        return found

    def _clashes(self, name: str, is_group: bool) -> bool:
        return name in self._given or any(
            (is_numbered and name.removeprefix(other).isdigit() and name.startswith(other))
            or (is_group and other.startswith(name) and other.removeprefix(name).isdigit())
            for other, is_numbered in self._given.items()
        )


def common_stem(names: list[str]) -> str | None:
    """`r` for r0, r1, r2, ...: then a group of that name has the same robots."""
    stem = names[0].removesuffix("0") if names else ""
    is_numbered = len(names) > 1 and stem and names == [f"{stem}{number}" for number in range(len(names))]
    return stem if is_numbered else None
