"""Plants faults into the scenes of the papers, and lists the claims that detect them.

    python tools/planted.py

Each fault changes one mechanism of a cheap experiment, which runs with one seed. A strict claim in
`docs/reproductions` is one that holds and whose null fails. A fault is detected if it makes a strict claim
fail that holds at this seed without the fault. The exit code is 1 if a fault is not detected.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from becalm.lab import select
from becalm.lab.expect import FAILS, HOLDS
from becalm.lab.model import Change, Claim, Experiment, Table
from becalm.lab.nulls import changed, mark, off
from becalm.lab.runner import Measurements
from becalm.runs.drive import driver

DOCS = Path(__file__).parents[1] / "docs" / "reproductions"


class Plant(NamedTuple):
    """A fault and the figure in which it is planted."""

    name: str
    figure: str
    change: Change


def within(*path: str, to: Callable[[Any], Any]) -> Change:
    """Return a change of the value at a path of keys; scenarios without this path stay unchanged."""

    def change(table: Table) -> Table:
        key, *rest = path
        if key not in table:
            return table
        inner = within(*rest, to=to)(table[key]) if rest else to(table[key])
        return {**table, key: inner}

    return change


def renamed(part: str, old: str, new: str) -> Change:
    """Return a change to another scheme, which keeps some keys of the old one."""

    def change(scenario: Table) -> Table:
        if old not in scenario[part]:
            return scenario
        kept = {
            key: value for key, value in scenario[part][old].items() if key in ("full", "window", "initial")
        }
        return {**scenario, part: {new: kept}}

    return change


def _feedback(**keys: Any) -> Change:  # noqa: ANN401
    return within("response", "binary_feedback", to=lambda old: {**old, **keys})


PLANTS = (
    Plant(
        "naive marking for input-triggered",
        "santos2002/fig3b",
        renamed("marking", "input_triggered", "naive"),
    ),
    Plant(
        "an output threshold of 8 for 4",
        "santos2002/fig3c",
        within("marking", "input_output_triggered", "threshold", to=lambda _: 8),
    ),
    Plant("marks at random", "santos2002/fig3b", mark({"random": {"probability": 0.15}})),
    Plant("no marks", "santos2002/fig3a", off(1)),
    Plant("marks on every packet", "santos2002/fig3d", mark({"random": {"probability": 1.0}})),
    Plant(
        "round robin for oldest first",
        "santos2002/fig2",
        within("switch", "arbiter", to=lambda _: {"round_robin": {}}),
    ),
    Plant(
        "a slot less in each buffer", "santos2003/fig3c", within("switch", "buffer", to=lambda _: "3 slots")
    ),
    Plant("AIMD for LIPD", "santos2003/conditions", renamed("response", "lipd", "aimd")),
    Plant(
        "windows of two for one", "santos2003/window", within("response", "none", "window", to=lambda _: 2)
    ),
    Plant(
        "a table of delays shifted by one",
        "gran2010/cct",
        within("response", "ibta", "ccti_min", to=lambda index: max(0, index - 1)),
    ),
    Plant(
        "delays twice as long",
        "gran2010/cct",
        within("response", "ibta", "cct", "quadratic", "numerator", to=lambda factor: 2 * factor),
    ),
    Plant(
        "ports to hosts taken for victims",
        "gran2010/victim_mask",
        within("marking", "ibta", "victim_mask", to=lambda mask: "none" if mask == "host_ports" else mask),
    ),
    Plant(
        "one way for all traffic to a destination",
        "pfister2005/tree",
        within("switch", "paths", to=lambda _: {"destination": {}}),
    ),
    Plant(
        "a threshold that no queue reaches",
        "pfister2005/recovering",
        within("marking", "queue_threshold", to=lambda _: {"high": 8.0, "low": 7.0}),
    ),
    Plant(
        "a timer that ignores its setting",
        "pfister2005/stiffness",
        within("response", "ibta", "ccti_timer", to=lambda _: 10),
    ),
    Plant(
        "a threshold that ignores its setting",
        "gran2010/threshold",
        within("marking", "ibta", "threshold", to=lambda _: 15),
    ),
    Plant(
        "marks in one ACK of 24 for one in each",
        "gran2010/feedback",
        within("echo", "ibta", "ack_every", to=lambda _: 24),
    ),
    Plant(
        "control per queue pair for a service level",
        "gran2010/level",
        within("adapter", "port_control", to=lambda _: "qp"),
    ),
    Plant(
        "marks on packets of every size",
        "gran2010/packet_size",
        within("marking", "ibta", "packet_size", to=lambda _: 0),
    ),
    Plant("marks at random for IBTA's", "gran2010/peaks", mark({"random": {"probability": 0.1}})),
    Plant("hardly any recovery", "ramakrishnan1990/fig10", _feedback(increase=0.01)),
    Plant("a decision at every ACK", "ramakrishnan1990/fig5", _feedback(decide="every_ack")),
    Plant("bits that count twice", "ramakrishnan1990/bits", _feedback(keep_bits=True)),
    Plant(
        "additive for multiplicative decrease",
        "ramakrishnan1990/fig11",
        _feedback(decrease={"additive": {"by": 1}}),
    ),
    Plant(
        "an output threshold that local flows reach",
        "santos2002/local_only",
        within("marking", "input_output_triggered", "threshold", to=lambda _: 8),
    ),
    Plant("long cables", "santos2002/product", within("topology", "dumbbell", "delay", to=lambda _: "1 us")),
    Plant(
        "the same buffer for all",
        "santos2002/events",
        within("switch", "buffer", to=lambda _: "10 slots"),
    ),
    Plant(
        "buffers that feed one output at a time",
        "santos2003/fig3b",
        within("switch", "input_reads", to=lambda _: "one"),
    ),
    Plant("FIMD's step for LIPD's", "santos2003/steps", renamed("response", "lipd", "fimd")),
    Plant("AIMD's recovery for FIMD's", "santos2003/demand", renamed("response", "fimd", "aimd")),
    Plant("no check of the source", "ramakrishnan1990/fig12", _feedback(check_source=False)),
    Plant(
        "a single threshold for hysteresis",
        "ramakrishnan1990/signals",
        within("marking", "queue_hysteresis", "width", to=lambda _: 0),
    ),
)


def noticed(plant: Plant) -> Iterator[str]:
    """Yield the strict claims that fail with a fault."""
    (experiment,) = select([plant.figure])
    strict = {claim.id: claim.values[0] for claim in _committed(experiment) if claim.standing == HOLDS}
    planted = changed(experiment, plant.change)
    found = Measurements([planted], short=False, nulls=False)
    with driver() as runs:
        found.run([planted], [1], runs)
    judged = {claim.id: claim.verdict for claim in found.report(planted).claims}
    for each in experiment.statements:
        before = strict.get(each.id, [])
        held = each.expect.test(before if isinstance(before, list) else [before])
        if held and judged[each.id] == FAILS:
            yield each.id


def _committed(experiment: Experiment) -> list[Claim]:
    """Return the scored claims of an experiment with their committed verdicts."""
    figures = json.loads((DOCS / experiment.paper / "verdicts.json").read_text(encoding="utf-8"))
    claims = [claim for figure in figures if figure["id"] == experiment.id for claim in figure["claims"]]
    return [claim for claim in map(Claim.from_json, claims) if claim.kind == "paper"]


def main() -> int:
    """Print the claims that detect each fault; return 1 if a fault is not detected."""
    missed = 0
    for plant in PLANTS:
        claims = list(noticed(plant))
        missed += not claims
        print(f"{plant.name}: {plant.figure} {', '.join(claims) or 'not detected'}")
    print(f"{len(PLANTS) - missed} of {len(PLANTS)} planted faults are detected")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
