"""Where the two sides meet, and what is safe there."""

import ipaddress
import os
from pathlib import Path
from typing import NamedTuple

from robonet.errors import UserError

LONGEST_SOCKET_PATH = 100
"""Unix socket paths have 108 bytes at the most on Linux, fewer elsewhere."""


class Endpoint(NamedTuple):
    """A checked address such as tcp://127.0.0.1:5555 or ipc:///run/user/1000/robonet/link."""

    address: str
    is_public: bool
    """Whether other machines may reach it, or it lies on one."""

    @property
    def socket_file(self) -> Path | None:
        """The file of an ipc address."""
        return Path(self.address[6:]) if self.address.startswith("ipc://") else None


def parse_endpoint(address: str) -> Endpoint:
    """Check an address; the user's mistakes are answered here and not by a hanging socket."""
    if address.startswith("ipc://"):
        path = address[6:]
        if not path or len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
            raise UserError(f"--link {address}: the path must have 1 to {LONGEST_SOCKET_PATH} bytes")
        if not Path(path).parent.is_dir():
            raise UserError(f"--link {address}: there is no folder {Path(path).parent}")
        return Endpoint(address, is_public=False)
    if not address.startswith("tcp://"):
        raise UserError(f"--link {address}: write it as tcp://host:port or ipc://path")
    host, colon, port = address[6:].rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UserError(f"--link {address}: write it as tcp://host:port, e.g. tcp://127.0.0.1:5555")
    return Endpoint(address, is_public=not _is_loopback(host))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
