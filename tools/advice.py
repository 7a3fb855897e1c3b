"""Bench of `becalm tune` on cases that no search has seen. Writes the tables of docs/advice.md.

    python tools/advice.py [FABRIC ...] [--minutes M] [--workers N] [--only guidelines|tuning|page|print]

It runs all guidelines on drawn test cases of each fabric, tunes the fabric, with and without `no_regret`, and
runs the tuned parameters on the same cases. docs/advice.jsonl keeps the losses, one line per fabric. The
page shows the means, and classes of the recommended rows; `--only print` prints the classes of all rows.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import markers

import becalm
from becalm.manager import ROCE as MANAGED
from becalm.manager import guidelines_for
from becalm.runs.engines import Processes
from becalm.store import Store
from becalm.tunings import Case, Population, Tuned
from becalm.tunings.evaluate import Evaluator
from becalm.tunings.population import TEST
from becalm.tunings.space import space_of
from becalm.tunings.verdict import ALL, NOW, WITHOUT, Verdict, judged, rows_of

DATA = Path(__file__).parents[1] / "docs" / "advice.jsonl"
CASES, CASES_CLOS = 60, 30
"""Numbers of drawn test cases per fabric."""
TRIALS_CLOS = 15
"""Number of trials of Kmin, Kmax and Pmax."""
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


def tree(levels: str, rate: str, buffer: str, more: str = IBTA, delay: str = "40 ns") -> becalm.Scenario:
    """Return a fat tree with levels in the scenario's form."""
    return fabric("fat_tree", f'levels = [{levels}]\ndelay = "{delay}"', rate, buffer, 1, more)


def fabric(topology: str, shape: str, rate: str, buffer: str, vls: int, more: str = IBTA) -> becalm.Scenario:
    """Return a scenario with a topology."""
    text = COMMON.format(topology=topology, shape=shape, rate=rate, buffer=buffer, vls=vls, more=more)
    return becalm.Scenario(text, name="fabric")


def dragonfly(switches: int, rate: str) -> becalm.Scenario:
    """Return a dragonfly with two hosts and two global links per switch."""
    shape = f"switches_per_group = {switches}\nhosts_per_switch = 2\nglobal_links = 2"
    shape += '\ndelay = "10 ns"\nglobal_delay = "150 ns"'
    return fabric("dragonfly", shape, rate, "64 KiB", 2)


def clos(leaves: int, hosts: int, spines: int, rate: str, shared: str, alpha: float) -> becalm.Scenario:
    """Return a RoCE fabric with the thresholds of SONiC's template, 30 m of cable, and ConnectX adapters."""
    return becalm.Scenario(
        f"""\
[run]
duration = "3 ms"
[topology.clos]
leaves = {leaves}
hosts_per_leaf = {hosts}
spines = {spines}
rate = "{rate}"
delay = "150 ns"
[packet]
mtu = "4096 B"
header = "78 B"
ack = "84 B"
cnp = "84 B"
[switch]
forwarding_delay = "300 ns"
arbiter.round_robin = {{}}
paths.flow = {{}}
[switch.flow_control.pfc.thresholds.dynamic]
alpha = {alpha}
shared = "{shared}"
[marking.ramp]
kmin = 1048.576
kmax = 2097.152
pmax = 0.05
[echo.rocev2]
[response.dcqcn]
preset = "connectx"
[[flows]]
name = "background"
from = ["*"]
to = ["*"]
traffic.poisson.load = 0.3
""",
        name="fabric",
    )


CLOS = {
    "RoCE Clos, 32 hosts, 25 Gb/s": clos(4, 8, 4, "25 Gb/s", "8 MB", 0.5),
    "RoCE Clos, 24 hosts, 100 Gb/s": clos(3, 8, 4, "100 Gb/s", "24 MB", 1.0),
    "RoCE Clos, 16 hosts, 400 Gb/s": clos(4, 4, 2, "400 Gb/s", "64 MB", 0.25),
}
"""Fabrics for the thresholds of RoCE's switches. No search for becalm's guideline has used them."""
FABRICS = {
    "20 hosts, 8 Gb/s, 16 KiB": tree("{children = 5}, {children = 4, parents = 5}", "8 Gb/s", "16 KiB"),
    "24 hosts, FDR, 2:1, 100 m": tree(
        "{children = 8}, {children = 3, parents = 4}", "54.5 Gb/s", "48 KiB", delay="500 ns"
    ),
    "one switch, 32 hosts": tree("{children = 32}", "56 Gb/s", "64 KiB"),
    "torus, 24 hosts": fabric("torus", 'sides = [3, 4, 2]\ndelay = "40 ns"', "100 Gb/s", "64 KiB", 2),
    "36 hosts, 4:1": tree("{children = 12}, {children = 3, parents = 3}", "25 Gb/s", "48 KiB"),
    "dragonfly, 42 hosts, 200 Gb/s": dragonfly(3, "200 Gb/s"),
    "48 hosts, 200 Gb/s, 2:1": tree("{children = 12}, {children = 4, parents = 6}", "200 Gb/s", "64 KiB"),
    **CLOS,
    "RoCE, 32 hosts": tree("{children = 8}, {children = 4, parents = 4}", "100 Gb/s", "128 KiB", ROCE),
}
"""No search for a guideline has used these fabrics, except the fifth for becalm's first guideline."""


