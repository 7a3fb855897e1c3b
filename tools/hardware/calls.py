"""Recorded calls of markers and responses, as the benches in `hardware/replay` read them.

A recording is what `becalm run --events` writes; its scenario, which has all parameters, is in its metadata.
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
from becalm.designs import law, tabulate
from becalm.traces.record import Choice

MARKERS = ("naive", "input_triggered", "input_output_triggered")
"""Marking policies by the number that `marker.sv` gives them."""
LAWS = {"lipd": law.lipd, "fimd": law.fimd, "aimd": law.aimd}
FUNCTIONS = {
    "marker": ("arrived", "stored", "departing", "left"),
    "response": ("start", "ack", "becn", "timer", "restart", "sent"),
}
"""Names of calls in the order of the benches' numbers."""
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
TIMER_UNIT = 1_024_000
"""Unit of CCTI_Timer in ps."""


class Unfit(Exception):
    """A recording that the modules cannot replay: what it has that they do not."""


@dataclass(frozen=True)
class Recording:
    """A file of `becalm run --events`."""

    scenario: becalm.Scenario
    calls: pl.DataFrame

    @staticmethod
    def read(file: Path) -> Recording:
        """Read a file.

        Raises:
            Unfit: no file of calls.

        """
        text = pl.read_parquet_metadata(file).get("scenario")
        if text is None:
            raise Unfit(f"{file}: not written by `becalm run --events`")
        return Recording(becalm.Scenario(text), pl.read_parquet(file))

    @property
    def marking(self) -> tuple[str, dict[str, Any]]:
        """Name and parameters of the marking policy."""
        return _only(self.scenario.resolved["marking"])

    @property
    def response(self) -> tuple[str, dict[str, Any]]:
        """Name and parameters of the response."""
        return _only(self.scenario.resolved["response"])

    def streams(self, seam: str, key: list[str]) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
        """Return the calls of each marker or response, in their order."""
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
    """Write the calls of markers; return how many.

    Raises:
        Unfit: a policy, a setting or a reading that the module does not have.

    """
    name, params = recording.marking
    if name not in MARKERS:
        raise Unfit(f"marking.{name}: valid: {', '.join(MARKERS)}")
    if params.get("method", "counters") != "counters":
        raise Unfit(f"method = {params['method']}: the module has counters")
    if params["spare_blocked"] != "0 s":
        raise Unfit(f"spare_blocked = {params['spare_blocked']}: the module spares no packet")
    moment = {"forwarded": "arrived", "stored": "stored"}[params["full"]]
    fills = (pl.col("call") == moment) & pl.col("waits") & (pl.col("room") <= params["headroom"])
    written = 0
    for _, calls in recording.streams("marker", ["switch", "vl"]):
        shown = calls.with_columns(fills=fills, marked=pl.col("mark"))
        file.write(np.uint64(calls.height).tobytes() + _records(shown, MARKER_CALL).tobytes())
        written += calls.height
    return written


def sizes(recording: Recording) -> tuple[int, int]:
    """Return the ports of the largest switch of a recording, and the most packets in one of its buffers."""
    calls = recording.calls.filter(pl.col("seam") == "marker")
    if calls.is_empty():
        return 0, 0
    more = pl.when(call="arrived").then(1).when(call="left").then(-1).otherwise(0)
    held = calls.select(more.cum_sum().over("switch", "vl", "input").alias("held"))
    ports = calls.select(pl.max_horizontal("input", "output").max()).item()
    return 1 + int(ports), int(held.to_series().max() or 0)  # type: ignore[arg-type]


def write_responses(recording: Recording, file: BinaryIO) -> int:
    """Write the table of a response and its calls; return how many.

    Raises:
        Unfit: a response that the modules do not have.

    """
    name, params = recording.response
    if name == "ibta":
        timer = TIMER_UNIT * params["ccti_timer"]
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
        Unfit: a response without such steps.

    """
    if params.get("rmax") != 1.0:
        raise Unfit(f"response.{name}: the module's delays are whole packet times: rmax must be 1")
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
    entries = [tabulate.nearest(delay) for delay in recording.scenario.summary["cct"]]
    last = len(entries) - 1
    limit = last if params["ccti_limit"] is None else params["ccti_limit"]
    settings = [params["ccti_min"], limit, params["ccti_increase"], params["ccti_decrease"]]
    words = np.array([shift << 14 | multiplier for shift, multiplier in entries], dtype="u2")
    return np.array([len(entries), *settings], dtype="u8").tobytes() + words.tobytes()


def _timer(deadlines: np.ndarray, nominal: int) -> tuple[int, int]:
    """Return the period of a timer and its phase at time zero, in ps, as the deadlines have them."""
    if not len(deadlines) or not nominal:
        return nominal, 0
    steps = np.diff(np.unique(deadlines))
    period = math.gcd(*map(int, steps)) if len(steps) else nominal
    if abs(period / nominal - 1) > 0.01:
        period = nominal
    return period, -int(deadlines[0]) % period


def _ps_per_byte(scenario: becalm.Scenario) -> dict[int, int]:
    """Return the time of a byte on the link of each flow's source."""
    routing = Choice(scenario).routing
    rates = dict(routing["link"].select("from", "capacity").iter_rows())
    sources = routing["flow"].select("flow", "source").iter_rows()
    return {flow: round(1e12 / rates[source]) for flow, source in sources}
