"""CURVE keys: who may join a run over a real network."""

import os
from pathlib import Path

import zmq.auth

from robonet.errors import UserError

SIDES = ("network", "robots")
SECRET = ".key_secret"  # noqa: S105  (the end of a file name)
PUBLIC = ".key"

Pair = tuple[bytes, bytes]


def make_keys(folder: Path) -> list[Path]:
    """Write a key pair for each side into a folder that only its owner can read."""
    existing = [folder / f"{side}{SECRET}" for side in SIDES if (folder / f"{side}{SECRET}").exists()]
    if existing:
        raise UserError(f"{existing[0]} exists; delete the old keys or name another folder")
    before = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for side in SIDES:
            zmq.auth.create_certificates(folder, side)
    except OSError as error:
        raise UserError(f"cannot write keys to {folder}: {error.strerror}") from error
    finally:
        os.umask(before)
    return sorted(folder.glob("*.key*"))


def secret_pair(folder: Path, side: str) -> Pair:
    """This side's own public and secret key."""
    public, secret = _certificate(folder / f"{side}{SECRET}")
    if secret is None:
        raise UserError(f"{folder / (side + SECRET)} holds no secret key")
    return public, secret


def public_key(folder: Path, side: str) -> bytes:
    """The other side's public key."""
    return _certificate(folder / f"{side}{PUBLIC}")[0]


def allowed_keys(folder: Path) -> frozenset[bytes]:
    """The public keys of all robot simulators that may join: every *.key in the folder but the network's own."""
    paths = sorted(path for path in folder.glob(f"*{PUBLIC}") if path.stem != "network")
    if not paths:
        raise UserError(f"no public key of a robot simulator in {folder}: make a pair with `robonet keys {folder}`")
    return frozenset(_certificate(path)[0] for path in paths)


class Doorkeeper:
    """What the authenticator asks whether a key may come in."""

    def __init__(self, allowed: frozenset[bytes]) -> None:
        self._allowed = allowed

    def callback(self, domain: str, key: bytes) -> bool:
        """Whether a key, in text form, is on the list."""
        return key in self._allowed


def _certificate(path: Path) -> tuple[bytes, bytes | None]:
    try:
        return zmq.auth.load_certificate(path)
    except (OSError, ValueError) as error:
        raise UserError(f"no key in {path}: make a pair with `robonet keys {path.parent}`") from error
