"""Closed networks and single servers against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from becalm import theory
from becalm.theory import ClosedNetwork

WINDOWS = np.arange(1.0, 41)
TIMES = st.floats(0.01, 100)
NETWORKS = st.builds(ClosedNetwork, st.lists(TIMES, min_size=1, max_size=6).map(tuple), st.floats(0, 1000))


def test_a_single_server_never_rests() -> None:
    solution = theory.mean_value_analysis(ClosedNetwork((5.0,)), 8)
    assert solution.throughput == pytest.approx(np.full(8, 0.2))
    assert solution.response == pytest.approx(5 * solution.window)
    assert solution.queue[:, 0] == pytest.approx(solution.window)


@pytest.mark.parametrize("centres", [2, 5])
def test_a_balanced_network(centres: int) -> None:
    """N packets, M equal centres: N / (N + M - 1) / s."""
    solution = theory.mean_value_analysis(ClosedNetwork((3.0,) * centres), 40)
    assert solution.throughput == pytest.approx(WINDOWS / (WINDOWS + centres - 1) / 3)
    assert solution.queue == pytest.approx(np.outer(WINDOWS / centres, np.ones(centres)))


def test_two_unequal_centres() -> None:
    """The throughput of a product-form network is G(N-1) / G(N), here with G(N) = sum of a^i b^(N-i)."""
    a, b = 2.0, 5.0
    constants = [sum(a**i * b ** (n - i) for i in range(n + 1)) for n in range(11)]
    expected = [constants[n - 1] / constants[n] for n in range(1, 11)]
    assert theory.mean_value_analysis(ClosedNetwork((a, b)), 10).throughput == pytest.approx(expected)


def test_a_machine_and_its_repairman() -> None:
    """One server and a delay form the finite-source queue M/M/1//N: X = (1 - p0) / s."""
    service, think, sources = 2.0, 7.0, 6
    weights = [1.0]
    for busy in range(sources):
        weights.append(weights[-1] * (sources - busy) * service / think)
    solution = theory.mean_value_analysis(ClosedNetwork((service,), think), sources)
    assert solution.throughput[-1] == pytest.approx((1 - weights[0] / sum(weights)) / service)


def test_little_at_every_centre() -> None:
    network = ClosedNetwork((2, 5, 3, 4), 63.5)
    solution = theory.mean_value_analysis(network, 40)
    in_flight = solution.queue.sum(axis=1) + solution.throughput * network.delay
    assert in_flight == pytest.approx(solution.window)


@given(NETWORKS)
def test_bounds_hold_the_exact_solution(network: ClosedNetwork) -> None:
    exact = theory.mean_value_analysis(network, 40).throughput
    wide, tight = theory.asymptotic_bounds(network, WINDOWS), theory.balanced_job_bounds(network, WINDOWS)
    near = 1e-9 * exact
    assert (wide.lower <= tight.lower + near).all()
    assert (tight.lower <= exact + near).all()
    assert (exact <= tight.upper + near).all()
    assert (tight.upper <= wide.upper + near).all()


@given(NETWORKS)
def test_chance_costs_throughput(network: ClosedNetwork) -> None:
    exact = theory.mean_value_analysis(network, 40).throughput
    assert (exact <= theory.deterministic(network, WINDOWS) * (1 + 1e-9)).all()


def test_balanced_job_bounds_are_exact_in_a_balanced_network() -> None:
    network = ClosedNetwork((3.0,) * 4)
    bounds = theory.balanced_job_bounds(network, WINDOWS)
    exact = theory.mean_value_analysis(network, 40).throughput
    assert bounds.lower == pytest.approx(exact)
    assert bounds.upper == pytest.approx(exact)


@given(NETWORKS)
def test_deterministic_power_is_largest_at_the_knee(network: ClosedNetwork) -> None:
    """For real window sizes W, the power W / R^2 rises up to the knee and falls beyond it."""

    def power(window: float) -> float:
        throughput = float(theory.deterministic(network, np.array([window]))[0])
        return theory.power(throughput, window / throughput)

    best = power(network.knee)
    assert all(power(network.knee * factor) <= best * (1 + 1e-9) for factor in (0.5, 0.9, 1.1, 2))


@pytest.mark.parametrize(("service", "delay"), [((), 0), ((1, 0), 0), ((1, float("inf")), 0), ((1,), -1)])
def test_bad_networks(service: tuple[float, ...], delay: float) -> None:
    with pytest.raises(ValueError, match=r"service|delay"):
        ClosedNetwork(service, delay)


def test_bad_windows() -> None:
    with pytest.raises(ValueError, match="windows: 0"):
        theory.mean_value_analysis(ClosedNetwork((1.0,)), 0)


