"""Bench of `becalm tune` on cases that no search has seen. Writes the tables of docs/advice.md.

    python tools/advice.py [FABRIC ...] [--minutes M]

It tunes each fabric, with and without `no_regret`, and runs all rows on drawn test cases. docs/advice.jsonl
keeps the measurements, one line per fabric; the page's tables show all lines.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import markers

import becalm
from becalm.runs.engines import Processes
from becalm.store import Store
from becalm.tunings import Case, Population, Tuned
from becalm.tunings.evaluate import Evaluator
from becalm.tunings.population import TEST
from becalm.tunings.verdict import ALL, WITHOUT, Verdict, judged

DATA = Path(__file__).parents[1] / "docs" / "advice.jsonl"
CASES = 60
"""Number of drawn test cases per fabric."""
TRUE = 0.03
"""Largest allowed difference between a stated price and the test cases."""
ENOUGH = 0.6
"""Target for the loss of the recommended row, as a share of the other rows'."""
SEEDS = 4
"""Seeds of each case in the table of cases by hand."""
COMMON = """\
[run]
duration = "3 ms"
[topology.{topology}]
{shape}
rate = "{rate}"
[switch]
buffer = "{buffer}"
vls = {vls}
{more}
[[flows]]
name = "background"
from = ["*"]
to = ["*"]
[flows.traffic.poisson]
load = 0.3
"""
IBTA = "[marking.none]\n[echo.ibta]\n[response.none]"
ROCE = """\
[switch.flow_control.pfc.thresholds.static]
xon = "96 KiB"
[packet]
mtu = "4096 B"
header = "78 B"
ack = "84 B"
cnp = "84 B"
[marking.ramp]
kmin = 50.0
kmax = 100.0
pmax = 0.2
[echo.rocev2]
[response.dcqcn]"""


def tree(levels: str, rate: str, buffer: str, more: str = IBTA) -> becalm.Scenario:
    """Return a fat tree with levels in the scenario's form."""
    shape = f'levels = [{levels}]\ndelay = "40 ns"'
    text = COMMON.format(topology="fat_tree", shape=shape, rate=rate, buffer=buffer, vls=1, more=more)
    return becalm.Scenario(text, name="fabric")


def dragonfly() -> becalm.Scenario:
    """Return a dragonfly of 72 hosts."""
    shape = "switches_per_group = 4\nhosts_per_switch = 2\nglobal_links = 2"
    shape += '\ndelay = "10 ns"\nglobal_delay = "150 ns"'
    text = COMMON.format(
        topology="dragonfly", shape=shape, rate="100 Gb/s", buffer="64 KiB", vls=2, more=IBTA
    )
    return becalm.Scenario(text, name="fabric")


THREE = "{children = 3}, {children = 6, parents = 3}, {children = 3, parents = 3}"
FABRICS = {
    "18 hosts, 2:1": tree("{children = 6}, {children = 3, parents = 3}", "25 Gb/s", "48 KiB"),
    "36 hosts, 4:1": tree("{children = 12}, {children = 3, parents = 3}", "25 Gb/s", "48 KiB"),
    "54 hosts, three levels": tree(THREE, "25 Gb/s", "48 KiB"),
    "128 hosts, three levels": tree(
        "{children = 4}, {children = 4, parents = 4}, {children = 8, parents = 4}", "100 Gb/s", "64 KiB"
    ),
    "dragonfly, 72 hosts": dragonfly(),
    "RoCE, 32 hosts": tree("{children = 8}, {children = 4, parents = 4}", "100 Gb/s", "128 KiB", ROCE),
    "32 hosts, 40 Gb/s": tree(
        "{children = 8}, {children = 4, parents = 8}",
        "40 Gb/s",
        "96 KiB",
        '[packet]\nmtu = "4096 B"\n' + IBTA,
    ),
}
BENCH = list(FABRICS)[:6]
FOREIGN = ("128 hosts, three levels", "dragonfly, 72 hosts", "32 hosts, 40 Gb/s")
"""Fabrics that were not used to derive becalm's guideline."""


