"""Converts recorded calls of markers and responses to the format of the benches in `hardware/replay`.

`becalm run --events` writes the recordings. Their metadata contain the scenario with all parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

import becalm
from becalm import manager
from becalm.designs import law, tabulate
from becalm.traces.record import Choice

MARKERS = ("naive", "input_triggered", "input_output_triggered")
"""Marking policies in the order of their numbers in `marker.sv`."""
LAWS = {"lipd": law.lipd, "fimd": law.fimd, "aimd": law.aimd}
FUNCTIONS = {
    "marker": ("arrived", "stored", "departing", "left"),
    "response": ("start", "ack", "becn", "timer", "restart", "sent"),
}
"""Names of calls in the order of their numbers in the benches."""
MARKER_CALL = np.dtype(
    [("order", "u8"), ("input", "u2"), ("output", "u2")]
    + [(name, "u1") for name in ("function", "waits", "fills", "marked")]
)
RESPONSE_CALL = np.dtype(
    [("time", "u8"), ("gap", "f8"), ("deadline", "u8")]
    + [(name, "u4") for name in ("function", "marked", "size", "unused")]
)
FLOW = np.dtype([(name, "u8") for name in ("calls", "ps_per_byte", "period", "phase")])
NEVER = 2**64 - 1


class Unfit(Exception):
    """Raised for recordings that the modules cannot replay; the message names the unsupported feature."""


@dataclass(frozen=True)
class Recording:
    """A file written by `becalm run --events`."""

    scenario: becalm.Scenario
    calls: pl.DataFrame

    @staticmethod
    def read(file: Path) -> Recording:
        """Read a file.

        Raises:
            Unfit: the file does not contain calls.

        """
        text = pl.read_parquet_metadata(file).get("scenario")
        if text is None:
            raise Unfit(f"{file}: not written by `becalm run --events`")
        return Recording(becalm.Scenario(text), pl.read_parquet(file))

    @property
    def marking(self) -> tuple[str, dict[str, Any]]:
        """Return the name and parameters of the marking policy."""
        return _only(self.scenario.resolved["marking"])

    @property
    def response(self) -> tuple[str, dict[str, Any]]:
        """Return the name and parameters of the response."""
        return _only(self.scenario.resolved["response"])

    def streams(self, seam: str, key: list[str]) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
        """Yield the calls of each marker or response, in their original order."""
        chosen = self.calls.filter(pl.col("seam") == seam).with_columns(function=_number(seam))
        for each in chosen.partition_by(key, maintain_order=True):
            yield each.select(key).row(0), each


def _only(choice: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    ((name, params),) = choice.items()
    return name, params


def _number(seam: str) -> pl.Expr:
    names = FUNCTIONS[seam]
    return pl.col("call").replace_strict(names, range(len(names)), return_dtype=pl.UInt8)


def _records(frame: pl.DataFrame, kind: np.dtype) -> np.ndarray:
    records = np.zeros(frame.height, dtype=kind)
    for name in kind.names or ():
        if name in frame.columns:
            records[name] = frame[name].to_numpy()
    return records


def write_markers(recording: Recording, file: BinaryIO) -> int:
    """Write the calls of markers; return their number.

    Raises:
        Unfit: the module does not support the policy, a setting or a reading.

    """
    name, params = recording.marking
    if name not in MARKERS:
        raise Unfit(f"marking.{name}: valid: {', '.join(MARKERS)}")
    if params.get("method", "counters") != "counters":
        raise Unfit(f"method = {params['method']}: the module uses counters")
    if params["spare_blocked"] != "0 s":
        raise Unfit(f"spare_blocked = {params['spare_blocked']}: the module does not spare packets")
    moment = {"forwarded": "arrived", "stored": "stored"}[params["full"]]
    fills = (pl.col("call") == moment) & pl.col("waits") & (pl.col("room") <= params["headroom"])
    written = 0
    for _, calls in recording.streams("marker", ["switch", "vl"]):
        shown = calls.with_columns(fills=fills, marked=pl.col("mark"))
        file.write(np.uint64(calls.height).tobytes() + _records(shown, MARKER_CALL).tobytes())
        written += calls.height
    return written


def sizes(recording: Recording) -> tuple[int, int]:
    """Return the number of ports of the largest switch, and the largest number of packets in a buffer."""
    calls = recording.calls.filter(pl.col("seam") == "marker")
    if calls.is_empty():
        return 0, 0
    more = pl.when(call="arrived").then(1).when(call="left").then(-1).otherwise(0)
    held = calls.select(more.cum_sum().over("switch", "vl", "input").alias("held"))
    ports = calls.select(pl.max_horizontal("input", "output").max()).item()
    return 1 + int(ports), int(held.to_series().max() or 0)  # type: ignore[arg-type]


def write_responses(recording: Recording, file: BinaryIO) -> int:
    """Write the table of a response and its calls; return the number of calls.

    Raises:
        Unfit: the modules do not support the response.

    """
    name, params = recording.response
    if name == "ibta":
        timer = round(1e12 * manager.TIMER_UNIT) * params["ccti_timer"]
        file.write(_ibta_table(recording, params))
    else:
        timer = 0
        steps = np.array(delay_steps(name, params), dtype="u4")
        file.write(np.array([len(steps), params["persistent"]], dtype="u8").tobytes())
        file.write(steps[:, [0, 1, 2]].tobytes())
    rates, written = _ps_per_byte(recording.scenario), 0
    for (flow,), calls in recording.streams("response", ["flow"]):
        deadlines = calls["deadline"].drop_nulls().to_numpy()
        header = np.zeros(1, dtype=FLOW)
        header[0] = (calls.height, rates[flow], *_timer(deadlines, timer))
        shown = calls.with_columns(pl.col("deadline").fill_null(NEVER))
        file.write(header.tobytes() + _records(shown, RESPONSE_CALL).tobytes())
        written += calls.height
    return written


def delay_steps(name: str, params: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Return the steps [slower, acks, faster] of a response with discrete rates.

    Raises:
        Unfit: the response has no such steps.

    """
    if params.get("rmax") != 1.0:
        raise Unfit(f"response.{name}: rmax must be 1, because the module's delays are whole packet times")
    if name == "table":
        return [(slower, acks, faster) for slower, acks, faster in params["steps"]]
    if (
        name not in LAWS
        or not params["discrete"]
        or (params.get("m", 2.0), params["rounding"]) != (2.0, "slower")
    ):
        raise Unfit(f"response.{name}: valid: ibta, table, and with discrete = true: {', '.join(LAWS)}")
    return list(tabulate.tabulate(LAWS[name](rmin=params["rmin"])).steps)


