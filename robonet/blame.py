"""Tracebacks for people: the user's own frames, not robonet's."""

import traceback
from pathlib import Path

_HERE = str(Path(__file__).parent)


def users_traceback(error: BaseException) -> str:
    """The traceback of an error in user code from the first frame outside of robonet on; all of it if there is none."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith((_HERE, "<frozen")):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame or error.__traceback__)).rstrip()
