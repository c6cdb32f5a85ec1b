"""ns-2 as a child process: started, spoken to with deadlines, and never left behind."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from pathlib import Path
from typing import IO

from robonet.errors import SimulatorError, UserError

SCRIPT = Path(__file__).with_name("ns2.tcl")
PROGRAM = "ns"
TOKEN_VARIABLE = "ROBONET_NS2_TOKEN"  # noqa: S105  (the name of a variable)
TOKEN_BYTES = 32
GREETING_S = 5.0
"""How long somebody who connects may take to say the token."""
END_S = 5.0
"""How long ns-2 may take to end when asked to."""
LAST_WORDS, LAST_BYTES = 8, 4096
"""How many lines of ns-2's standard error come with an error, and where they are looked for."""
MAX_ANSWER_BYTES = 512 * 1024 * 1024
DONE = b"done "


class NsProcess:
    """One run of ns-2."""

    def __init__(self, start_timeout_s: float) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise UserError(
                f"ns-2 is not installed: there is no program '{PROGRAM}' on the PATH; "
                "on Debian and Ubuntu: apt-get install ns2"
            )
        token = secrets.token_hex(TOKEN_BYTES)
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the child)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._child = subprocess.Popen(
                [program, str(SCRIPT), str(listener.getsockname()[1])],
                env={**os.environ, TOKEN_VARIABLE: token},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._words,
                start_new_session=True,  # Ctrl-C is for robonet, which ends ns-2 itself
            )
            self._finish = weakref.finalize(self, _put_down, self._child, self._words)
            try:
                self._link = self._accept(listener, token.encode(), time.monotonic() + start_timeout_s)
            except BaseException:
                self._finish()
                raise
        self._finish.detach()
        self._finish = weakref.finalize(self, _put_down, self._child, self._words, self._link)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._child.pid

    def say(self, line: str, timeout_s: float) -> None:
        """One line to ns-2."""
        try:
            self._link.settimeout(timeout_s)
            self._link.sendall(line.encode("ascii") + b"\n")
        except TimeoutError:
            raise self._error(f"ns-2 took nothing in for {timeout_s:g} s") from None
        except OSError:
            raise self._error("ns-2 ended") from None

    def hear(self, doing: str, timeout_s: float) -> list[bytes]:
        """The trace lines up to the next border; `doing` says in errors what was awaited."""
        deadline = time.monotonic() + timeout_s
        answer = bytearray()
        while True:
            try:
                self._link.settimeout(max(deadline - time.monotonic(), 1e-3))
                part = self._link.recv(1 << 20)
            except TimeoutError:
                raise self._error(f"ns-2 did not finish {doing} within {timeout_s:g} s") from None
            except OSError:
                part = b""
            if not part:
                raise self._error(f"ns-2 ended while it was {doing}")
            answer += part
            if len(answer) > MAX_ANSWER_BYTES:
                raise self._error(f"ns-2 said more than {MAX_ANSWER_BYTES} bytes while it was {doing}")
            if answer.endswith(b"\n") and answer.startswith(DONE, answer.rfind(b"\n", 0, -1) + 1):
                lines = bytes(answer).split(b"\n")
                return lines[:-2]

    def refuse(self, line: bytes) -> SimulatorError:
        """What to raise for a line that makes no sense; ns-2 is ended."""
        return self._error(f"ns-2 said something that is not understood: {line[:200]!r}")

    def end(self) -> None:
        """Ask ns-2 to end, and see to it that it does."""
        try:
            self._link.settimeout(END_S)
            self._link.sendall(b"end\n")
            self._child.wait(END_S)
        except (OSError, subprocess.TimeoutExpired):
            pass  # it is put down below
        self._finish()

    def _accept(self, listener: socket.socket, token: bytes, deadline: float) -> socket.socket:
        """Wait for the child; whoever else connects is turned away."""
        listener.settimeout(0.1)
        while time.monotonic() < deadline:
            if self._child.poll() is not None:
                raise self._error("ns-2 ended while it was starting")
            try:
                link, _ = listener.accept()
            except TimeoutError:
                continue
            if secrets.compare_digest(_first_line(link, len(token) + 1), token + b"\n"):
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return link
            link.close()
        raise self._error("ns-2 did not connect in time")

    def _error(self, text: str) -> SimulatorError:
        """An error with ns-2's own last words; ns-2 is ended."""
        try:
            status = self._child.wait(0.5)  # it may be about to die, and then its code says why
            if status:
                text += f" (killed by signal {-status})" if status < 0 else f" (exit code {status})"
        except subprocess.TimeoutExpired:
            pass
        said = "\n  ".join(self._last_words())
        self._finish()
        return SimulatorError(f"{text}; its last words:\n  {said}" if said else text)

    def _last_words(self) -> list[str]:
        """The end of what ns-2 wrote to its standard error."""
        if self._words.closed:
            return []
        size = os.fstat(self._words.fileno()).st_size
        tail = os.pread(self._words.fileno(), LAST_BYTES, max(size - LAST_BYTES, 0))
        return tail.decode(errors="replace").splitlines()[-LAST_WORDS:]


def _first_line(link: socket.socket, size: int) -> bytes:
    """As many bytes as a greeting has, or fewer if they do not come in time."""
    deadline = time.monotonic() + GREETING_S
    heard = b""
    try:
        while len(heard) < size:
            link.settimeout(max(deadline - time.monotonic(), 1e-3))
            part = link.recv(size - len(heard))
            if not part:
                break
            heard += part
    except OSError:
        pass
    return heard


def _put_down(child: "subprocess.Popen[bytes]", words: IO[bytes], link: socket.socket | None = None) -> None:
    """End a child that may be dead already, and take note of its death."""
    if link is not None:
        link.close()
    if child.poll() is None:
        child.kill()
    child.wait()
    words.close()
