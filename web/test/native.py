"""Runs scenarios with the installed becalm; prints JSON lines: fingerprint, verdict, packet-hops, CPU time.

Arguments are files. One that takes longer than MOST seconds has no fingerprint.
"""

from __future__ import annotations

import json
import sys
import time

import becalm
from becalm import _core

MOST = 5.0


class TooLongError(Exception):
    """A run takes longer than asked for."""


def main() -> None:
    """Run all files; first the version and the catalogue."""
    print(json.dumps({"version": becalm.__version__, "catalogue": json.loads(_core.catalogue())}), flush=True)
    for file in sys.argv[1:]:
        core = becalm.load(file).core
        begin = time.process_time()

        def stop(*_: object, begin: float = begin) -> None:
            if time.process_time() - begin > MOST:
                raise TooLongError

        try:
            done = _core.run(core, 0, 1, stop)
        except TooLongError:
            print(json.dumps({"file": file}), flush=True)
            continue
        told = {
            "file": file,
            "fingerprint": f"{done['fingerprint']:016x}",
            "packet_hops": done["packet_hops"],
            "verdict": _core.verdict(core, done["tables"]),
        }
        print(json.dumps(told | {"seconds": time.process_time() - begin}), flush=True)


main()
