"""A run in steps yields the same results, and paces can be set between steps."""

from __future__ import annotations

from pathlib import Path

import pytest

import becalm

READY = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))
SHORT = {"run.duration": "400 us", "run.warmup": None}


def short(file: Path) -> becalm.Scenario:
    scenario = becalm.load(file)
    try:
        return scenario.replace(SHORT)
    except becalm.ScenarioError:
        return scenario


@pytest.mark.parametrize("file", READY, ids=lambda file: file.stem)
def test_steps_change_nothing(file: Path) -> None:
    scenario = short(file).replace({"run.replications": 1})
    if scenario.summary["hosts"] > 200:
        scenario = scenario.replace({"run.duration": "1010 us", "run.warmup": None})
    run = becalm.start(scenario)
    while run.advance(by="37 us"):
        pass
    stepped, whole = run.finish(), becalm.run(scenario, threads=1)
    assert stepped.fingerprint == whole.fingerprint
    assert stepped.groups.equals(whole.groups)


def incast() -> becalm.Scenario:
    text = """
    [run]
    duration = "2 ms"
    [topology.dumbbell]
    remote = 1
    local = 4
    [[flows]]
    name = "hot"
    from = ["B1..B4"]
    to = ["BC"]
    """
    return becalm.Scenario(text)


def test_a_pace_that_is_set_holds() -> None:
    run = becalm.start(incast())
    run.advance(until="1 ms")
    before = run.flows["sent_bytes"]
    run.set_pace("hot", rate=0.1)
    run.advance(until="2 ms")
    sent = run.flows["sent_bytes"] - before
    assert run.flows["rate"] == pytest.approx([0.1] * 4)
    assert sent == pytest.approx([1e-3 * 0.1 * run.scenario.summary["host_rate"]] * 4, rel=0.05)
    assert (run.flows["rtt"] > 0).all() and run.ended


@pytest.mark.parametrize("by", ["1 us", "20 us", "170 us"])
def test_the_steps_between_do_not_matter_for_paces_that_are_set(by: str) -> None:
    def fingerprint(step: str | None) -> str:
        run = becalm.start(incast())
        while step is not None and run.now < 340e-6 - 1e-9:
            run.advance(until=min(run.now + float(step.split()[0]) * 1e-6, 340e-6))
        run.advance(until="340 us")
        run.set_pace([0, 2], gap=3.0, window=2)
        return run.finish().fingerprint

    assert fingerprint(by) == fingerprint(None)


def test_wrong_questions_are_reported() -> None:
    run = becalm.start(incast())
    for wrong in ({"rate": 2.0}, {"gap": -1.0}, {"rate": 0.5, "gap": 1.0}, {"gap": 1.0, "window": 0}):
        with pytest.raises(ValueError, match=r"rate|gap|window"):
            run.set_pace(0, **wrong)  # type: ignore[arg-type]
    for span in ("soon", -1.0):
        with pytest.raises(ValueError, match="must be"):
            run.advance(by=span)
    with pytest.raises(ValueError, match="the run has 4 flows"):
        run.set_pace(4, rate=0.5)
    with pytest.raises(ValueError, match="valid: hot"):
        run.set_pace("cold", rate=0.5)
    run.finish()
    with pytest.raises(RuntimeError, match="the run is over"):
        run.advance(by="1 us")