def _ibta_table(recording: Recording, params: dict[str, Any]) -> bytes:
    entries = [manager.nearest(delay) for delay in recording.scenario.summary["cct"]]
    last = len(entries) - 1
    limit = last if params["ccti_limit"] is None else params["ccti_limit"]
    settings = [params["ccti_min"], limit, params["ccti_increase"], params["ccti_decrease"]]
    words = np.array([shift << 14 | multiplier for shift, multiplier in entries], dtype="u2")
    return np.array([len(entries), *settings], dtype="u8").tobytes() + words.tobytes()


def _timer(deadlines: np.ndarray, nominal: int) -> tuple[int, int]:
    """Return a timer's period and its phase at time zero in ps, derived from the deadlines."""
    if not len(deadlines) or not nominal:
        return nominal, 0
    steps = np.diff(np.unique(deadlines))
    period = math.gcd(*map(int, steps)) if len(steps) else nominal
    if abs(period / nominal - 1) > 0.01:
        period = nominal
    return period, -int(deadlines[0]) % period


def _ps_per_byte(scenario: becalm.Scenario) -> dict[int, int]:
    """Return the transmission time of a byte in ps on the link of each flow's source."""
    routing = Choice(scenario).routing
    rates = dict(routing["link"].select("from", "capacity").iter_rows())
    sources = routing["flow"].select("flow", "source").iter_rows()
    return {flow: round(1e12 / rates[source]) for flow, source in sources}
