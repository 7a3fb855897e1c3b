"""Content of a trace: tables of packets, messages, waits, roles, gaps, and calls of markers and responses."""

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
    """What one replication did, packet by packet. Times are whole picoseconds."""

    scenario: Scenario
    replication: int
    tables: Mapping[str, pl.DataFrame]
    """`packets`, `messages`, `waits`, `roles`, `gaps`, `marker_calls`, `response_calls`.

    Links, flows and switches are by number.
    """
    links: pl.DataFrame
    """`link`, `name`, `from`, `from_port`, `to`, `from_level`, `capacity` in B/s, and more."""
    flows: pl.DataFrame
    """`flow`, `group`, `source`, `destination`, `sl`."""
    fingerprint: str
    """Fingerprint of the run up to its end: that of the results if the trace has the whole run."""
    start: int
    """Beginning in ps."""
    end: int
    """End in ps."""
    full: bool
    """Whether the trace ends early because a table is full."""

    @property
    def packets(self) -> pl.DataFrame:
        """One row per packet and link, with the names of link, group, source and destination."""
        import polars as pl

        kinds = pl.Series(["data", "ack", "cnp"])
        named = self.tables["packets"].join(self.flows, on="flow", maintain_order="left")
        named = named.join(self.links.select("link", "name"), on="link", maintain_order="left")
        flags = [pl.col(name).cast(pl.Boolean) for name in ("first", "last", "fecn", "becn")]
        kind = kinds.gather(named["kind"]).alias("kind")
        return named.with_columns(kind, *flags).drop("link", "sl").rename({"name": "link"})

    @property
    def calls(self) -> pl.DataFrame:
        """One row per call of a marker or a response, in the order of time, with its answer.

        Columns that a call does not have are null: a marker's has a `switch`, a response's the `flow`.
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
    """Return the names of the switches, in their order."""
    nodes = scenario.network().nodes
    names: list[str] = nodes.filter(nodes["kind"] == "switch")["node"].to_list()
    return names