def guided(name: str, workers: int | None) -> dict[str, Any]:
    """Return the losses of all guidelines on test cases of a fabric."""
    population = Population(FABRICS[name])
    rows = rows_of(FABRICS[name], population.range[1], guidelines_for(FABRICS[name]))
    verdict = run(rows, population.draw(CASES_CLOS if name in CLOS else CASES, TEST), workers)
    return {"losses": rounded(verdict), "classes": list(verdict.classes)}


def thresholds(name: str, workers: int | None) -> dict[str, Any]:
    """Tune Kmin, Kmax and Pmax on a fabric, and return the losses on the same test cases as `guided`."""
    population = Population(FABRICS[name])
    whole = space_of(FABRICS[name], population.range[1])
    ranges = {key: each for key, each in whole.ranges.items() if key.startswith("marking.ramp.")}
    space = replace(whole, ranges=ranges)
    found = becalm.tune(population, space=space, trials=TRIALS_CLOS, engine=partial(_processes, workers))
    rows = {"tuned": found.controls["tuned"]}
    losses = rounded(run(rows, population.draw(CASES_CLOS, TEST), workers))
    return {
        "tuning": {
            "minutes": 0,
            "trials": found.trials.height,
            "answer": found.answer(),
            "parameters": found.best,
            "losses": {"tuned": losses["tuned"]},
            "stated": {"tune": {"recommended": chosen(found), "losses": stated_of(found)}},
        }
    }


def tuned(name: str, minutes: float, workers: int | None) -> dict[str, Any]:
    """Tune on a fabric, and return the answers and the losses of the tuned rows on test cases."""
    population = Population(FABRICS[name])
    engine = partial(_processes, workers)
    best = becalm.tune(population, minutes=minutes, engine=engine)
    careful = becalm.tune(population, minutes=minutes / 2, no_regret=True, engine=engine)
    rows = {
        WITHOUT: best.controls[WITHOUT],
        "tuned": best.controls["tuned"],
        "no regret": careful.controls["tuned"],
    }
    losses = rounded(run(rows, population.draw(CASES, TEST), workers))
    return {
        "tuning": {
            "minutes": minutes,
            "trials": best.trials.height,
            "answer": best.answer(),
            "parameters": best.best,
            "losses": {row: losses[row] for row in ("tuned", "no regret")},
            "stated": {
                what: {"recommended": chosen(each), "losses": stated_of(each)}
                for what, each in (("tune", best), ("no regret", careful))
            },
        }
    }


def rounded(verdict: Verdict) -> dict[str, list[float]]:
    """Return the losses of all rows with five digits."""
    return {row: [round(loss, 5) for loss in own] for row, own in verdict.losses.items()}


def chosen(found: Tuned) -> str | None:
    """Return the chosen row; None if the settings stay."""
    return None if found.recommended == NOW else found.recommended


def stated_of(found: Tuned) -> dict[str, float]:
    """Return the loss of the chosen row against no control by class, as stated."""
    row = chosen(found)
    if row in (None, WITHOUT):
        return {}
    return {
        group: round(found.verdict.difference(row, WITHOUT, group).mean, 4)
        for group in (*found.verdict.present, ALL)
    }


def run(rows: dict[str, dict[str, Any]], cases: list[Case], workers: int | None) -> Verdict:
    """Run rows on cases and return the verdict."""
    with tempfile.TemporaryDirectory(prefix="becalm-advice-") as folder:
        store, engine = Store(folder), Processes(workers)
        try:
            found = Evaluator(cases, store, engine).evaluate(rows, cases, [1])
        finally:
            engine.close()
    return judged(found, cases, list(rows))


def _processes(workers: int | None, _: Store) -> Processes:
    return Processes(workers)


def read() -> list[dict[str, Any]]:
    """Return the stored measurements."""
    return [json.loads(line) for line in DATA.read_text().splitlines()] if DATA.exists() else []


def keep(name: str, found: dict[str, Any]) -> None:
    """Add measurements of a fabric to the stored ones, or replace them."""
    known = {each["fabric"]: each for each in read()}
    known[name] = {"fabric": name, **known.get(name, {}), **found}
    order = list(FABRICS)
    lines = sorted(known.values(), key=lambda each: order.index(each["fabric"]))
    DATA.write_text("".join(json.dumps(each) + "\n" for each in lines))


