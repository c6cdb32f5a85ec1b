"""An independent dissector: what Wireshark's tshark finds in a capture.

Debian and Ubuntu: apt-get install tshark. Where `CI` is set it must be there; elsewhere tests skip without it.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TRUTHS = {"True": "1", "False": "0"}
"""As newer versions print them, and older ones."""

CHECKS = ("wlan.check_fcs", "wlan.check_checksum", "ip.check_checksum", "udp.check_checksum")
"""Off unless asked for; the first says that bare frames end with an FCS, which nothing in their file does."""

WARNING = 0x600000
"""Of tshark's severities: comment 0x100000, chat 0x200000, note 0x400000, warning 0x600000, error 0x800000."""

UNCLEAN = (
    f"_ws.malformed or _ws.short or _ws.expert.severity >= {WARNING:#x}"
    " or wlan.fcs.status == 0 or ip.checksum.status == 0 or udp.checksum.status == 0"
)
"""Frames that are cut, make no sense, or whose sums are wrong."""


def tshark(path, *arguments):
    """What tshark prints about a capture, which it must read to its end."""
    program = shutil.which("tshark")
    if program is None:
        if "CI" in os.environ:
            pytest.fail("tshark is not installed; on Debian and Ubuntu: apt-get install tshark")
        pytest.skip("needs tshark")
    options = [option for check in CHECKS for option in ("-o", f"{check}:TRUE")]
    done = subprocess.run(
        [program, "-n", "-r", str(path), *options, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
        env={**os.environ, "WIRESHARK_CONFIG_DIR": str(Path(path).parent), "LC_ALL": "C"},  # nobody's own settings
    )
    complaints = [line for line in done.stderr.splitlines() if line and "Running as user" not in line]
    assert done.returncode == 0 and not complaints, f"{path}: {done.stderr}"
    return done.stdout


def dissect(path, *fields, where=""):
    """One dict a frame: its fields as texts, empty where a frame has none, joined with commas where it has several."""
    names = [option for field in fields for option in ("-e", field)]
    chosen = ["-Y", where] if where else []
    printed = tshark(path, *chosen, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=,", *names)
    rows = ([TRUTHS.get(value, value) for value in line.split("\t")] for line in printed.splitlines())
    return [dict(zip(fields, row, strict=True)) for row in rows]


def assert_clean(path):
    """Every frame of a capture is whole, makes sense and has the right checksums."""
    found = dissect(path, "frame.number", "frame.protocols", "_ws.expert.message", where=UNCLEAN)
    assert not found, f"{path}: {len(found)} frames are not clean, the first of them: {found[:3]}"
