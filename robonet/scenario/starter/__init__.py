"""The files that `robonet new` writes."""

from importlib.resources import files
from pathlib import Path

from robonet.errors import UserError

STARTERS = ("scenario.yaml", "controllers.py")


def write_starter(folder: Path) -> list[Path]:
    """Copy the starter files into a folder; nothing that is already there is overwritten."""
    taken = [name for name in STARTERS if (folder / name).exists()]
    if taken:
        raise UserError(f"{folder / taken[0]} exists; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in STARTERS:
            (folder / name).write_bytes(files(__package__).joinpath(f"{name}.txt").read_bytes())
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error
    return [folder / name for name in STARTERS]
