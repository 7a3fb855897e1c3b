"""Invariants between the tables of one run. A new table adds what it must agree with to `INVARIANTS`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import polars as pl

import becalm
from becalm.base.quantities import seconds
from drawn import Tables

Invariant = Callable[[becalm.Results], Iterator[str]]
TELEMETRY = 64
"""More bytes than switches add to a packet by default."""
ROUNDING = 2
"""Bytes by which the parts of packets at both ends of a window are rounded."""


class Link(NamedTuple):
    """A row of `links` with what the scenario says about it."""

    name: str
    row: dict[str, Any]
    window: float
    """Length of the measured window [s]."""
    capacity: float
    """Rate in the topology [B/s]; infinite if it changes."""

    @property
    def rounding(self) -> float:
        """Error of `utilization`."""
        return ROUNDING / (self.window * self.capacity) + 1e-9


def near(one: float, two: float) -> bool:
    """Return whether two numbers are equal within rounding."""
    return math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-15) or (math.isnan(one) and math.isnan(two))


def windows(results: becalm.Results) -> list[float]:
    """Return the length of the measured window of each replication."""
    resolved = results.scenario.resolved
    start = seconds(resolved["run"]["warmup"])
    if resolved["run"]["end"] == "delivered":
        start = max(start, min(_starts(resolved), default=0.0))
    return [max(0.0, each.end - start) for each in results.replications]


def _starts(resolved: Tables) -> Iterator[float]:
    """Yield the start times of all groups, connections and jobs."""
    for group in [*resolved["flows"], *resolved["jobs"]]:
        own = [each["start"] for each in group.get("connections") or [] if each["start"] is not None]
        yield from map(seconds, own or [group["start"]])


def links(results: becalm.Results) -> Iterator[Link]:
    """Yield the links with a measured window."""
    capacity = results.scenario.network().links["capacity"].to_list()
    changed = {change["link"] for change in results.scenario.data().get("changes", [])}
    spans = windows(results)
    for place, row in enumerate(results.links.iter_rows(named=True)):
        name, rate = f"{row['from']}->{row['to']}", capacity[place % len(capacity)]
        window = spans[row["replication"]]
        if window > 0:
            yield Link(name, row, window, math.inf if name in changed else rate)


def utilization_is_bytes_over_capacity(results: becalm.Results) -> Iterator[str]:
    """`bytes` of a link, over the window and the link's rate, is its `utilization`."""
    for name, row, window, capacity in links(results):
        if not near(row["bytes"] / window, row["rate"]):
            yield f"{name}: {row['bytes']} B in {window} s, rate {row['rate']} B/s"
        if capacity < math.inf and not near(row["rate"] / capacity, row["utilization"]):
            yield f"{name}: rate {row['rate']} B/s of {capacity} B/s, utilization {row['utilization']}"


def busy_and_stalled_exclude_each_other(results: becalm.Results) -> Iterator[str]:
    """A link is not busy and stalled at the same time."""
    service = results.scenario.resolved["switch"]["service"]
    for link in links(results):
        total = link.row["utilization"] + link.row["stalled_share"]
        if link.capacity < math.inf and service == "fixed" and total > 1 + link.rounding:
            values = [link.row[key] for key in ("utilization", "stalled_share")]
            yield f"{link.name}: utilization and stalled_share are {values}"


def stalls_are_waits(results: becalm.Results) -> Iterator[str]:
    """`xmit_wait` over the window is `stalled_share`."""
    for name, row, window, _ in links(results):
        if not near(row["xmit_wait"] / window, row["stalled_share"]):
            yield f"{name}: xmit_wait {row['xmit_wait']} in {window} s, stalled_share {row['stalled_share']}"


def hosts_send_what_their_links_carry(results: becalm.Results) -> Iterator[str]:
    """Packets and bytes that a host sends are those of its link."""
    sent = {(host["replication"], host["host"]): host for host in results.hosts.iter_rows(named=True)}
    for link in results.links.iter_rows(named=True):
        host = sent.get((link["replication"], link["from"]))
        if host and (host["sent_packets"], host["sent_bytes"]) != (link["packets"], link["bytes"]):
            yield f"host {host['host']}: {host['sent_packets']} packets sent, {link['packets']} on its link"


def groups_are_sums_of_flows(results: becalm.Results) -> Iterator[str]:
    """Rates, counts of flows, contributors and victims of a group are those of its flows."""
    flows = results.flows.group_by("replication", "group").agg(
        pl.col("rate").sum(),
        pl.len().alias("flows"),
        pl.col("role").is_in(["contributor", "both"]).sum().alias("contributors"),
        pl.col("role").is_in(["victim", "both"]).sum().alias("victims"),
    )
    known = {(row["replication"], row["group"]): row for row in flows.iter_rows(named=True)}
    for group in results.groups.iter_rows(named=True):
        found = known.get((group["replication"], group["group"]))
        for key in ("rate", "flows", "contributors", "victims") if found else ():
            if found and not near(float(group[key]), float(found[key])):
                yield f"group {group['group']}: {key} {group[key]}, and {found[key]} of its flows"


