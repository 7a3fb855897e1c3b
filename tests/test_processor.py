"""Processor time of work, beside other work."""

import threading
import time

import pytest

from becalm.runs import runs


def _compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_time_without_work_does_not_count() -> None:
    with runs.spent(1) as spent:
        time.sleep(0.2)
    assert (spent.seconds or 0.0) < 0.1


def test_work_of_other_threads_does_not_count() -> None:
    other = threading.Thread(target=_compute, args=(0.3,))
    other.start()
    with runs.spent(1) as spent:
        _compute(0.1)
    other.join()
    assert spent.seconds is not None
    assert 0.1 <= spent.seconds < 0.2


def test_all_threads_of_the_work_count() -> None:
    with runs.spent(2) as spent:
        helper = threading.Thread(target=_compute, args=(0.1,))
        helper.start()
        _compute(0.1)
        helper.join()
    assert spent.seconds is not None
    assert spent.seconds >= 0.2


def test_overlapping_work_on_several_threads_is_unknown() -> None:
    with runs.spent(2) as outer, runs.spent(1) as inner:
        _compute(0.02)
    assert outer.seconds is None
    assert inner.seconds is not None


@pytest.mark.parametrize("clock", [None, lambda: 1.0])
def test_no_clock_and_a_coarse_one_measure_nothing(monkeypatch: pytest.MonkeyPatch, clock: object) -> None:
    if clock is None:
        monkeypatch.delattr(time, "thread_time")
    else:
        monkeypatch.setattr(time, "thread_time", clock)
    with runs.spent(1) as spent:
        pass
    assert spent.seconds is None
