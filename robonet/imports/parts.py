"""What a foreign file consists of, and the account of what became of each part: taken over, or left with a reason."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from robonet.errors import UserError

LARGEST_FILE = 20_000_000
LARGEST_NUMBER = 1e9
SMALLEST = 1e-6
"""What has to be above zero has to be this at least: scenarios are written with nine decimals."""
DEEPEST = 100


class Unmapped(NamedTuple):
    """Something that the scenario does not say."""

    line: int
    what: str
    """Name and value, as the file has them."""
    why: str
    file: str
    """The file that the line is in: the imported one, or one that it includes."""
    also: tuple[int, ...] = ()
    """More lines of the same file where the same stands."""

    def __str__(self) -> str:
        """For people."""
        more = f" (on {len(self.also) + 1} lines)" if self.also else ""
        return f"{self.file}:{self.line}: {self.what}: {self.why}{more}"


class Imported(NamedTuple):
    """A scenario made from a foreign file."""

    text: str
    """The scenario as YAML with comments."""
    unmapped: list[Unmapped]
    """Everything that the scenario does not say, in the order of the files."""


class Value(NamedTuple):
    """One property or attribute."""

    value: Any
    line: int
    file: str


class Part:
    """A section of a Stage worldfile or an element of an XML file; it remembers who has asked for what."""

    def __init__(self, kind: str, file: str, line: int, names: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.names = names
        """Names of the macros that it was made from, the nearest first."""
        self.file, self.line = file, line
        self.values: dict[str, Value] = {}
        self.parts: list[Part] = []
        self._taken: set[str] = set()
        self._left: dict[str, str] = {}
        self._is_taken = False
        self._why = ""
        self._remarks: list[tuple[str, str]] = []

    # --- taking and leaving

    def take(self, name: str, default: Any = None) -> Any:
        """A value, which thereby counts as taken over."""
        self._taken.add(name)
        return self.values[name].value if name in self.values else default

    def take_part(self, kind: str) -> "Part | None":
        """The first part of a kind, taken over; more of them are left."""
        found = next((part for part in self.parts if part.kind == kind), None)
        return found.opened() if found is not None else None

    def opened(self) -> "Part":
        """The same, taken over itself; what is in it still has to be asked for."""
        self._is_taken = True
        return self

    def leave(self, name: str, why: str) -> None:
        """Say why a value, if it is there, is not taken over or not in full."""
        self._left[name] = why

    def leave_all(self, why: str) -> None:
        """Say why nothing of this part is taken over."""
        self._is_taken, self._why = False, why

    def remark(self, what: str, why: str) -> None:
        """Say what is lost or guessed beside single values."""
        self._remarks.append((what, why))

    def unmapped(self, reasons: dict[str, str], otherwise: str) -> Iterator[Unmapped]:
        """Whatever was not taken, with the reason that was given, one by its name, or the last resort."""
        if not self._is_taken:
            why = self._why or reasons.get(self.kind, otherwise)
            yield Unmapped(self.line, self._words(), why, self.file)
            return
        for what, why in self._remarks:
            yield Unmapped(self.line, f"{self.title}: {what}", why, self.file)
        for name, (value, line, file) in self.values.items():
            if name in self._left or name not in self._taken:
                why = self._left.get(name) or reasons.get(name, otherwise)
                yield Unmapped(line, f"{self.title}: {name} {_shown(value)}", why, file)
        for part in self.parts:
            yield from part.unmapped(reasons, otherwise)

    # --- words

    @property
    def title(self) -> str:
        """What to call it in messages."""
        return self.names[0] if self.names else self.kind

    def _words(self) -> str:
        given = [f"{key} {_shown(self.values[key].value)}" for key in ("name", "id", "label") if key in self.values]
        return " ".join([self.title, *given])

    def wrong(self, text: str, name: str = "") -> UserError:
        """The error that refuses the file because of this part, or of one value of it."""
        place = self.values.get(name)
        file, line = (place.file, place.line) if place is not None else (self.file, self.line)
        value = f" {name} {_shown(place.value)}" if place is not None else f" {name}" if name else ""
        return UserError(f"{file}:{line}: {self.title}{value}: {text}")

    # --- numbers

    def number(self, name: str, default: float) -> float:
        """A value that must be a finite number, taken over."""
        value = self.take(name)
        if value is None:
            return default
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise self.wrong("a number is expected", name) from error
        if not abs(number) <= LARGEST_NUMBER:
            raise self.wrong("a number within reason is expected", name)
        return number

    def whole(self, name: str, default: int) -> int:
        """A value that must be a whole number, taken over."""
        number = self.number(name, default)
        if number != int(number):
            raise self.wrong("a whole number is expected", name)
        return int(number)

    def positive(self, name: str, default: float) -> float:
        """A value that must be above zero, taken over."""
        number = self.number(name, default)
        if number < SMALLEST:
            raise self.wrong("must be above 0", name)
        return number


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        text = "[" + " ".join(_shown(item) for item in value) + "]"
    else:
        text = f"{value:g}" if isinstance(value, float) else f'"{value}"'
    return text if len(text) <= 80 else text[:77] + "..."


def read_text(path: Path) -> str:
    """The text of a file, or an error that names it."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(f"{path} has more than {LARGEST_FILE:,} bytes")
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder; name a file in it") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def without_repeats(found: Iterator[Unmapped], files: list[str]) -> list[Unmapped]:
    """The same once, with all its lines; the files in the order given, each from its top."""
    lines: dict[tuple[str, str, str], set[int]] = {}
    for one in found:
        lines.setdefault((one.file, one.what, one.why), set()).add(one.line)
    order = {name: number for number, name in enumerate(files)}
    merged = []
    for (file, what, why), numbers in lines.items():
        first, *more = sorted(numbers)
        merged.append(Unmapped(first, what, why, file, tuple(more)))
    return sorted(merged, key=lambda one: (order.get(one.file, len(order)), one.line))