def histograms_count_all(results: becalm.Results) -> Iterator[str]:
    """Histograms contain each delivered packet and message once."""
    for histogram, column, table, counted in (
        ("latencies", "packets", "flows", "delivered_packets"),
        ("completion_times", "messages", "completion", "messages"),
        ("completion_by_size", "messages", "completion", "messages"),
    ):
        if histogram in results.tables and table in results.tables:
            one, two = results.table(histogram)[column].sum(), results.table(table)[counted].sum()
            # Latencies are those of the time that was not left out.
            if one != two and not (one < two and results.left_out):
                yield f"{histogram}: {one} {column}, and {two} in {table}"


def series_integrate_to_groups(results: becalm.Results) -> Iterator[str]:
    """Rates of groups over time add up to what was delivered, for windows of a step that fill the run."""
    resolved = results.scenario.resolved
    step, window = (seconds(resolved["observe"][key]) for key in ("step", "window"))
    if seconds(resolved["run"]["warmup"]) or step != window or "series" not in results.tables:
        return
    series = results.series.filter(pl.col("kind") == "group")
    slack = resolved["run"]["replications"] * (results.scenario.summary["packet_bytes"] + TELEMETRY)
    for group in results.groups.iter_rows(named=True):
        own = series.filter(pl.col("name") == group["group"], pl.col("replication") == group["replication"])
        end = results.replications[group["replication"]].end
        covered = [
            (min(end, time + window / 2) - max(0.0, time - window / 2), rate)
            for time, rate in own.select("time", "rate").iter_rows()
        ]
        if abs(math.remainder(end, step)) > 1e-12:
            continue
        flows = results.flows.filter(pl.col("group") == group["group"])
        own_flows = flows.filter(pl.col("replication") == group["replication"])
        # With `run.end = "delivered"`, rates are means from the first posted message.
        whole = float(own_flows["delivered_bytes"].sum())
        found = sum(max(0.0, float(length)) * rate for length, rate in covered)
        if end > 0 and not math.isclose(found, whole, rel_tol=1e-6, abs_tol=slack):
            yield f"group {group['group']}: series add up to {found} B, delivered {whole} B"


def spans_are_shares_of_the_tree(results: becalm.Results) -> Iterator[str]:
    """Spans of an output add up to its `root_share` and `branch_share`, unless short ones are merged."""
    if "spans" not in results.tables:
        return
    start = seconds(results.scenario.resolved["run"]["warmup"])
    ends = [each.end for each in results.replications]
    found: Counter[tuple[object, ...]] = Counter()
    merged: set[tuple[object, ...]] = set()
    columns = ("replication", "from", "from_port", "vl", "role", "begin", "end", "resolution")
    for *output, begin, end, resolution in results.spans.select(columns).iter_rows():
        found[tuple(output)] += max(0.0, min(end, ends[output[0]]) - max(start, begin))
        if resolution > 0:
            merged.add(tuple(output[:-1]))
    for row in results.tree.iter_rows(named=True):
        window = windows(results)[row["replication"]]
        for role in ("root", "branch") if window > 0 else ():
            key = (row["replication"], row["from"], row["from_port"], row["vl"], role)
            if key[:-1] not in merged and abs(found[key] / window - row[f"{role}_share"]) > 1e-9:
                yield f"{key}: {role}_share {row[f'{role}_share']}, and {found[key] / window} of spans"


def nothing_is_faster_than_light(results: becalm.Results) -> Iterator[str]:
    """No latency is below the delays of a single path's cables and switches, and no slowdown is below 1."""
    network, resolved = results.scenario.network(), results.scenario.resolved
    forwarding = seconds(resolved["switch"]["forwarding_delay"])
    least: dict[tuple[str, str], float] = {}
    for flow in results.flows.iter_rows(named=True):
        ends = (flow["source"], flow["destination"])
        if ends not in least:
            path = network.paths(*ends)
            delay = sum(path["delay"].to_list()) + (len(path) - 1) * forwarding
            least[ends] = delay if path["share"].min() == 1 else 0.0
        if flow["latency_mean"] < least[ends] - 1e-12:
            yield f"flow {flow['flow']}: latency_mean {flow['latency_mean']}, at least {least[ends]}"
    fixed = resolved["switch"]["service"] == "fixed" and not resolved["changes"]
    if "messages" in results.tables and fixed:
        for row in results.messages.filter(pl.col("slowdown") < 1 - 1e-9).iter_rows(named=True):
            yield f"message of flow {row['flow']}: completion {row['completion']}, ideal {row['ideal']}"