def table(rows: list[list[str]], head: list[str]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def verdict_of(each: dict[str, Any]) -> Verdict:
    """Return the stored verdict on test cases, without measures."""
    return Verdict({**each["losses"], **each.get("tuning", {}).get("losses", {})}, each["classes"], {})


ROWS = (
    WITHOUT,
    "now",
    "pfister2005",
    "gran2010",
    "becalm",
    "becalm2_opensm",
    "becalm2",
    "tuned",
    "no regret",
)
GROUPS = ("2-4", "5-16", "more", "none", ALL)


def means(known: list[dict[str, Any]]) -> str:
    """Return the table of mean losses."""
    lines = []
    for each in known:
        test = verdict_of(each)
        lines.append(
            [each["fabric"], *(f"{test.mean(row):.3f}" if row in test.losses else "-" for row in ROWS)]
        )
    return table(lines, ["fabric", *ROWS])


def classes(known: list[dict[str, Any]], rows: tuple[str, ...] = ROWS[2:]) -> str:
    """Return the table of differences from no control by class of contributors."""
    lines = []
    for each in known:
        test = verdict_of(each)
        for row in rows:
            if row in test.losses:
                lines.append([each["fabric"], row, *(difference(test, row, WITHOUT, one) for one in GROUPS)])
    return table(lines, ["fabric", "with", *GROUPS])


def second(known: list[dict[str, Any]]) -> str:
    """Return the table of the second guideline against the first."""
    lines = []
    for each in known:
        test = verdict_of(each)
        if "becalm2" not in test.losses:
            continue
        ratio = f"{test.mean('becalm2') / test.mean('becalm'):.2f}"
        lines.append([each["fabric"], ratio, *(difference(test, "becalm2", "becalm", one) for one in GROUPS)])
    return table(lines, ["fabric", "mean loss, relative", *GROUPS])


def difference(test: Verdict, row: str, other: str, group: str) -> str:
    """Return a difference between two rows in a class, with its interval."""
    if group != ALL and group not in test.present:
        return "-"
    gap = test.difference(row, other, group)
    if gap.mean == gap.low == gap.high == 0:
        return "0"
    if math.isinf(gap.high):
        return f"{gap.mean:+.3f} (one case)"
    return f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"


def stated(known: list[dict[str, Any]]) -> str:
    """Return the table of prices, as stated in the answers and as measured on test cases."""
    lines = []
    for each in known:
        test = verdict_of(each)
        for what, said in each.get("tuning", {}).get("stated", {}).items():
            row = said["recommended"]
            there = "no regret" if (what, row) == ("no regret", "tuned") else row
            cells = [
                f"{said['losses'][one]:+.3f}, {test.difference(there, WITHOUT, one).mean:+.3f}"
                if one in said["losses"] and (one == ALL or one in test.present)
                else "-"
                for one in GROUPS
            ]
            lines.append([each["fabric"], what, str(row or "leave it"), *cells])
    return table(lines, ["fabric", "command", "recommended", *GROUPS])


CLOS_ROWS = (WITHOUT, *MANAGED, "tuned")


def roce_means(known: list[dict[str, Any]]) -> str:
    """Return the table of mean losses with thresholds of RoCE's switches."""
    lines = [
        [
            each["fabric"],
            *(f"{verdict_of(each).mean(row):.3f}" for row in CLOS_ROWS if row in verdict_of(each).losses),
        ]
        for each in known
    ]
    return table(lines, ["fabric", *CLOS_ROWS])


def tables() -> str:
    """Return the generated part of the page."""
    known, clos = fabrics()
    parts = ["### Mean loss", means(known)]
    shown = ("becalm2", "tuned", "no regret")
    parts += ["### By contributors, compared with no control", classes(known, shown)]
    parts += ["### Thresholds of RoCE's switches: mean loss", roce_means(clos)]
    return "\n\n".join(parts)


def fabrics() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines of all fabrics but the Clos ones, and those of all RoCE fabrics."""
    every = read()
    known = [each for each in every if each["fabric"] not in CLOS]
    return known, [each for each in every if each["fabric"] in (*CLOS, "RoCE, 32 hosts")]


def main() -> None:
    """Run the bench on some or all fabrics, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fabrics", nargs="*", choices=[*FABRICS, []])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", choices=("guidelines", "tuning", "page", "print"))
    arguments = parser.parse_args()
    known, clos = fabrics()
    if arguments.only == "print":
        print(classes(known), second(known), stated(known), classes(clos, CLOS_ROWS[1:]), sep="\n\n")
        return
    for name in arguments.fabrics or FABRICS:
        if arguments.only in (None, "guidelines"):
            keep(name, guided(name, arguments.workers))
        if arguments.only in (None, "tuning"):
            if name in CLOS:
                keep(name, thresholds(name, arguments.workers))
            else:
                keep(name, tuned(name, arguments.minutes, arguments.workers))
        print(name, "done", flush=True)
    markers.write("make advice", f"\n{tables()}\n\n")


if __name__ == "__main__":
    main()
