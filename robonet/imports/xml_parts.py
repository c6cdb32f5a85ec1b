"""XML as parts that know their lines; no document types, so no entities to blow up."""

from pathlib import Path
from typing import Any
from xml.parsers import expat

from robonet.errors import UserError
from robonet.imports.parts import DEEPEST, LARGEST_FILE, Part, Value


def read_xml(path: Path, root: str) -> Part:
    """The outermost element of a file, which must have the given name; errors name file and line."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(f"{path} has more than {LARGEST_FILE:,} bytes")
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder; name a file in it") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    above: list[Part] = [Part("", str(path), 1)]
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> None:
        raise UserError(f"{path}:{parser.CurrentLineNumber}: a document type (DOCTYPE) is not taken")

    def begin(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(above) > DEEPEST:
            raise UserError(f"{path}:{line}: more than {DEEPEST} elements in each other")
        part = Part(tag, str(path), line)
        part.values = {name: Value(value, line, str(path)) for name, value in attributes.items()}
        above[-1].parts.append(part)
        above.append(part)

    def end(_: str) -> None:
        above.pop()

    parser.StartDoctypeDeclHandler, parser.StartElementHandler, parser.EndElementHandler = refuse, begin, end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UserError(f"{path}:{error.lineno}: not valid XML: {expat.ErrorString(error.code)}") from error
    except (ValueError, LookupError) as error:
        raise UserError(f"{path}: not valid XML: {error}") from error
    found = above[0].parts[0]
    if found.kind != root:
        raise UserError(f"{path}:{found.line}: the outermost element is {found.kind}, not {root}")
    return found.opened()
