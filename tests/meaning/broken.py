"""Relations between ways to write faults."""

from __future__ import annotations

import random

import becalm
import drawn
from drawn import Tables
from meaning.equal import up_to
from meaning.relation import relation

UP_TO_FAULTS = up_to(("faults",))
"""Bits, without the table with one row per fault and port."""


SLOWDOWNS = ("messages", "completion", "completion_by_size", "completion_times")
"""Tables that compare with an empty network, of which a cap is part."""


def _breakable(data: Tables) -> bool:
    """Whether a scene has no faults, and can have some."""
    return "faults" not in data and data["run"].get("fidelity", "packets") == "packets"


@relation(up_to(("faults", *SLOWDOWNS)), count=20)
def always_slow_is_a_cap(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A receiver that is slow from the beginning to the end of the run has a cap of the adapter."""
    adapter = data.get("adapter", {})
    # These responses derive their targets or windows from the unloaded round trip, which a cap is part of.
    if any(word in str(data) for word in ("swift", "timely", "hpcc", "dcqcn", "dctcp", "fixed", "nscc")):
        return None
    if not _breakable(data) or "caps" in adapter or "drain_rate" in adapter or "injection_rate" in adapter:
        return None
    host, rate = draw.choice(drawn.hosts(data["topology"])), "90 MB/s"
    cap = {**data, "adapter": {**adapter, "caps": [{"hosts": [host], "drain_rate": rate}]}}
    kind = {"slow_receiver": {"hosts": [host], "drain_rate": rate}}
    return [cap, {**data, "faults": [{"kind": kind, "at": "1 ps"}]}]


@relation(UP_TO_FAULTS, count=20)
def faults_split_by_host(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A fault of several hosts is several faults, in any order."""
    names = drawn.hosts(data["topology"])
    if len(names) < 2 or data["run"].get("fidelity", "packets") != "packets":
        return None
    some = draw.sample(names, draw.randint(2, len(names)))
    kind = draw.choice(["slow_receiver", "host_stop"])
    more = {"drain_rate": "90 MB/s"} if kind == "slow_receiver" else {}
    span = {"at": "2 us", "until": draw.choice(["6 us", "1 s"])}
    parts = [{"kind": {kind: {"hosts": [host], **more}}, **span} for host in draw.sample(some, len(some))]
    whole = {"kind": {kind: {"hosts": some, **more}}, **span}
    return [{**data, "faults": [whole]}, {**data, "faults": parts}]


@relation(UP_TO_FAULTS, count=20)
def a_switch_that_stops_has_its_cables_down(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A switch that stops is a fault of each of its cables."""
    links = becalm.Scenario(data).network().links
    switch = draw.choice(links.filter(links["to_level"] == 0)["from"].to_list())
    own = links.filter(links["from"] == switch)["link"].to_list()
    if not _breakable(data):
        return None
    span = {"at": "3 us"} | draw.choice([{}, {"until": "7 us"}])
    cables = [{"kind": {"link_down": {"link": link}}, **span} for link in own]
    stop = {"kind": {"switch_stop": {"switches": [switch]}}, **span}
    return [{**data, "faults": [stop]}, {**data, "faults": draw.sample(cables, len(cables))}]


@relation(UP_TO_FAULTS, count=20)
def either_name_of_a_cable(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A cable that is down has two names; and a fault that ends after the run has no end."""
    link = draw.choice(becalm.Scenario(data).network().links["link"].to_list())
    back = "->".join(reversed(link.split("->")))
    if "[" in link or not _breakable(data):
        return None
    ends = draw.choice([("7 us", "7 us"), (None, "9 s")])
    spans = [{"at": "3 us"} | ({"until": end} if end else {}) for end in ends]
    return [
        {**data, "faults": [{"kind": {"link_down": {"link": name}}, **span}]}
        for name, span in zip((link, back), spans, strict=True)
    ]


@relation(UP_TO_FAULTS, count=20)
def what_coincides_in_any_order(data: Tables, draw: random.Random) -> list[Tables] | None:
    """The lists of changes and faults have no order, also where rates change as faults begin or end."""
    names = drawn.hosts(data["topology"])
    if len(names) < 2 or not _breakable(data) or "changes" in data:
        return None
    if data["switch"].get("switching") != "store_and_forward":
        return None
    links = becalm.Scenario(data).network().links
    from_host = links.filter(links["from_level"] == 0)
    cables = [draw.choice(each["link"].to_list()) for each in (from_host, from_host, links)]
    rates = ["90 MB/s", "70 MB/s", "80 MB/s"]
    changes = [
        {"link": link, "at": draw.choice(["3 us", "9 us"]), "rate": rates.pop()}
        for link in sorted(set(cables))
    ]
    kinds: list[Tables] = [{"host_stop": {"hosts": draw.sample(names, 2)}}]
    kinds.append({"link_down": {"link": cables[0]}})
    faults = [{"kind": kind, "at": "3 us", "until": "9 us"} for kind in kinds]
    return [
        {**data, "changes": draw.sample(changes, len(changes)), "faults": draw.sample(faults, len(faults))}
        for _ in range(2)
    ]
