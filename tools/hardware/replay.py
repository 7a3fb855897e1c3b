"""Replays recorded calls on the modules of `hardware` and compares every mark, gap, delay and deadline.

    python tools/hardware/replay.py [--short] [--write]    replay five scenes with each scheme
    python tools/hardware/replay.py RECORDING...           replay recordings of `becalm run --events`

The exit code is 1 if an answer differs. If Verilator is not installed, it is 0, with a message.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import calls
import page
from bench import ROOT, Bench, Result, verilator
from scenes import SCENES, SCHEMES, record

BUILT = ROOT / "target" / "hardware"
SHORT = 0.04
"""Share of the calls in a short replay."""
VARIANTS: dict[str, dict[str, int]] = {"": {}, ", lean": {"SHOWN": 1, "SERIAL": 1}}
"""Builds of input-triggered marking; `lean` leaves as much as possible to the switch."""


def benches(recording: calls.Recording) -> Iterator[tuple[str, Bench]]:
    """Yield the modules for a recording, with their names."""
    marking, params = recording.marking
    ports, slots = calls.sizes(recording)
    if marking in calls.MARKERS and ports:
        policy = calls.MARKERS.index(marking)
        size = {"PORTS": max(16, ports), "SLOTS": max(64, slots), "POLICY": policy}
        size["THRESHOLD"] = params.get("threshold", 8)
        for variant, change in VARIANTS.items() if policy == 1 else [("", {})]:
            chosen = {**size, "SHOWN": 0, "SERIAL": 0, **change}
            folder = BUILT / "-".join(map(str, ("marker", *chosen.values())))
            yield f"marker, {marking.replace('_', '-')}{variant}", Bench("marker", chosen, folder)
    response, _ = recording.response
    if response == "ibta":
        entries = 1 << (len(recording.scenario.summary["cct"]) - 1).bit_length()
        wide = {"ENTRIES": entries, "TIMER_BITS": 48, "TICK_BITS": 48}
        yield "ibta_responder", Bench("ibta_responder", wide, BUILT / f"ibta_responder-{entries}")
    elif response not in ("none", "fixed"):
        yield "responder", Bench("responder", {"RATES": 256, "ACK_BITS": 15}, BUILT / "responder")


def replay(file: Path, folder: Path) -> dict[str, Result]:
    """Replay a recording on the modules for its schemes.

    Raises:
        Unfit: the modules do not support the schemes.

    """
    recording, found = calls.Recording.read(file), {}
    for name, bench in benches(recording):
        binary = folder / "calls.bin"
        write = calls.write_markers if bench.module == "marker" else calls.write_responses
        with binary.open("wb") as out:
            write(recording, out)
        found[name] = bench.replay(binary)
    return found


def scenes(share: float, folder: Path) -> Iterator[dict[str, Any]]:
    """Record and replay all scenes with all schemes; yield a row per scene, scheme and module."""
    for scene in SCENES:
        for schemes in SCHEMES:
            file = folder / "calls.parquet"
            file.unlink(missing_ok=True)
            record(scene, schemes, share, file)
            for name, result in replay(file, folder).items():
                yield {"scene": scene, "schemes": schemes, "module": name, **asdict(result)}


def recordings(files: Sequence[Path], folder: Path) -> Iterator[dict[str, Any]]:
    """Replay recordings; yield a row per file and module."""
    for file in files:
        for name, result in replay(file, folder).items():
            yield {"scene": str(file), "module": name, **asdict(result)}


def show(row: dict[str, Any]) -> dict[str, Any]:
    """Print a row immediately and return it."""
    print(f"{row['scene']:16} {row['module']:32} {row['calls']:>9,} calls, {row['differences']} differences")
    print(row.pop("said"), end="", flush=True)
    return row


def main() -> int:
    """Replay the calls, print a line per module, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--short", action="store_true", help=f"replay {SHORT:g} of the calls")
    parser.add_argument(
        "--write", action="store_true", help="write the numbers into the page and the claims' data"
    )
    options = parser.parse_args()
    if verilator() is None:
        print("calls not replayed: verilator is not installed (Debian: apt install verilator)")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder, share = Path(name), SHORT if options.short else 1.0
        found = recordings(options.recordings, folder) if options.recordings else scenes(share, folder)
        rows = [show(row) for row in found]
    print(page.tables({"replays": rows})["replays"])
    if options.write:
        page.write(replays=rows)
    return int(any(row["differences"] for row in rows))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except calls.Unfit as error:
        print(error, file=sys.stderr)
        sys.exit(2)
