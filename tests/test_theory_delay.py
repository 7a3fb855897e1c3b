"""Closed forms of TIMELY, Swift and HPCC against manual calculations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from becalm.theory import Hpcc, PatchedTimely, Swift


def test_patched_timely_at_rest() -> None:
    assert [PatchedTimely(n).round_trip * 1e6 for n in (2, 10, 64)] == pytest.approx([62.5, 112.5, 450])
    # 10 Gb/s and 20 us: 53.1 and 115.6 kB.
    assert [PatchedTimely(n).queue(1.25e9, 20e-6) for n in (2, 10)] == pytest.approx([53_125, 115_625])
    assert PatchedTimely(2).queue(1.25e9, 70e-6) == 0
    # Increases and decreases cancel out, with a weight of 1/2 and equal shares.
    law = PatchedTimely(10)
    excess = law.round_trip / law.t_low - 1
    assert law.delta / 2 == pytest.approx(0.1 * law.beta / 2 * excess)


def test_a_fixed_point_beyond_the_upper_threshold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"flows: 73; the fixed point must lie below t_high = 0\.0005 s"):
        PatchedTimely(73)
    with pytest.raises(ValueError, match="flows: 0; must be 1 or more"):
        PatchedTimely(0)


def test_the_target_of_swift() -> None:
    law = Swift(base=10e-6, per_hop=1e-6, hops=3)
    assert law.target(200) == pytest.approx(13e-6)
    assert law.target(0.01) == law.target(0.1) == pytest.approx(63e-6)
    assert law.target(0.25) == pytest.approx(13e-6 + 50e-6 * 1.9 / (math.sqrt(10) - 0.1))
    assert Swift(base=10e-6, range=0.0).target(0.25) == pytest.approx(12e-6)
    assert law.swing(100, 12.5e6) == pytest.approx(8e-6)


@given(st.integers(1, 5000), st.floats(1e-6, 1e-4), st.floats(1e5, 1e8))
def test_the_standing_round_trip_is_the_target_of_its_window(flows: int, base: float, link: float) -> None:
    law = Swift(base=base)
    standing = law.standing(flows, link)
    assert law.target(link * standing / flows) == pytest.approx(standing, rel=1e-9)
    assert law.base < standing <= law.target(law.smallest)
    assert law.standing(flows + 1, link) >= standing * (1 - 1e-12)


def test_mistakes_in_the_target_of_swift() -> None:
    with pytest.raises(ValueError, match="window: 0; must be positive"):
        Swift(base=1e-5).target(0)
    with pytest.raises(ValueError, match="smallest, largest: 2, 1; must satisfy 0 < smallest < largest"):
        Swift(base=1e-5, smallest=2, largest=1)


def test_the_utilization_of_hpcc() -> None:
    # 100 Gb/s, 13 us, 80 B.
    used = [Hpcc(n, 162_500).utilization for n in (2, 16, 64, 100)]
    assert used == pytest.approx([0.95098, 0.95788, 0.98151, 0.99923], abs=5e-6)
    full = Hpcc(200, 162_500)
    assert (full.link, full.queue) == pytest.approx((1, 7_875))
    assert full.paced_queue == pytest.approx(162_500 * (0.95 / (1 - 16_000 / 162_500) - 1))
    assert (Hpcc(64, 162_500).queue, Hpcc(64, 162_500).paced_queue) == (0, 0)
    # Each window keeps its size: W = W eta / U + W_AI.
    window = 80 * used[1] / (used[1] - 0.95)
    assert 16 * window / 162_500 == pytest.approx(used[1])


def test_hpcc_needs_room_for_its_increases() -> None:
    with pytest.raises(ValueError, match=r"flows: 2032; must be below product / increase = 2031\.25"):
        Hpcc(2032, 162_500)
