"""Thresholds of the marking ramp (Kmin, Kmax), derived from a fabric's round trip and buffers."""

from __future__ import annotations

from typing import Any, NamedTuple

from becalm.base.quantities import in_bytes, seconds
from becalm.manager.settings import Fabric

RATIO = 4.0
"""Kmax as a multiple of Kmin."""
LEAST = 2
"""Smallest Kmin in packets."""
PMAX = 0.2
"""Marking probability at Kmax, unless the scenario sets one."""
BELOW = 0.8
"""Kmax as a share of the queue at which PFC pauses an input that feeds only this queue."""
KB = 1000.0


class Ramp(NamedTuple):
    """A ramp, and what it is derived from."""

    kmin: float
    """kB, as in `marking.ramp`."""
    kmax: float
    pmax: float
    round_trip: float
    """Longest round trip of a packet and its ACK on an idle fabric in s."""
    rate: float
    """B/s."""
    paused: float
    """Queue in B from which PFC may pause an input that feeds all outputs; infinite if unknown."""

    def settings(self, own: dict[str, Any]) -> dict[str, Any]:
        """Return the table `marking.ramp`. Other keys of the scenario's own ramp stay."""
        kept = {key: value for key, value in own.items() if value is not None and key not in ("kmin", "kmax")}
        return {**kept, "kmin": self.kmin, "kmax": self.kmax, "pmax": self.pmax}


def ramp(scenario: Fabric) -> Ramp:
    """Derive a ramp: Kmin is the data of one round trip, and Kmax a multiple.

    A shorter queue than the data of a round trip would empty while sources react. With PFC, both stay below
    the queues at which switches pause, so that marks come first.
    """
    facts = scenario.summary
    rate, packet = float(facts["host_rate"]), float(facts["packet_bytes"])
    trip = round_trip(scenario)
    paused, alone = _paused(scenario)
    kmin = max(LEAST * packet, min(trip * rate, paused))
    kmax = max(kmin, min(RATIO * kmin, BELOW * alone))
    own = scenario.marking.get("ramp") or {}
    return Ramp(_kb(kmin), _kb(kmax), float(own.get("pmax") or PMAX), trip, rate, paused)


def round_trip(scenario: Fabric) -> float:
    """Return the longest round trip in s of a packet and its ACK on the paths of flows, without queues."""
    import polars as pl

    network, switch = scenario.network(), scenario.resolved["switch"]
    forwarding = seconds(switch["forwarding_delay"])
    delays = network.links["delay"].gather(network.flow_paths["link"]).alias("delay")
    paths = network.flow_paths.with_columns(delays)
    sums = paths.group_by("flow").agg(
        (pl.col("delay") * pl.col("share")).sum().alias("delay"), pl.col("share").sum().alias("hops")
    )
    if not sums.height:
        return 0.0
    packet = float(scenario.summary["packet_time"])
    copies = pl.col("hops") if switch["switching"] == "store_and_forward" else pl.lit(1.0)
    trip = 2 * pl.col("delay") + 2 * (pl.col("hops") - 1) * forwarding + copies * packet
    return float(sums.select(trip.max()).item())


def pauses(scenario: Fabric, busy: int) -> float:
    """Return the queue in B at which PFC pauses an input that feeds only this queue; infinite if unknown.

    Args:
        scenario: the scenario.
        busy: number of inputs of the switch that hold as much at once; counts if they share memory.

    """
    control, buffer = scenario.flow_control.get("pfc"), scenario.summary["buffer_bytes"]
    if control is None or not buffer:
        return float("inf")
    dynamic = control["thresholds"].get("dynamic")
    if dynamic is None:
        return float(buffer)
    # Each input may hold alpha times what is free: alpha S / (1 + n alpha).
    alpha = float(dynamic["alpha"])
    shared = dynamic["shared"]
    lanes = scenario.resolved["switch"]["vls"]
    size = float(buffer) * ports(scenario) * lanes if shared is None else float(in_bytes(shared))
    return alpha * size / (1 + busy * alpha)


def shares_memory(scenario: Fabric) -> bool:
    """Whether the inputs of a switch share memory."""
    return "dynamic" in (scenario.flow_control.get("pfc") or {}).get("thresholds", {})


def ports(scenario: Fabric) -> int:
    """Return the largest number of ports of a switch."""
    nodes = scenario.network().nodes
    return int(str(nodes.filter(nodes["kind"] == "switch")["ports"].max() or 1))


def _paused(scenario: Fabric) -> tuple[float, float]:
    """Return the queues in B at which PFC pauses an input that feeds all outputs, and only one."""
    many = ports(scenario)
    return pauses(scenario, many) / many, pauses(scenario, many)


def _kb(size: float) -> float:
    return float(f"{size / KB:.3g}")