def test_mm1() -> None:
    shares = [theory.at_least(n, 0.5) - theory.at_least(n + 1, 0.5) for n in range(60)]
    assert sum(n * share for n, share in enumerate(shares)) == pytest.approx(1.0)
    assert theory.mm1_response(1.0, 0.5) == 2.0
    grid = np.linspace(0.01, 0.99, 99)
    best = max(grid, key=lambda load: theory.power(load, theory.mm1_response(1.0, load)))
    assert best == pytest.approx(theory.best_utilization())
    for wrong in (-0.1, 1.0):
        with pytest.raises(ValueError, match="utilization"):
            theory.at_least(1, wrong)
    with pytest.raises(ValueError, match="packets"):
        theory.at_least(-1, 0.5)
    with pytest.raises(ValueError, match="alpha"):
        theory.best_utilization(0)


def test_md1() -> None:
    """Constant service times halve the wait of M/M/1. At a load of 0.5, it is half a service time."""
    assert theory.md1_wait(1.0, 0.5) == 0.5
    for load in (0.1, 0.3, 0.9):
        wait = theory.mm1_response(2.0, load) - 2.0
        assert theory.md1_wait(2.0, load) == pytest.approx(wait / 2)
    with pytest.raises(ValueError, match="utilization"):
        theory.md1_wait(1.0, 1.0)


def test_efficiency_is_relative_to_the_knee() -> None:
    assert theory.efficiency(0.2, 77.5, 0.2, 77.5) == 1.0
    assert theory.efficiency(0.1, 77.5, 0.2, 77.5) == 0.5
    assert theory.efficiency(0.2, 155, 0.2, 77.5) == 0.5
    with pytest.raises(ValueError, match="response"):
        theory.efficiency(0.2, 0, 0.2, 77.5)


@given(st.lists(st.floats(0, 1e200), min_size=1, max_size=9).filter(lambda x: max(x) > 0))
def test_jain_is_between_1_over_n_and_1(allocations: list[float]) -> None:
    assert 1 / len(allocations) * (1 - 1e-12) <= theory.jain(allocations) <= 1 + 1e-12


def test_jain() -> None:
    assert theory.jain([3, 3, 3]) == pytest.approx(1)
    assert theory.jain([5, 0, 0, 0]) == pytest.approx(0.25)
    assert theory.jain([10, 6]) == pytest.approx(256 / 272)
    for wrong in ([], [0, 0], [1, -1]):
        with pytest.raises(ValueError, match="allocations"):
            theory.jain(wrong)


def test_converged_at() -> None:
    time = np.arange(6.0)
    values = np.array([0, 4, 9, 16, 14, 15.5])
    assert theory.converged_at(time, values, 15.5, 2) == 3
    assert theory.converged_at(time, values, 15.5, 1) == 5
    assert theory.converged_at(time, values, 0, 1) is None
    assert theory.converged_at(time, values, 8, 8) == 0


def test_hashed_flows_leave_paths_unused() -> None:
    printed = {1: 1.0, 2: 0.75, 4: 0.684, 8: 0.656, 16: 0.644, 64: 0.635}
    assert [theory.used_paths(n) for n in printed] == pytest.approx(list(printed.values()), abs=5e-4)
    assert theory.used_paths(4, 1) == 0.25
    assert theory.used_paths(4, 0) == 0


@pytest.mark.parametrize(("paths", "flows"), [(1, 3), (2, 2), (3, 3), (3, 5), (4, 4)])
def test_the_fullest_path_against_all_ways_to_put_the_flows(paths: int, flows: int) -> None:
    ways = list(itertools.product(range(paths), repeat=flows))
    fullest = [max(way.count(path) for path in range(paths)) for way in ways]
    assert theory.fullest_path(paths, flows) == pytest.approx(sum(fullest) / len(ways))


def test_the_fullest_of_many_paths() -> None:
    """100,000 random samples of 64 flows."""
    loads = np.random.default_rng(1).multinomial(64, np.full(64, 1 / 64), size=100_000)
    assert theory.fullest_path(64) == pytest.approx(loads.max(axis=1).mean(), rel=0.005)


def test_the_wait_of_a_sprayed_packet() -> None:
    assert theory.sprayed_wait(2.0, 0.5) == 1.0
    assert theory.sprayed_wait(2.0, 0.5, sources=4) == 0.75
    assert theory.sprayed_wait(2.0, 0.5, sources=1) == 0
    with pytest.raises(ValueError, match="utilization: 1"):
        theory.sprayed_wait(1.0, 1)
    with pytest.raises(ValueError, match="paths: 0"):
        theory.used_paths(0)