def measured(name: str, minutes: float) -> dict[str, Any]:
    """Tune on a fabric and return the results of all rows on test cases."""
    population = Population(FABRICS[name])
    tuned = becalm.tune(population, minutes=minutes)
    careful = becalm.tune(population, minutes=minutes / 2, no_regret=True)
    rows = {**tuned.controls, "no regret": careful.controls["tuned"]}
    verdict = run(rows, population.draw(CASES, TEST))
    return {
        "fabric": name,
        "minutes": minutes,
        "trials": tuned.trials.height,
        "answer": tuned.answer(),
        "recommended": tuned.verdict.recommended,
        "parameters": tuned.best,
        "losses": dict(verdict.losses),
        "classes": list(verdict.classes),
        "prices": prices(tuned, verdict),
        "careful": {
            "recommended": careful.verdict.recommended,
            "prices": prices(careful, verdict, "no regret"),
        },
    }


def run(rows: dict[str, dict[str, Any]], cases: list[Case], seeds: int = 1) -> Verdict:
    """Run rows on cases and return the verdict."""
    with tempfile.TemporaryDirectory(prefix="becalm-advice-") as folder:
        store, engine = Store(folder), Processes(None)
        try:
            found = Evaluator(cases, store, engine).evaluate(rows, cases, range(1, seeds + 1))
        finally:
            engine.close()
    return judged(found, cases, list(rows))


def prices(tuned: Tuned, test: Verdict, tuned_is: str = "tuned") -> dict[str, tuple[float, float]]:
    """Return the loss of the recommended row against no control by class, as stated and on test cases."""
    row = tuned.verdict.recommended
    if row in (None, WITHOUT):
        return {}
    assert row is not None
    there = tuned_is if row == "tuned" else row
    return {
        group: (
            tuned.verdict.difference(row, WITHOUT, group).mean,
            test.difference(there, WITHOUT, group).mean,
        )
        for group in (*test.present, ALL)
        if group in (*tuned.verdict.present, ALL)
    }


def by_hand() -> dict[str, Any]:
    """Return the losses of all guidelines for given incast sizes and loads, on 54 hosts of three levels."""
    name = "54 hosts, three levels"
    from becalm.tunings.verdict import rows_of

    population, lines = Population(FABRICS[name]), []
    known = {each["fabric"]: each for each in read()}
    rows = rows_of(FABRICS[name], population.range[1])
    if name in known:
        from becalm.tunings.space import space_of

        space = space_of(FABRICS[name], population.range[1])
        rows["tuned"] = space.changes(known[name]["parameters"])
    for number, kind in ((2, "rest"), (8, "rest"), (30, "rest"), (8, "moving")):
        for load in (0.3, 0.6, 0.9):
            cases = [population.case(number, load, seed, kind) for seed in range(11, 11 + SEEDS)]
            verdict = run(rows, cases)
            lines.append(
                {
                    "case": f"{number}{', moving' if kind == 'moving' else ''}, {load:g}",
                    **{row: verdict.mean(row) for row in rows},
                    **{
                        f"link {row}": 1 - mean([m["starved"] for m in verdict.measures[row]]) for row in rows
                    },
                }
            )
    return {"fabric": "by hand", "lines": lines}


def mean(values: list[float]) -> float:
    """Return the mean."""
    return math.fsum(values) / len(values)


def read() -> list[dict[str, Any]]:
    """Return the stored measurements."""
    return [json.loads(line) for line in DATA.read_text().splitlines()] if DATA.exists() else []


def keep(found: dict[str, Any]) -> None:
    """Store a fabric's measurements and replace earlier ones."""
    lines = [each for each in read() if each["fabric"] != found["fabric"]]
    order = [*FABRICS, "by hand"]
    lines = sorted([*lines, found], key=lambda each: order.index(each["fabric"]))
    DATA.write_text("".join(json.dumps(each) + "\n" for each in lines))


