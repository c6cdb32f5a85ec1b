"""The ns-3 wheel: headers and libraries of ns-3 beside its Python bindings, which are not used here."""

import importlib.metadata
from pathlib import Path
from typing import NamedTuple

from robonet.errors import UserError

INSTALL = "pip install 'robonet[ns3]' (wheels of ns-3 exist for Linux on x86_64)"
TESTED = "3.44"
"""The series of versions that the core is written for."""


class Wheel(NamedTuple):
    """An installed ns-3."""

    version: str
    include: Path
    libraries: Path
    prefix: str
    """What its libraries' names begin with, such as `ns3.44-`."""

    def library(self, module: str) -> Path:
        """The file of one of its modules."""
        return self.libraries / f"lib{self.prefix}{module}.so"


def find_wheel() -> Wheel:
    """The wheel installed beside this Python."""
    try:
        distribution = importlib.metadata.distribution("ns3")
    except importlib.metadata.PackageNotFoundError:
        raise UserError(f"network model 'ns3' needs ns-3, which is not installed here: {INSTALL}") from None
    root = Path(str(distribution.locate_file("ns3")))
    cores = sorted(root.glob("lib*/libns3*-core.so"))
    if not cores or not (root / "include" / "ns3").is_dir():
        raise UserError(f"{root} holds no headers and libraries of ns-3: pip install --force-reinstall ns3")
    if not distribution.version.startswith(TESTED):
        raise UserError(
            f"ns-3 {distribution.version} is installed; robonet works with {TESTED}: pip install 'ns3~=3.44.0'"
        )
    prefix = cores[0].name.removeprefix("lib").removesuffix("core.so")
    return Wheel(distribution.version, root / "include", cores[0].parent, prefix)
