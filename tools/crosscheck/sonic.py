"""Runs SONiC's headroom script, `buffer_headroom_mellanox.lua` in the folder SONIC_SWSS.

It requires `lua5.1`. A case's `peer` contains `gigabits` and `metres`. The script rounds its result up to
whole KiB. The exact result follows from the MAC and PHY delay at which the rounded result first changes.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from becalm.crosscheck.entry import Case, Entry

PACKET = 9100
DATABASE = """
local tables = {
  ["ASIC_TABLE*"] = "ASIC_TABLE:MELLANOX-SPECTRUM-3",
  ["LOSSLESS_TRAFFIC_PATTERN*"] = "LOSSLESS_TRAFFIC_PATTERN|AZURE",
  ["DEFAULT_LOSSLESS_BUFFER_PARAMETER*"] = "DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE",
}
local rows = {
  ["ASIC_TABLE:MELLANOX-SPECTRUM-3"] = {
    "cell_size", "1", "pipeline_latency", "0", "mac_phy_delay", "%(circuits).9f",
  },
  ["LOSSLESS_TRAFFIC_PATTERN|AZURE"] = {"mtu", "%(packet)d", "small_packet_percentage", "0"},
}
redis = {call = function(what, key)
  if what == "KEYS" then return {tables[key]} end
  if what == "HGETALL" then return rows[key] end
  if what == "HGET" then return "2" end
end}
KEYS = {"profile"}
ARGV = {"%(megabits)d", "%(metres)gm", "%(packet)d", "0", "4"}
for _, each in ipairs(dofile("%(script)s")) do print(each) end
"""


def reference(_: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return the headroom before rounding [B]."""
    first = _xoff(case, 0.0)
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _xoff(case, middle) == first else (low, middle)
    return {"headroom": first - 1024 * low}


def _xoff(case: Case, circuits: float) -> int:
    script = Path(os.environ["SONIC_SWSS"]).resolve() / "buffer_headroom_mellanox.lua"
    program = DATABASE % {
        "circuits": circuits,
        "packet": PACKET,
        "megabits": 1000 * case.peer["gigabits"],
        "metres": case.peer["metres"],
        "script": script,
    }
    done = subprocess.run(["lua5.1", "-"], input=program, check=True, capture_output=True, text=True)
    found = re.search(r"xoff:(\d+)", done.stdout)
    if found is None:
        raise ValueError(f"{script} printed no xoff: {done.stdout[-200:]}")
    return int(found[1])
