"""The effects of an incast, as printed tables and as a JSON object."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from becalm.analysis import formats
from becalm.analysis.faults import Fault
from becalm.cli import console
from becalm.cli.tables import table
from becalm.whatif.incast import NOTICED, WhatIf
from becalm.whatif.measured import Root

MOST_ROWS = 10
"""Default number of rows of a table."""


def show_faults(faults: Sequence[Fault]) -> None:
    """Print the faults of a fabric, or a line that there are none."""
    for fault in faults:
        console.say(f"{fault.kind}: {fault.where}: {fault.what}")
    if not faults:
        console.say("no faults: cables match their peers, routes are balanced, and no credit loop exists")


def show(found: WhatIf, *, every: bool = False) -> None:
    """Print the verdict, faults, congestion tree, victims and throughput. With `every`, print all rows."""
    console.say(found.verdict)
    show_faults(found.faults)
    sources = _listed(found.sources, len(found.sources) if every else MOST_ROWS)
    console.say(f"{len(found.sources)} hosts send to {found.hot}: {sources}")
    if found.congested_before:
        links = (
            f"{found.congested_before} switch links are" if found.congested_before > 1 else "a switch link is"
        )
        console.say(f"note: {links} congested even without the incast; reduce the background with --load")
    console.out.print(_tree(found, every))
    console.out.print(_victims(found, every))
    console.out.print(_rates(found))
    console.say(f"with control: {found.control}")
    for concern in found.concerns:
        console.say(f"with control: {concern.sentence}")
    console.say(_cost(found))
    runs = f"{len(found.rates)} runs of {formats.seconds(found.simulated)} each"
    console.say(f"{runs}, computed in {found.took:.1f} s")


def _cost(found: WhatIf) -> str:
    """Return what control costs where nothing is congested, or why that is not known."""
    if found.needed:
        return f"control was not simulated: it needs about --max-time {math.ceil(found.needed)}"
    if found.simulated < found.decay:
        recovers = formats.seconds(found.decay)
        return f"what control costs is not known: it needs {recovers} to recover, longer than a run"
    cost = found.lost("calm_managed")
    slows = ": it slows flows that are not congested" if cost >= NOTICED else ""
    return f"without any incast, control costs all other traffic {formats.share(cost)}{slows}"


def show_measured(roots: Sequence[Root], loads: Mapping[str, float], ports: int) -> None:
    """Print the likely roots that counters show, and the hosts' load."""
    cells = [
        (each.port, each.why, _listed(each.waiting, 2), formats.share(each.busy), f"{each.waited:,}")
        for each in roots[:MOST_ROWS]
    ]
    if cells:
        columns = ("port", "why", "waiting ports", "busy", "waited")
        console.out.print(table(f"Likely roots, {len(roots)}", columns, cells, text=3))
    else:
        console.say("no likely root: no port waits to send to the switch of a busy port")
    mean = formats.share(sum(loads.values()) / len(loads)) if loads else "-"
    most = max(loads, key=loads.__getitem__, default=None)
    top = f"; {most} sends the most, {formats.share(loads[most])}" if most is not None else ""
    console.say(f"{ports} ports read; {len(loads)} hosts send at {mean} of their link rate on average{top}")


def _listed(names: Sequence[str], most: int) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def to_json(found: WhatIf) -> dict[str, Any]:
    """Return all effects as an object, with rates in B/s and times in s."""
    return {
        "verdict": found.verdict,
        "hot": found.hot,
        "sources": found.sources,
        "control": found.control,
        "concerns": [asdict(concern) for concern in found.concerns],
        "faults": [each._asdict() for each in found.faults],
        "tree": [each._asdict() for each in found.tree],
        "congested_before": found.congested_before,
        "victims": [
            {
                **each._asdict(),
                "lost_to_incast": each.lost_to_incast,
                "lost_with_control": each.lost_with_control,
            }
            for each in found.victims
        ],
        "rates": {name: each._asdict() for name, each in found.rates.items()},
        "lost": {run: found.lost(run) for run in found.rates},
        "simulated": found.simulated,
        "decay": found.decay,
        "needed": found.needed,
        "took": found.took,
    }


def _shown(number: int, every: bool) -> tuple[int, str]:
    rows = number if every else min(number, MOST_ROWS)
    return rows, f"{rows} of {number}" if rows < number else str(number)


def _tree(found: WhatIf, every: bool) -> Table:
    rows, number = _shown(len(found.tree), every)
    cells = [
        (each.link, each.role, formats.share(each.without), _loss(each.managed)) for each in found.tree[:rows]
    ]
    columns = ("link", "role", "congested", "with control")
    return table(f"Congestion tree, {number} links", columns, cells, text=2)


def _victims(found: WhatIf, every: bool) -> Table:
    rows, number = _shown(len(found.victims), every)
    cells = [
        (
            f"{each.source} -> {each.destination}{' *' if each.own_link else ''}",
            *(_rate(rate) for rate in (each.calm, each.without, each.managed)),
            *(_loss(lost) for lost in (each.lost_to_incast, each.lost_with_control)),
        )
        for each in found.victims[:rows]
    ]
    columns = ("flow", "before", "incast", "with control", "lost", "with control")
    made = table(f"Victims, {number} flows", columns, cells)
    if any(each.own_link for each in found.victims[:rows]):
        made.caption = "* the source also contributes to the incast over the same link"
        made.caption_justify = "left"
    return made


def _rate(rate: float) -> str:
    return "-" if math.isnan(rate) else formats.number(rate, "B/s")


def _loss(lost: float) -> str:
    return "-" if math.isnan(lost) else formats.share(max(0.0, lost))


def _rates(found: WhatIf) -> Table:
    names = {
        "calm": "no incast",
        "calm_managed": "no incast, with control",
        "without": "incast",
        "managed": "incast, with control",
    }
    calm = found.rates["calm"].others
    cells = [
        (
            name,
            formats.number(found.rates[run].others, "B/s"),
            formats.number(max(0.0, calm - found.rates[run].others), "B/s") if run != "calm" else "-",
            formats.share(found.lost(run)) if run != "calm" and calm else "-",
            formats.number(found.rates[run].incast, "B/s") if "calm" not in run else "-",
        )
        for run, name in names.items()
        if run in found.rates
    ]
    columns = ("run", "all other traffic", "lost", "share", f"to {found.hot}")
    return table("Throughput", columns, cells)
