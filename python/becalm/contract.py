"""Checks of a user-defined scheme against the rules for all schemes: in isolation, and on a small fabric."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from becalm._core import drive
from becalm.base.errors import BecalmError, ScenarioError
from becalm.base.progress import Steps
from becalm.base.progress import steps as counted
from becalm.results import Results
from becalm.runs import run
from becalm.scenario import Scenario
from becalm.schemes.loading import Provided

_SEQUENCES, _STEPS = 50, 300
"""Number of random sequences of notices, and their length."""
_US = 10**6
_FREE = 2**32 - 1

_SCENE = """
[run]
duration = "{duration}"
seed = {seed}
[topology.dumbbell]
remote = 4
local = 4
[switch]
buffer = "4 packets"
{control}
[[flows]]
name = "remote"
from = ["A1..A4"]
to = ["BC"]
[[flows]]
name = "local"
from = ["B1..B4"]
to = ["BC"]
"""
_ALONE = """
[run]
duration = "1 ms"
[topology.dumbbell]
{control}
[[flows]]
name = "alone"
from = ["A1"]
to = ["BC"]
traffic.poisson = {{load = 0.05, message = "2 KiB"}}
"""

Step = tuple[str, int, int, int, int]


class Checked(NamedTuple):
    """A rule, and the result of its check."""

    rule: str
    holds: bool
    detail: str
    """Description of the test or of the finding."""


def check_scheme(scheme: Provided, progress: Steps | None = None) -> list[Checked]:
    """Check a user-defined scheme, with its default parameters, against all rules in order.

    `progress` is called before each rule and at the end.
    """
    rules = [*_RESPONSE, *_ANY] if scheme.core.seam == "response" else _ANY
    found = []
    for rule, check in counted(rules, progress):
        try:
            found.append(Checked(rule, True, check(scheme)))
        except (AssertionError, BecalmError) as error:
            found.append(Checked(rule, False, str(error)))
    return found


def _sequence(source: random.Random) -> list[Step]:
    """Return random notices, mostly ACKs, with packets between them."""
    now, steps = 0, []
    for _ in range(_STEPS):
        now += source.randrange(1, 40_000_000)
        kind = source.choices(("ack", "sent", "becn", "restart"), (24, 24, 1, 1))[0]
        covers = source.randrange(1, 4)
        marked = source.randrange(0, covers + 1) if source.random() < 0.3 else 0
        rtt = source.choice((5, 6, 50, 50_000)) * _US
        steps.append((kind, now, marked, covers, rtt))
    return steps


def _sequences() -> Iterator[list[Step]]:
    for seed in range(_SEQUENCES):
        yield _sequence(random.Random(seed))


def _driven(scheme: Provided, *flows: list[Step]) -> list[list[tuple[float, int, int | None]]]:
    paces, failure = drive(scheme.core, list(flows))
    assert failure is None, failure
    return paces


def _bounds(scheme: Provided) -> str:
    least, most = 1.0, 0.0
    for steps in _sequences():
        (paces,) = _driven(scheme, steps)
        least = min(least, *(1 / (1 + gap) for gap, _, _ in paces))
        most = max(most, *(1 / (1 + gap) for gap, _, _ in paces))
    return f"{_SEQUENCES} sequences of {_STEPS} notices: rates from {least:.3g} to {most:.3g} of the link's"


def _repeats(scheme: Provided) -> str:
    for steps in _sequences():
        assert _driven(scheme, steps) == _driven(scheme, steps), (
            "the same notices lead to a different pace the second time"
        )
    return f"the same notices lead to the same paces in all {_SEQUENCES} sequences"


def _apart(scheme: Provided) -> str:
    sequences = list(_sequences())
    for one, other in itertools.pairwise(sequences):
        together = _driven(scheme, one, other)
        apart = [*_driven(scheme, one), *_driven(scheme, other)]
        assert together == apart, "a flow behaves differently next to another flow: they share state"
    return f"{_SEQUENCES - 1} pairs of flows behave the same together and alone"


def _allowed(pace: tuple[float, int, int | None]) -> float:
    """Return a measure of the rate that a pace allows, only for comparisons."""
    gap, window, _ = pace
    return min(window, _FREE) / (1 + gap)


def _slows(scheme: Provided) -> str:
    def steps(congested: bool) -> list[Step]:
        rtt = (5_000 if congested else 5) * _US
        return [("ack", (number + 1) * 10 * _US, int(congested), 1, rtt) for number in range(1000)]

    (calm,), (pressed,) = _driven(scheme, steps(False)), _driven(scheme, steps(True))
    slow, fast = _allowed(pressed[-1]), _allowed(calm[-1])
    assert slow < fast or scheme.core.trails, (
        "after 1000 ACKs with marks and long round trips, it sends no more slowly than after 1000 without: "
        f"{slow:.3g} and {fast:.3g}"
    )
    return (
        f"after 1000 ACKs that report congestion, it may send {slow / fast:.3g} times as fast as after "
        "1000 others"
    )


def _companions(seam: str) -> str:
    own = {
        "response": "[marking.input_triggered]\n[response.external]\nname = '{}'",
        "marking": "[marking.external]\nname = '{}'\n[response.lipd]",
        "echo": "[marking.input_triggered]\n[echo.external]\nname = '{}'\n[response.lipd]",
    }
    return own[seam]


def _on(text: str, scheme: Provided, **values: object) -> Scenario:
    control = _companions(scheme.core.seam).format(scheme.core.name)
    try:
        return Scenario(text.format(control=control, **values), name="check", schemes=[scheme])
    except ScenarioError as error:
        # A response that does not react to marks does not need them.
        if scheme.core.seam != "response":
            raise BecalmError(str(error)) from error
        control = control.replace("[marking.input_triggered]\n", "")
        return Scenario(text.format(control=control, **values), name="check", schemes=[scheme])


def _runs(scheme: Provided) -> str:
    results = _run(scheme)
    again = _run(scheme)
    assert results.fingerprint == again.fingerprint, "a second run of the same scenario has different results"
    shares = ", ".join(f"{share:.2f}" for share in results.groups["share"].to_list())
    return f"8 flows to one host: guards held, same fingerprint twice; shares of remote and local: {shares}"


def _run(scheme: Provided, seed: int = 1) -> Results:
    return run(_on(_SCENE, scheme, duration="5 ms", seed=seed), threads=1)


def _calm(scheme: Provided) -> str:
    results = run(_on(_ALONE, scheme), threads=1)
    marked = int(results.flows["marked_packets"].sum()) if "marked_packets" in results.flows.columns else 0
    assert marked == 0, f"{marked} packets of a lone flow at 5% load are marked"
    return "a lone flow at 5% load: no marks"


_RESPONSE: list[tuple[str, Callable[[Provided], str]]] = [
    ("paces within bounds", _bounds),
    ("the same notices, the same paces", _repeats),
    ("flows share no state", _apart),
    ("slower under congestion", _slows),
]
_ANY: list[tuple[str, Callable[[Provided], str]]] = [("runs on a fabric", _runs), ("calm when idle", _calm)]
