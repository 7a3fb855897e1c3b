"""Work on several threads ends when its caller is interrupted at any point."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from becalm.base.parallel import Cancel, Cancelled, run_all


def _until_asked_to_end(_: int, cancel: Cancel) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        cancel.check()
        time.sleep(0.01)
    raise AssertionError("nobody asked this work to end")


@pytest.mark.parametrize("handed_out", [0, 1, 2])
def test_control_c_while_work_is_handed_out_ends_what_runs(
    monkeypatch: pytest.MonkeyPatch, handed_out: int
) -> None:
    submitted: list[Future[None]] = []
    submit = ThreadPoolExecutor.submit

    def interrupted(pool: ThreadPoolExecutor, *work: object) -> Future[None]:
        if len(submitted) == handed_out:
            raise KeyboardInterrupt
        submitted.append(submit(pool, *work))  # type: ignore[arg-type]
        return submitted[-1]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_all(_until_asked_to_end, 3, threads=2)
    assert len(submitted) == handed_out
    assert all(each.cancelled() or isinstance(each.exception(), Cancelled) for each in submitted)
