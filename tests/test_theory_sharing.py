"""Rates of flows by port fairness and max-min fairness, against manual calculations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from becalm.theory import max_min_rates, port_fair_rates

NEAR = ["D", "R"]


def far(source: str, *switches: str) -> list[str]:
    """Return a path through switches to the receiver."""
    return [source, *(f"{a}-{b}" for a, b in pairwise(switches)), f"{switches[-1]}-T", "R"]


ONE_PORT = [far(source, "T1", "L1", "L3") for source in "abc"]
TWO_PORTS = [*ONE_PORT[:2], far("c", "T1", "L2", "L4")]
MERGED = [far(source, "T1", link, "S", "L3") for source, link in zip("abc", ("L1", "L1", "L2"), strict=True)]
HELD_BACK = [far("a", "T1", "L1", "L3"), far("b", "T1", "L1", "L4"), far("c", "T1", "L2", "L3")]


@pytest.mark.parametrize(
    ("paths", "rates"),
    [
        # Half for the port with a single flow, and half for the port with three flows.
        (ONE_PORT, (1 / 6, 1 / 6, 1 / 6, 1 / 2)),
        # A third for each of three ports.
        (TWO_PORTS, (1 / 6, 1 / 6, 1 / 3, 1 / 3)),
        # One half is divided between two ports, one of which serves two flows.
        (MERGED, (1 / 8, 1 / 8, 1 / 4, 1 / 2)),
        # b waits behind a on their first link: x each, so 2 x on the port of a and c, and on the port of D.
        (HELD_BACK, (1 / 5, 1 / 5, 1 / 5, 2 / 5)),
    ],
)
def test_shares_of_ports_by_hand(paths: list[list[str]], rates: tuple[float, ...]) -> None:
    np.testing.assert_allclose(port_fair_rates([*paths, NEAR]), rates, rtol=1e-6)
    np.testing.assert_allclose(max_min_rates([*paths, NEAR]), 1 / 4)


def test_the_parking_lot_halves_at_every_merge() -> None:
    """Share of a flow over a link to a switch where others join: all, a half, a quarter, a sixth."""
    others = (["H3", "S1-S2", "R"], ["H6", "R"], ["H7", "R"])
    for number, share in enumerate((1, 1 / 2, 1 / 4, 1 / 6)):
        paths = [["H2", "S1-S2", "R"], *others[:number]]
        assert port_fair_rates(paths)[0] == pytest.approx(share, rel=1e-6)


def test_a_victim_gets_what_the_flows_beside_it_get() -> None:
    paths = [["v", "T1-L1", "L1-T2", "B"], far("a", "T1", "L1", "L3"), far("b", "T1", "L1", "L3")]
    paths += [far("c", "T1", "L2", "L4"), far("d", "T1", "L2", "L4")]
    np.testing.assert_allclose(port_fair_rates(paths, 40), 10, rtol=1e-6)
    np.testing.assert_allclose(max_min_rates(paths, 40), [20, 10, 10, 10, 10])
    joined = [*paths, ["x", "T3-L3", "L3-T", "R"], ["y", "T3-L4", "L4-T", "R"]]
    np.testing.assert_allclose(port_fair_rates(joined, 40), [5, 5, 5, 5, 5, 10, 10], rtol=1e-6)


def test_flows_of_one_source_share_its_link() -> None:
    np.testing.assert_allclose(port_fair_rates([["a", "x"], ["a", "y"], ["b", "y"]]), [0.5, 0.5, 0.5])
    # The flow to y leaves two thirds of the link to its source's other flow.
    np.testing.assert_allclose(max_min_rates([["a", "x"], ["a", "y"], ["b", "y"], ["c", "y"]])[0], 2 / 3)


def test_bad_paths_are_named() -> None:
    with pytest.raises(ValueError, match=r"^paths: path 1 has no links$"):
        port_fair_rates([["a"], []])
    with pytest.raises(ValueError, match=r"^paths: path 0 has no links$"):
        max_min_rates([[]])
    with pytest.raises(ValueError, match="links wait for each other in a cycle: "):
        port_fair_rates([["a", "b"], ["b", "a"]])