def table(rows: list[list[str]], head: list[str]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables() -> str:
    """Return the generated part of the page."""
    known = {each["fabric"]: each for each in read()}
    parts = ["### Six fabrics", bench(known), "### By contributors", classes(known)]
    parts += [
        "### Prices, stated and measured",
        stated(known),
        "### becalm's guideline elsewhere",
        foreign(known),
    ]
    if "by hand" in known:
        lines = known["by hand"]["lines"]
        rows = [key for key in lines[0] if key != "case" and not key.startswith("link ")]
        parts += [
            "### Cases by hand",
            table([hand(each, rows) for each in lines], ["contributors, load", *rows]),
        ]
    return "\n\n".join(parts)


def hand(line: dict[str, Any], rows: list[str]) -> list[str]:
    """Return a row of the table of cases by hand."""
    return [line["case"], *(f"{line[row]:.3f} ({line[f'link {row}']:.2f})" for row in rows)]


def verdict_of(each: dict[str, Any]) -> Verdict:
    """Return the stored verdict on test cases, without measures."""
    return Verdict(each["losses"], each["classes"], {})


def bench(known: dict[str, Any]) -> str:
    """Return the table of mean losses."""
    lines = []
    for name in (each for each in BENCH if each in known):
        test, row = verdict_of(known[name]), known[name]["recommended"]
        published = [other for other in ("pfister2005", "gran2010", "now") if other in test.losses]
        other = min(published, key=test.mean)
        shown = [f"{test.mean(each):.3f}" if each in test.losses else "-" for each in ROWS]
        if row is None or row == WITHOUT:
            lines.append([name, *shown, "leave it" if row is None else "no control", "-", "-"])
            continue
        ratios = [ratio(test, row, against) for against in (other, WITHOUT)]
        lines.append([name, *shown, row, f"{ratios[0]} {other}", ratios[1]])
    return table(
        lines, ["fabric", *ROWS, "recommended", "relative to the best alternative", "relative to no control"]
    )


ROWS = (WITHOUT, "now", "pfister2005", "gran2010", "becalm", "tuned", "no regret")


def ratio(test: Verdict, row: str, other: str) -> str:
    """Return a row's mean loss as a share of another row's, and the interval of the difference."""
    gap = test.difference(row, other)
    return f"{test.mean(row) / test.mean(other):.2f} ({gap.mean:+.3f}, {gap.low:+.3f} to {gap.high:+.3f})"


def classes(known: dict[str, Any]) -> str:
    """Return the table of differences from no control by class of contributors."""
    lines = []
    for name in (each for each in BENCH if each in known):
        test = verdict_of(known[name])
        for row in ("becalm", "tuned", "no regret"):
            if row not in test.losses:
                continue
            cells = []
            for group in ("2-4", "5-16", "more", "none", ALL):
                if group != ALL and group not in test.present:
                    cells.append("-")
                    continue
                gap = test.difference(row, WITHOUT, group)
                cells.append(f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})")
            lines.append([name, row, *cells])
    return table(lines, ["fabric", "with", "2-4", "5-16", "more", "none", "all"])


def stated(known: dict[str, Any]) -> str:
    """Return the table of prices, as stated in the answers and as measured on test cases."""
    lines = []
    for name in (each for each in BENCH if each in known):
        for what, found in (
            (known[name]["recommended"], known[name]["prices"]),
            (f"no regret: {known[name]['careful']['recommended']}", known[name]["careful"]["prices"]),
        ):
            cells = [
                f"{found[group][0]:+.3f}, {found[group][1]:+.3f}" if group in found else "-"
                for group in ("2-4", "5-16", "more", "none", ALL)
            ]
            lines.append([name, str(what or "leave it"), *cells])
    return table(lines, ["fabric", "recommended", "2-4", "5-16", "more", "none", "all"])


def foreign(known: dict[str, Any]) -> str:
    """Return the table of guidelines on fabrics that were not used to derive becalm's guideline."""
    lines = []
    for name in (each for each in FOREIGN if each in known):
        test = verdict_of(known[name])
        for group in ("2-4", "5-16", "more", ALL):
            own = [each for each in ("becalm", "tuned") if each in test.losses]
            rows = [WITHOUT, "pfister2005", "gran2010", *own]
            lines.append([name, group, *(f"{test.mean(row, group):.3f}" for row in rows)])
    return table(lines, ["fabric", "contributors", WITHOUT, "pfister2005", "gran2010", "becalm", "tuned"])


def main() -> None:
    """Run the bench on some or all fabrics, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fabrics", nargs="*", choices=[*FABRICS, "by hand", []])
    parser.add_argument("--minutes", type=float, default=2.0)
    arguments = parser.parse_args()
    for name in arguments.fabrics or [*FABRICS, "by hand"]:
        keep(by_hand() if name == "by hand" else measured(name, arguments.minutes))
        print(name, "done", flush=True)
    markers.write("make advice", f"\n{tables()}\n\n")


if __name__ == "__main__":
    main()