def nothing_exceeds_its_capacity(results: becalm.Results) -> Iterator[str]:
    """Links carry no more than their rates, and no share of time is above 1."""
    fixed = results.scenario.resolved["switch"]["service"] == "fixed"
    for link in links(results):
        used = link.row["utilization"]
        if fixed and link.capacity < math.inf and used > 1 + link.rounding:
            yield f"{link.name}: utilization {used}"
    for table, columns in (("tree", ("root_share", "branch_share")), ("pauses", ("paused_share",))):
        for column in columns if table in results.tables else ():
            worst = results.table(table)[column].fill_nan(0).max()
            if isinstance(worst, float) and worst > 1 + 1e-9:
                yield f"{table}.{column}: {worst}"
    if "pauses" in results.tables:
        over = results.pauses.filter(pl.col("headroom_used") > pl.col("headroom"))
        yield from (f"pauses: {row}" for row in over.iter_rows())


def jobs_take_the_time_of_the_busiest_link(results: becalm.Results) -> Iterator[str]:
    """A job takes no less time than the payload of its messages needs on each host's link."""
    data = results.scenario.data()
    if "ops" not in results.tables or data.get("changes"):
        return
    on_nodes = {job["name"] for job in data["jobs"] if "nodes" in job}
    capacity = {
        row["from"]: row["capacity"] for row in results.scenario.network().links.iter_rows(named=True)
    }
    place = {(row["job"], row["rank"]): row["host"] for row in results.ranks.iter_rows(named=True)}
    for name, replication, time in results.jobs.select("job", "replication", "time").iter_rows():
        if name in on_nodes:
            # Each of a rank's adapters has its own link.
            continue
        sends = results.ops.filter(
            pl.col("job") == name, pl.col("replication") == replication, pl.col("kind") == "send"
        )
        load: Counter[tuple[str, str]] = Counter()
        for rank, peer, size in sends.select("rank", "peer", "bytes").iter_rows():
            one, other = place[name, rank], place[name, int(peer)]
            if one != other:
                load["from", one] += size
                load["to", other] += size
        bound = max((size / capacity[host] for (_, host), size in load.items()), default=0.0)
        if time < bound * (1 - 1e-9):
            yield f"job {name}: time {time}, and {bound} for its bytes on one link"


def faults_hold_up_what_they_can(results: becalm.Results) -> Iterator[str]:
    """Packets have bytes; only a cable has packets on it; and without a choice, none takes another port."""
    if "faults" not in results.tables:
        return
    resolved = results.scenario.resolved
    several = any(len(node["nics"]) > 1 for node in resolved["nodes"])
    planes = resolved["topology"].get("rail", {}).get("planes", 1)
    chooses = "destination" not in resolved["switch"]["paths"] or several or planes > 1
    for row in results.faults.iter_rows(named=True):
        down = row["kind"] in ("link_down", "switch_stop")
        if (row["held"] > 0) != (row["held_bytes"] > 0) or (row["on_wire"] > 0) != (row["on_wire_bytes"] > 0):
            yield f"packets without bytes: {row}"
        if (not down and row["on_wire"] + row["moved"] > 0) or (not chooses and row["moved"] > 0):
            yield f"not possible for this fault: {row}"


def storms_are_found_before_they_end(results: becalm.Results) -> Iterator[str]:
    """No more storms end than begin, each takes its detection, and only some actions lose packets."""
    if "storms" not in results.tables:
        return
    watchdog = results.scenario.resolved["switch"]["flow_control"]["pfc"]["watchdog"]
    least, action = seconds(watchdog["detection"]), watchdog["action"]
    lost = {"drop": ("tx_dropped", "rx_dropped"), "forward": ("overflowed",), "alert": ()}[action]
    for row in results.storms.iter_rows(named=True):
        if not 0 <= row["detected"] - row["restored"] <= 1 or row["first"] < least * 0.99 - 1e-12:
            yield f"impossible times: {row}"
        for key in ("tx_dropped", "rx_dropped", "overflowed"):
            if (row[key] > 0) != (row[f"{key}_bytes"] > 0) or (row[key] > 0 and key not in lost):
                yield f"{action} does not lose these packets: {row}"


INVARIANTS: tuple[Invariant, ...] = (
    utilization_is_bytes_over_capacity,
    busy_and_stalled_exclude_each_other,
    stalls_are_waits,
    hosts_send_what_their_links_carry,
    groups_are_sums_of_flows,
    histograms_count_all,
    series_integrate_to_groups,
    spans_are_shares_of_the_tree,
    nothing_is_faster_than_light,
    nothing_exceeds_its_capacity,
    jobs_take_the_time_of_the_busiest_link,
    faults_hold_up_what_they_can,
    storms_are_found_before_they_end,
)


def violations(results: becalm.Results) -> list[str]:
    """Return what the tables of a run contradict."""
    return [f"{each.__name__.replace('_', ' ')}: {text}" for each in INVARIANTS for text in each(results)]
