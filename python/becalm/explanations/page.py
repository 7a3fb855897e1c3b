"""The page of the rules, written from the rules themselves."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

from becalm.analysis import limits
from becalm.explanations.model import TOPICS
from becalm.explanations.rules import RULES

_INTRODUCTION = """\
# The rules of `becalm explain`

`make docs` writes this page from the rules themselves. `becalm explain RESULTS` describes the tables of a
run in words. Each sentence comes from one of these rules and names the rows of its numbers, such as
`tree[9]`: row 9 of the [table](results.md) `tree`, counted from 0. `--json` has the numbers without rounding.
A rule writes no sentence if the tables lack its data. The bottleneck that costs victims most comes first.
Proposed commands run as printed, with the changes of the run; becalm prints no command that would fail.

In Python, `becalm.explain(results)` returns the sentences, and its property `causes` only the causes.

## Words

- A *bottleneck* is an output of a switch where congestion begins, or would begin without control. It
  has `contributors` in the table `tree`.
  [The model](model.md#roots-branches-contributors-and-victims) defines roots, branches, contributors and
  victims; the sentences read them from the tables.
- The traffic that a flow *offers* is the column `offered` of the table `flows`.

## Causes of bottlenecks

A sentence names the first cause that applies. A credit loop is always reported.

"""

_CAUSES = {
    "pause storm": "a host pauses its switch for half of the window, and pauses reach two other nodes",
    "slow receiver": "the link leads to a host, waits for credit and is not full",
    "slow cable": "the rate falls during the run (`[[changes]]`); or the cable is slower than "
    "most between the "
    "same levels, and the usual rate would suffice",
    "hot host": "several hosts offer more than the link carries, nearly all of it to one host",
    "unbalanced routes": "more pairs of hosts use this link than the switch's other links to the same "
    "level, which have free capacity",
    "path collision": "flows with hashed paths share the link, while equal links are almost idle",
    "colliding jobs": "several groups of flows cross the link; each would fit alone",
    "oversubscribed link": "flows offer more than it carries",
    "credit loop": "the paths of the flows have a cycle of links in which each may wait for the next",
}


def page() -> str:
    """Return the page of all rules and limits, as Markdown."""
    lines = ["| cause | when |", "|---|---|", *(f"| {name} | {when} |" for name, when in _CAUSES.items())]
    lines += ["\n## Rules\n", "| rule | section | effect |", "|---|---|---|"]
    lines += [f"| `{rule.name}` | {TOPICS[rule.topic]} | {rule.says} |" for rule in RULES]
    lines += ["\n## Limits\n", "| limit | value | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {value} | {meaning} |" for name, value, meaning in _limits()]
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _limits() -> list[tuple[str, float, str]]:
    """Return the constants of the module of limits with the text after each."""
    body = ast.parse(Path(limits.__file__).read_text(encoding="utf-8")).body
    found = []
    for one, other in pairwise(body):
        if (
            isinstance(one, ast.Assign)
            and isinstance(other, ast.Expr)
            and isinstance(other.value, ast.Constant)
        ):
            (target,) = one.targets
            name = ast.unparse(target)
            found.append((name, getattr(limits, name), " ".join(str(other.value.value).split())))
    return found
