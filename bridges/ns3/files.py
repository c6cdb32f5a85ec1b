"""Files that ns-3 writes into the run folder: what the `wifi` section's captures and the `ns3` section ask for."""

from pathlib import Path

from robonet.errors import RecordError
from robonet.link.simulators import Setup
from robonet.record.folder import CAPTURES
from robonet.record.tables import Recorder
from robonet.scenario.ns3 import Ns3
from robonet.scenario.wifi import Captures, Wifi

FOLDER = "ns3"
ASCII, FLOW_MONITOR, ANIMATION = "trace.tr", "flowmon.xml", "netanim.xml"


def lines_of_files(wifi: Wifi, ns3: Ns3, setup: Setup, recorder: Recorder | None) -> list[str]:
    """Which files to write where, in the words of core/config.h; none without a run folder."""
    if recorder is None:
        return []
    run = recorder.folder.parent
    names = [node.name for node in setup.nodes]
    lines = []
    if wifi.captures is not None:
        lines += _captures(wifi.captures, _made(run / CAPTURES), names)
    if ns3.outputs:
        folder = _made(run / FOLDER)
        if "pcap" in ns3.outputs and wifi.captures is None:
            lines += _captures(Captures(), folder, names)
        for output, line in (
            ("ascii", f"ascii {folder / ASCII}"),
            ("flowmon", f"flow_monitor {folder / FLOW_MONITOR}"),
        ):
            if output in ns3.outputs:
                lines.append(line)
    return lines


def animation_file(ns3: Ns3, recorder: Recorder | None) -> Path | None:
    """Where NetAnim's file goes, if it is asked for."""
    if recorder is None or "netanim" not in ns3.outputs:
        return None
    return _made(recorder.folder.parent / FOLDER) / ANIMATION


def _captures(captures: Captures, folder: Path, names: list[str]) -> list[str]:
    lines = [f"radiotap {int(captures.format == 'radiotap')}"]
    for number, name in enumerate(names):
        if captures.nodes == "all" or name in captures.nodes:
            lines.append(f"pcap {number} {folder / f'{captures.prefix}-{name}-0.pcap'}")
    return lines


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"cannot write results to {folder}: {error.strerror}") from error
    return folder.resolve()
