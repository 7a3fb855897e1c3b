"""How good the choices of `becalm tune` are on few cases: draws from the losses of docs/advice.jsonl.

    python tools/choices.py [--draws 400]

Each draw picks cases of a fabric with replacement. Two rules choose among no control and the guidelines: the
row that is significantly better than no control (`significant`), and that of `becalm tune` (`tune`). Their
excess is the loss of the chosen row on all cases of the fabric, minus that of the best row. The last column
is the share of draws in which `tune` changes the settings although no guideline has an effect on average.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from becalm.tunings.tuned import choice
from becalm.tunings.verdict import NOW, WITHOUT, Verdict

LOSSES = Path("docs/advice.jsonl")
SIZES = (12, 24, 60)
"""Numbers of cases in a draw."""
NEAR = 0.01
"""Largest excess of a good choice."""
SEARCHED = (NOW, "tuned", "no regret")
"""Rows that are not standing ones."""

Losses = Mapping[str, Sequence[float]]


def standing(line: str) -> tuple[str, Losses]:
    """Return the fabric and the losses of its standing rows."""
    read = json.loads(line)
    return read["fabric"], {row: own for row, own in read["losses"].items() if row not in SEARCHED}


def without_effect(losses: Losses) -> Losses:
    """Return losses whose rows all have the mean of no control."""
    free = mean(losses[WITHOUT])
    return {row: [each - mean(own) + free for each in own] for row, own in losses.items()}


def chosen(losses: Losses, places: Sequence[int]) -> tuple[str, str]:
    """Return the rows that both rules choose on some cases."""
    drawn = {row: [own[place] for place in places] for row, own in losses.items()}
    verdict = Verdict(drawn, ["all"] * len(places), {})
    tune = choice(verdict, [])
    return verdict.recommended or WITHOUT, WITHOUT if tune == NOW else tune


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(values) / len(values)


def measure(fabric: str, losses: Losses, size: int, draws: int) -> list[float]:
    """Return the mean excess and the bad choices of both rules, and the needless changes, as shares."""
    made = random.Random(f"{fabric} {size}")
    count, none = len(losses[WITHOUT]), without_effect(losses)
    best = min(mean(own) for own in losses.values())
    excesses: list[tuple[float, ...]] = []
    changed = 0
    for _ in range(draws):
        places = made.choices(range(count), k=size)
        excesses.append(tuple(mean(losses[one]) - best for one in chosen(losses, places)))
        changed += chosen(none, places)[1] != WITHOUT
    found = []
    for own in zip(*excesses, strict=True):
        found += [mean(own), mean([each > NEAR for each in own])]
    return [*found, changed / draws]


def line(fabric: str, size: int, found: Sequence[float]) -> str:
    """Return a row of the table."""
    one, bad, other, worse, changed = found
    return f"| {fabric} | {size} | {one:.3f} | {bad:.0%} | {other:.3f} | {worse:.0%} | {changed:.0%} |"


def main(draws: int) -> None:
    """Print the table, and the means over the fabrics."""
    head = "fabric", "cases", "significant", f"above {NEAR}", "tune", f"above {NEAR}", "without effect"
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    known = [standing(each) for each in LOSSES.read_text().splitlines()]
    for size in SIZES:
        found = [(fabric, measure(fabric, losses, size, draws)) for fabric, losses in known]
        lines += [line(fabric, size, each) for fabric, each in found]
        lines.append(
            line("mean", size, [mean(own) for own in zip(*(each for _, each in found), strict=True)])
        )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the choices of `becalm tune` on few cases.")
    parser.add_argument("--draws", type=int, default=400, help="number of draws; default: 400")
    main(parser.parse_args().draws)
