"""Initial traffic of an imported fabric: a background below the knee of every link, and a hot spot."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any, NamedTuple

from becalm.opensm import adapters
from becalm.opensm.fabric import Fabric, Host
from becalm.opensm.names import quoted, ranges
from becalm.scenario import Scenario

SOURCES = 8
"""Maximum number of hosts that send to the hot spot of the initial traffic."""

LARGEST_LOAD = 0.5
"""Largest load of a host in the background, as a share of its link's rate."""
FULLEST = 0.6
"""Largest load of a link by the background. At 0.7, random messages already make a root now and then."""

_RUN = '[run]\nduration = "1 us"\n'

_BACKGROUND = """\
[[flows]]
name = "{name}"
from = [{hosts}]
[flows.pattern.permutation]
[flows.traffic.poisson]
load = {load}
"""

_HOT_SPOT = """
# Hot spot
[[flows]]
name = "hot_spot"
from = [{sources}]
to = ["{target}"]
[flows.traffic.greedy]
"""


class Background(NamedTuple):
    """The load of the background."""

    load: float
    """Load of each host, as a share of its link's rate."""
    fullest: float
    """Largest resulting load of a link, as a share of its rate."""


def rails(fabric: Fabric) -> list[list[Host]]:
    """Return the hosts, apart by rails: the adapters with the same place in machines with several of them.

    Adapters belong to one machine if their descriptions have the same first word and differ behind it, as
    `gpu00 mlx5_0` and `gpu00 mlx5_1`, and another machine with several adapters has one of these words.
    Without such machines, all hosts are on one rail. Other adapters are on the rail with their words.
    """
    several, _ = adapters.machines(fabric)
    of = adapters.owners(several)
    places: dict[str, int] = {}
    """The rail of each word."""
    for machine in several:
        if machine.recurs(of):
            for place, word in enumerate(machine.hosts):
                places.setdefault(word, place)
    apart: dict[int, list[Host]] = defaultdict(list)
    for host in fabric.hosts:
        apart[places.get(adapters.machine_and_word(host)[1], 0)].append(host)
    return [apart[place] for place in sorted(apart)]


def groups(fabric: Fabric) -> dict[str, list[str]]:
    """Return the groups of flows of the background with their hosts: a permutation for each rail."""
    by_rail = [[host.name for host in rail] for rail in rails(fabric)]
    if len(by_rail) == 1:
        return {"background": ["*"]}
    return {f"background_{place}": names for place, names in enumerate(by_rail, 1) if len(names) > 1}


def flows(fabric: Fabric, load: float) -> list[dict[str, Any]]:
    """Return the background's groups of flows, as a scenario has them."""
    poisson = {"poisson": {"load": load}}
    return [
        {"name": name, "from": ranges(hosts), "pattern": {"permutation": {}}, "traffic": poisson}
        for name, hosts in groups(fabric).items()
    ]


def loaded(text: str, fabric: Fabric) -> Scenario:
    """Return a scenario with the background at `LARGEST_LOAD`.

    Args:
        text: the scenario without traffic and without `[run]`.
        fabric: its fabric.

    """
    return Scenario(f"{text}\n{_text(fabric, LARGEST_LOAD)}\n{_RUN}")


def background(scenario: Scenario) -> Background:
    """Return the largest load up to `LARGEST_LOAD` at which no link carries more than `FULLEST` of its rate.

    Args:
        scenario: the result of `loaded`.

    """
    network = scenario.network()
    links, sources, paths = network.links, network.flows["source"].to_list(), network.flow_paths
    capacity = links["capacity"].to_list()
    rates = dict(zip(links["from"].to_list(), capacity, strict=True))
    carried: dict[int, float] = defaultdict(float)
    for flow, link, share in paths.select("flow", "link", "share").iter_rows():
        carried[link] += share * rates[sources[flow]] / capacity[link]
    busiest = max(carried.values())
    load = min(LARGEST_LOAD, max(0.01, math.floor(100 * FULLEST / busiest) / 100))
    return Background(load, load * busiest)


def text(fabric: Fabric, load: Background) -> str:
    """Return the background and the hot spot as TOML."""
    within = ", within its rail" if len(rails(fabric)) > 1 else ""
    fullest = f"The fullest link carries {load.fullest:.2g} of its rate."
    comment = f"# Each host sends to one other host{within}. {fullest}"
    return f"{comment}\n{_text(fabric, load.load)}{_hot_spot(fabric)}"


def note(fabric: Fabric) -> list[str]:
    """Return a note on the rails, if there are several."""
    sizes = [str(len(rail)) for rail in rails(fabric)]
    if len(sizes) == 1:
        return []
    counts = f"{len(sizes)} rails, of {', '.join(sizes)} adapters"
    return [f"hosts have several adapters: the initial traffic stays within {counts}"]


def _text(fabric: Fabric, load: float) -> str:
    return "\n".join(
        _BACKGROUND.format(name=name, hosts=quoted(hosts), load=load)
        for name, hosts in groups(fabric).items()
    )


def _hot_spot(fabric: Fabric) -> str:
    target, *others = rails(fabric)[0]
    if len(others) < 2:
        return ""
    # Sources across the entire fabric give the tree branches.
    step = max(1, len(others) // SOURCES)
    sources = [host.name for host in others[step - 1 :: step][:SOURCES]]
    return _HOT_SPOT.format(sources=quoted(sources), target=target.name)
