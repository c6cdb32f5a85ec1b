"""Worlds of other simulators, turned into scenarios; what does not map is listed."""

from pathlib import Path

from robonet.errors import UserError
from robonet.imports.argos import import_argos
from robonet.imports.parts import Imported, Unmapped
from robonet.imports.stage import import_world

__all__ = ["Imported", "Unmapped", "import_argos", "import_file", "import_world"]

IMPORTERS = {".world": import_world, ".argos": import_argos}


def import_file(path: Path, folder: Path | None = None) -> Imported:
    """A scenario, to be written into `folder`, from a file of another simulator, which its ending tells."""
    known = " or ".join(IMPORTERS)
    if path.suffix not in IMPORTERS:
        raise UserError(f"{path}: the name must end with {known}, for a Stage world or an ARGoS experiment")
    return IMPORTERS[path.suffix](path, folder)
