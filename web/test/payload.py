"""Writes a payload, as a page has it, and what it was made of: `python payload.py FOLDER`.

`round_trip.test.mjs` reads both, the payload with the code of the page.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl

import becalm
from becalm.reports import payload

SCENE = {
    "run": {"duration": "1 ms", "warmup": "200 us", "replications": 2},
    "topology": {"tree": {"ports": 8, "levels": 2}},
    "switch": {"vls": 2, "buffer": "36 packets"},
    "flows": [
        {"name": "hot ☃ </script>", "from": ["H0..H15"], "to": ["H31"]},
        {"name": "cold", "from": ["*"], "to": ["*"], "sl": 1, "traffic": {"poisson": {"load": 0.4}}},
    ],
    "observe": {"frames": "20 us", "spans": True, "links": []},
}
SHARES = ("occupancy", "role", "busy", "stalled", "marked")


def main(folder: Path) -> None:
    """Run, pack, and write the tables beside it."""
    results = becalm.run(becalm.Scenario(SCENE, name="round trip"))
    packed = payload(results, full=True, max_size=0)
    (folder / "payload").write_text(base64.b64encode(packed).decode(), encoding="utf-8")
    expected = [_of(results, each.replication) for each in results.replications]
    told = {"groups": results.groups["group"].unique(maintain_order=True).to_list(), "runs": expected}
    (folder / "expected.json").write_text(json.dumps(told), encoding="utf-8")


def _of(results: becalm.Results, replication: int) -> dict[str, Any]:
    def rows(name: str) -> pl.DataFrame:
        return results.tables[name].filter(pl.col("replication") == replication)

    frames, links, spans = rows("frames"), rows("links"), rows("spans")
    lanes = {
        vl: {
            name: [list(row) for row in frames.filter(pl.col("vl") == vl)[name].to_list()] for name in SHARES
        }
        for vl in frames["vl"].unique().sort().to_list()
    }
    roots = spans.filter(pl.col("role") == "root")
    return {
        "fingerprint": results.fingerprints[replication],
        "times": frames["time"].unique().sort().to_list(),
        "lanes": lanes,
        "from": links["from"].to_list(),
        "to": links["to"].to_list(),
        "port": links["from_port"].to_list(),
        "utilization": links["utilization"].to_list(),
        "stalled": links["stalled_share"].to_list(),
        "rates": rows("frames_groups").sort("group", "time")["rate"].to_list(),
        "groups_sorted": rows("frames_groups")["group"].unique().sort().to_list(),
        "packets": dict(rows("latencies").group_by("group").agg(pl.col("packets").sum()).iter_rows()),
        "root_time": float((roots["end"] - roots["begin"]).sum()),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
