"""The language of Stage's worldfiles: words with values, sections in parentheses, macros, includes.

include "pioneer.inc"            the text of another file
interval_sim 100                 a property: a number, "a text" or a [list of both]
define scout position ( ... )    a macro: `scout ( ... )` is a position with this in it, and more or other things
scout ( pose [1 2 0 90] )        a section; sections nest
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from robonet.errors import UserError
from robonet.imports.parts import DEEPEST, Part, Value, read_text

MOST_VALUES = 500_000
"""With all macros written out."""

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|\#[^\n]*)
    |(?P<newline>\n)
    |(?P<text>"[^"\n]*")
    |(?P<number>[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(?![\w.]))
    |(?P<word>[A-Za-z_](?:[\w.-]|\[\d+\])*)
    |(?P<sign>[()\[\]])""",
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    file: str
    line: int


class _Statement(NamedTuple):
    """A property, or a section with what is in it."""

    name: _Token
    value: Value | None
    body: "list[_Statement]"


class _Macro(NamedTuple):
    kind: str
    names: tuple[str, ...]
    bodies: list[list[_Statement]]


class Worldfile(NamedTuple):
    """A parsed worldfile."""

    world: Part
    """The section around everything, with all macros written out."""
    files: list[str]
    """Names of the files that it was read from, as messages have them."""


def read_worldfile(path: Path) -> Worldfile:
    """Parse a worldfile and what it includes; errors name file and line."""
    files: list[str] = []
    tokens = list(_tokens(path, path, (), files))
    parser = _Parser(tokens, str(path))
    world = Part("world", str(path), 1).opened()
    parser.fill(world, parser.statements(top=True), 0)
    return Worldfile(world, files)


def _tokens(path: Path, main: Path, above: tuple[Path, ...], files: list[str]) -> Iterator[_Token]:
    """All words of a file and of those that it includes, in place."""
    text, line, position, name = read_text(path), 1, 0, str(path)
    if name not in files:
        files.append(name)
    is_include = False
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            sign = text[position]
            hint = "a text does not end" if sign == '"' else f"{sign!r} has no meaning here"
            raise UserError(f"{name}:{line}: {hint}")
        position = found.end()
        kind, word = str(found.lastgroup), found.group()
        if kind == "newline":
            line += 1
        if kind in ("newline", "space"):
            continue
        if is_include:
            if kind != "text":
                raise UserError(f'{name}:{line}: include {word}: write include "file"')
            below = _included(word[1:-1], path, main, f"{name}:{line}")
            if below.resolve() in above or below.resolve() == path.resolve():
                raise UserError(f"{name}:{line}: include {word}: the file includes itself")
            yield from _tokens(below, main, (*above, path.resolve()), files)
            is_include = False
        elif kind == "word" and word == "include":
            is_include = True
        else:
            yield _Token(kind, word, name, line)
    if is_include:
        raise UserError(f'{name}:{line}: the file ends after include: write include "file"')


def _included(name: str, path: Path, main: Path, place: str) -> Path:
    """Where an included file is: Stage looks beside the world that was opened; beside the file at hand is tried too."""
    for folder in (main.parent, path.parent):
        if (folder / name).is_file():
            return folder / name
    raise UserError(f'{place}: include "{name}": there is no file {main.parent / name}')


class _Parser:
    """From words to sections."""

    def __init__(self, tokens: list[_Token], file: str) -> None:
        self._tokens = tokens
        self._at = 0
        self._end = _Token("end", "the end of the file", file, tokens[-1].line if tokens else 1)
        self._macros: dict[str, _Macro] = {}
        self._values = 0

    def _peek(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else self._end

    def _next(self) -> _Token:
        token = self._peek()
        self._at += 1
        return token

    def _wrong(self, token: _Token, text: str) -> UserError:
        return UserError(f"{token.file}:{token.line}: {token.text}: {text}")

    def statements(self, *, top: bool = False, depth: int = 0) -> list[_Statement]:
        """What stands up to the closing parenthesis, or up to the end of the file."""
        found: list[_Statement] = []
        while True:
            token = self._next()
            if token.kind == "end" and top:
                return found
            if token.text == ")" and not top:
                return found
            if token.kind == "end":
                raise self._wrong(token, "a section is not closed with )")
            if token.kind != "word":
                raise self._wrong(token, "a name is expected here")
            if token.text == "define":
                if not top:
                    raise self._wrong(token, "macros are defined outside of all sections")
                found.append(_Statement(token, None, self._definition(token)))
            else:
                found.append(self._statement(token, depth))

    def _statement(self, name: _Token, depth: int) -> _Statement:
        token = self._next()
        if token.text == "(":
            if depth > DEEPEST:
                raise self._wrong(name, f"more than {DEEPEST} sections in each other")
            return _Statement(name, None, self.statements(depth=depth + 1))
        if token.text == "[":
            items: list[float | str] = []
            while (token := self._next()).kind in ("number", "text"):
                items.append(_plain(token))
            if token.text != "]":
                raise self._wrong(token, "a list holds numbers and texts, apart by spaces, and ends with ]")
            return _Statement(name, Value(tuple(items), name.line, name.file), [])
        if token.kind in ("number", "text"):
            return _Statement(name, Value(_plain(token), name.line, name.file), [])
        raise self._wrong(name, f'what follows must be a number, a "text", a [list] or a (section), not {token.text}')

    def _definition(self, define: _Token) -> list[_Statement]:
        """`name base ( ... )` as a pair of words and the body, to be known from here on."""
        name, base, opening = self._next(), self._next(), self._next()
        if name.kind != "word" or base.kind != "word" or opening.text != "(":
            raise self._wrong(define, "write define NAME BASE ( ... )")
        return [_Statement(name, None, []), _Statement(base, None, []), _Statement(opening, None, self.statements())]

    def fill(self, part: Part, statements: list[_Statement], depth: int) -> None:
        """Put what the statements say into a part, macros written out."""
        for name, value, body in statements:
            self._values += 1
            if self._values > MOST_VALUES:
                raise self._wrong(name, f"more than {MOST_VALUES:,} values, with all macros written out")
            if name.text == "define" and value is None:
                self._define(body[0].name, body[1].name, body[2].body)
            elif value is not None:
                part.values[name.text] = value
            else:
                part.parts.append(self._section(name, body, depth + 1))

    def _define(self, name: _Token, base: _Token, body: list[_Statement]) -> None:
        below = self._macros.get(base.text, _Macro(base.text, (), []))
        self._macros[name.text] = _Macro(below.kind, (name.text, *below.names), [*below.bodies, body])

    def _section(self, name: _Token, body: list[_Statement], depth: int) -> Part:
        if depth > DEEPEST:
            raise self._wrong(name, f"more than {DEEPEST} sections in each other: does the macro use itself?")
        macro = self._macros.get(name.text, _Macro(name.text, (), []))
        part = Part(macro.kind, name.file, name.line, macro.names)
        for one in (*macro.bodies, body):
            self.fill(part, one, depth)
        return part


def _plain(token: _Token) -> float | str:
    return float(token.text) if token.kind == "number" else token.text[1:-1]
