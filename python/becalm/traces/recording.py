"""Content of a trace: tables of packets, messages, waits, roles, gaps, marker calls and response calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from becalm.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

NEVER = 2**64 - 1
"""Denotes no deadline."""


@dataclass(frozen=True)
class Recording:
    """A packet-level record of one replication. Times are integers in picoseconds."""

    scenario: Scenario
    replication: int
    tables: Mapping[str, pl.DataFrame]
    """`packets`, `messages`, `waits`, `roles`, `gaps`, `marker_calls`, `response_calls`.

    Links, flows and switches are given by number.
    """
    links: pl.DataFrame
    """`link`, `name`, `from`, `from_port`, `to`, `from_level`, `capacity` in B/s, and more."""
    flows: pl.DataFrame
    """`flow`, `group`, `source`, `destination`, `sl`."""
    fingerprint: str
    """Fingerprint of the run up to the trace's end, the same as the results' if the trace covers the run."""
    start: int
    """Start in ps."""
    end: int
    """End in ps."""
    full: bool
    """Whether the trace ends early because a table is full."""

    @property
    def packets(self) -> pl.DataFrame:
        """One row per packet and link, with the names of the link, group, source and destination."""
        import polars as pl

        kinds = pl.Series(["data", "ack", "cnp"])
        named = self.tables["packets"].join(self.flows, on="flow", maintain_order="left")
        named = named.join(self.links.select("link", "name"), on="link", maintain_order="left")
        flags = [pl.col(name).cast(pl.Boolean) for name in ("first", "last", "fecn", "becn")]
        kind = kinds.gather(named["kind"]).alias("kind")
        return named.with_columns(kind, *flags).drop("link", "sl").rename({"name": "link"})

    @property
    def calls(self) -> pl.DataFrame:
        """One row per call of a marker or a response, in chronological order, with the answer.

        Columns that do not apply are null. A marker call has a `switch`, and a response call has a `flow`.
        """
        import polars as pl

        names = pl.Series(switches(self.scenario))
        markers = self.tables["marker_calls"].with_columns(
            pl.lit("marker").alias("seam"),
            names.gather(pl.Series(self.tables["marker_calls"]["switch"], dtype=pl.UInt64)).alias("switch"),
            *(pl.col(name).cast(pl.Boolean) for name in ("waits", "mark")),
        )
        responses = self.tables["response_calls"].with_columns(
            pl.lit("response").alias("seam"), deadline=pl.col("deadline").replace(NEVER, None)
        )
        both = pl.concat([markers, responses], how="diagonal_relaxed")
        return both.select("time", "seam", "call", pl.exclude("time", "seam", "call")).sort(
            "time", maintain_order=True
        )


def switches(scenario: Scenario) -> list[str]:
    """Return the names of the switches, in order."""
    nodes = scenario.network().nodes
    names: list[str] = nodes.filter(nodes["kind"] == "switch")["node"].to_list()
    return names
