"""What both sides' processes have in common: ending with the right code and one clear message."""

import faulthandler
import logging
import sys
import traceback
from collections.abc import Callable

from robonet.errors import EXIT_INTERRUPTED, EXIT_SIMULATOR, PeerLost, RobonetError
from robonet.link.control import Control
from robonet.link.session import PeerError


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
        _tell(control, error, error.exit_code, str(error), about_peer=isinstance(error, (PeerLost, PeerError)))
        return error.exit_code
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {error}\n{traceback.format_exc()}"
        _tell(control, error, EXIT_SIMULATOR, text, about_peer=False)
        return EXIT_SIMULATOR


def _tell(control: Control, error: Exception, exit_code: int, text: str, *, about_peer: bool) -> None:
    print(f"error: {text}", file=sys.stderr, flush=True)  # noqa: T201  (a process's own last word)
    kind = type(error).__name__
    control.tell({"event": "error", "kind": kind, "exit_code": exit_code, "text": text, "about_peer": about_peer})
