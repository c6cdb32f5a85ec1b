"""What both sides' processes have in common: ending with the right code and one clear message."""

import faulthandler
import logging
import sys
import traceback
from collections.abc import Callable

from robonet.errors import EXIT_INTERRUPTED, EXIT_SIMULATOR, Interrupted, PeerLost, RobonetError
from robonet.link.control import Control
from robonet.link.session import PeerError

RANKS = (PeerError, PeerLost, Interrupted)
"""Errors that are only an echo of the other side's; the further down, the fainter."""


def run_side(control: Control, work: Callable[[], int]) -> int:
    """Do a side's work; whatever goes wrong is told to the launcher, logged, and becomes an exit code."""
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    control.catch_signals()
    try:
        return work()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except RobonetError as error:
        _tell(control, error, error.exit_code, str(error))
        return error.exit_code
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {error}\n{traceback.format_exc()}"
        _tell(control, error, EXIT_SIMULATOR, text)
        return EXIT_SIMULATOR


def _tell(control: Control, error: Exception, exit_code: int, text: str) -> None:
    print(f"error: {text}", file=sys.stderr, flush=True)  # noqa: T201  (a process's own last word)
    rank = next((rank for rank, kinds in enumerate(RANKS, start=1) if isinstance(error, kinds)), 0)
    control.tell({"event": "error", "exit_code": exit_code, "text": text, "rank": rank})
