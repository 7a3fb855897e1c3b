"""All experiments are complete and well formed, and the quick ones reproduce."""

from __future__ import annotations

import functools
import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from becalm import Scenario
from becalm.base.progress import SweepProgress
from becalm.base.quantities import seconds
from becalm.lab import Experiment, Lab, Report, registry, reproduce, select
from becalm.lab.expect import at_least
from becalm.lab.model import Point, Remarks, Statement, spread

STATEMENTS = {
    "santos2002": 40,
    "santos2003": 63,
    "gran2010": 68,
    "pfister2005": 52,
    "ramakrishnan1990": 58,
}
"""Smallest number of claims of each paper."""
FIGURES = {
    "santos2002": ["fig2", "paced", "fig3a", "fig3b", "fig3c", "fig3d", "fig4a", "fig4b", "flows"],
    "santos2003": [
        *("fig2", "paced", "window", "fig3a", "fig3b", "fig3c", "fig3d", "fig4a", "fig4b", "fig5", "fig6"),
        *("oscillation", "fig7a", "fig7b"),
    ],
    "gran2010": [
        *("fig7a", "fig7b", "fig8", "fig9", "fig10a", "fig10b", "fig11", "fig12", "fig13", "fig14"),
        *("threshold", "packet_size", "cct"),
    ],
    "pfister2005": ["fig3", "fig4a", "fig4b", "fig4c", "fig4d", "fig5", "sizes", "guideline"],
    "ramakrishnan1990": [
        *("windows", "fig2", "filter", "fig4", "fig5", "bits", "probability", "fig6", "fig7", "fig8"),
        *("integer", "search", "factor", "fig9", "fig10", "fig11", "fig12", "fig13"),
    ],
}
QUICK = ["santos2002/fig2", "santos2003/fig2", "santos2003/window", "santos2003/fig4b"]

each_experiment = pytest.mark.parametrize("experiment", registry(), ids=lambda experiment: experiment.id)


@functools.cache
def _scenarios(name: str, short: bool) -> list[tuple[Scenario, Point]]:
    (experiment,) = select([name])
    return [(Scenario(point.scenario), point) for point in experiment.runs(short)]


def test_every_figure_is_registered_and_no_claim_is_lost() -> None:
    found = {experiment.id for experiment in registry()}
    assert found >= {f"{paper}/{figure}" for paper, figures in FIGURES.items() for figure in figures}
    stated = Counter(experiment.paper for experiment in registry() for _ in experiment.statements)
    assert stated >= Counter(STATEMENTS)


@each_experiment
def test_statements_are_complete(experiment: Experiment) -> None:
    assert experiment.title
    assert experiment.cost > 0
    assert experiment.statements
    for statement in experiment.statements:
        said = statement.remarks.note if statement.remarks.kind == "derived" else statement.quote
        assert len(said.split()) >= 4, statement.id
        assert statement.expect.tolerance
        assert statement.paper != ""


@each_experiment
@pytest.mark.parametrize("short", [False, True])
def test_scenarios_are_valid(experiment: Experiment, short: bool) -> None:
    points = experiment.runs(short)
    hashes = {(scenario.hash, point.draw) for scenario, point in _scenarios(experiment.id, short)}
    assert len(hashes) == len(points)
    assert len({(*point.labels.items(), point.draw) for point in points}) == len(points)


@each_experiment
def test_the_reduced_version_of_a_long_experiment_is_half_as_long(experiment: Experiment) -> None:
    whole, reduced = (_simulated(experiment, short) for short in (False, True))
    if experiment.cost >= 5:
        assert reduced <= whole / 2
    assert reduced <= whole


def _simulated(experiment: Experiment, short: bool) -> float:
    """Return the simulated time of all points in s."""
    return sum(
        seconds(scenario.resolved["run"]["duration"]) for scenario, _ in _scenarios(experiment.id, short)
    )


def test_select_by_paper_figure_and_nothing() -> None:
    assert [item.id for item in select(["santos2003/fig2", "santos2002/fig2"])] == [
        "santos2002/fig2",
        "santos2003/fig2",
    ]
    assert {item.paper for item in select(["santos2002"])} == {"santos2002"}
    assert len(select([])) == len(registry())


def test_unknown_ids_list_the_valid_ones() -> None:
    with pytest.raises(ValueError, match=r"santos2003/fig99; valid: santos2003/fig2, .*santos2003/fig7b, "):
        reproduce(["santos2003/fig99", "santos2003/fig2"])
    with pytest.raises(ValueError, match=r"fig2; valid: santos2002, santos2003, "):
        reproduce(["fig2"])


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Report], list[SweepProgress]]:
    out = tmp_path_factory.mktemp("figures")
    seen: list[SweepProgress] = []
    return out, reproduce(QUICK, out=out, threads=2, short=True, progress=seen.append), seen


def test_the_quick_ones_hold(quick: tuple[Path, list[Report], list[SweepProgress]]) -> None:
    _, reports, _ = quick
    assert sorted(report.id for report in reports) == sorted(QUICK)
    numbers = {(report.id, claim.id): claim for report in reports for claim in report.claims}
    for paper in ("santos2002", "santos2003"):
        for name in ("victim_share", "inter_switch_share"):
            assert numbers[f"{paper}/fig2", name].holds, numbers[f"{paper}/fig2", name]
    assert numbers["santos2003/fig4b", "fairer_than_naive"].holds


def test_every_run_is_counted_once(quick: tuple[Path, list[Report], list[SweepProgress]]) -> None:
    _, _, seen = quick
    assert [step.finished for step in seen] == list(range(1, seen[-1].points + 1))
    assert [step.fraction for step in seen] == sorted({step.fraction for step in seen})
    assert seen[-1].fraction == pytest.approx(1)
    assert all(step.left is not None and step.left >= 0 for step in seen)
    assert seen[-1].left == pytest.approx(0, abs=1e-6)
    assert {step.found for step in seen} == {0}
    assert seen[-1].packet_hops > 0


def test_files_and_nothing_else(quick: tuple[Path, list[Report], list[SweepProgress]]) -> None:
    out, reports, _ = quick
    suffixes = (".csv", ".json", ".png")
    wanted = {f"{report.id}{suffix}" for report in reports for suffix in suffixes}
    assert {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} == wanted
    for report in reports:
        assert report.figures == [out / f"{report.id}.png"]
        assert json.loads((out / f"{report.id}.json").read_text()) == report.to_json()


def test_json_shape(quick: tuple[Path, list[Report], list[SweepProgress]]) -> None:
    _, reports, _ = quick
    for report in reports:
        data = json.loads(json.dumps(report.to_json()))
        assert set(data) == {"id", "title", "claims"}
        for claim in data["claims"]:
            wanted = {"id", "quote", "paper", "tolerance", "seeds", "values", "mean", "interval"}
            assert set(claim) - {"note", "class", "proof", "reading", "theme"} == wanted | {"verdict", "kind"}
            assert claim["seeds"] == [1], "the reduced version has one seed"
            assert claim["verdict"] in ("holds", "fails")


def test_the_same_with_one_thread(quick: tuple[Path, list[Report], list[SweepProgress]]) -> None:
    _, reports, _ = quick
    again = reproduce(["santos2002/fig2"], threads=1, short=True)
    assert again[0].to_json() == next(item for item in reports if item.id == "santos2002/fig2").to_json()
    assert again[0].figures == []


def test_seeds_change_the_starts_and_the_verdict_is_that_of_the_mean() -> None:
    (report,) = reproduce(["santos2002/fig2"], threads=2, short=True, seeds=3, seed=4)
    claim = next(item for item in report.claims if item.id == "victim_share")
    assert claim.seeds == [4, 5, 6]
    values = [value for value in claim.values if isinstance(value, float)]
    assert len(set(values)) == 3
    assert isinstance(claim.mean, float)
    assert min(values) < claim.mean < max(values)
    low, high = claim.to_json()["interval"]
    assert low < claim.mean < high


@pytest.mark.parametrize(
    "experiment",
    [item for item in registry() if not item.seeded and item.cost <= 5],
    ids=lambda item: item.id,
)
def test_no_seed_changes_what_is_run_once(experiment: Experiment) -> None:
    assert experiment.phase == ""
    (report,) = reproduce([experiment.id], threads=2, short=True, seeds=3)
    assert {tuple(claim.seeds) for claim in report.claims} == {(1,)}
    lab = Lab(2, threads=2)
    points = experiment.runs(True)
    lab.run(points)
    again = experiment.measure(lab.outcomes(points))
    for statement in experiment.statements:
        if statement.short:
            assert statement.measure(again) == statement.measure(report.tables), statement.id


def test_phases_are_put_on_all_but_random_arrivals() -> None:
    flows = [{"traffic": {"greedy": {}}}, {"traffic": {"poisson": {}}}, {"start_spread": "1 us"}, {}]
    spreads = [group.get("start_spread") for group in spread({"flows": flows}, "8 us")["flows"]]
    assert spreads == ["8 us", None, "1 us", "8 us"]
    assert spread({"flows": flows}, "") == {"flows": flows}
    phases = {item.id: item.phase for item in registry()}
    assert phases["santos2003/fig3a"] == "100 us"


def test_ending_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    def stop(_: SweepProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(["santos2003/fig3a"], out=tmp_path, progress=stop)
    assert list(tmp_path.iterdir()) == []


def _shaky(name: str, values: list[float], kind: str = "paper", cost: float = 1) -> Experiment:
    """Return an experiment that measures these values in turn, independent of its run."""
    scene = {
        "run": {"duration": "10 us"},
        "topology": {"dumbbell": {}},
        "flows": [{"name": "f", "from": ["A1"], "to": ["BC"]}],
    }
    left = itertools.cycle(values)
    statement = Statement(
        "value", "a value of at least 0", ">= 0", lambda _: next(left), at_least(0), True, Remarks(kind=kind)
    )
    return Experiment(
        f"santos2003/{name}",
        name,
        cost,
        points=lambda _: [Point({}, scene)],
        draw=lambda _: pytest.fail("nothing is drawn"),
        measure=lambda _: {},
        statements=(statement,),
    )


def test_undecided_sentences_get_more_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    shaky = [-1.0, 1.0]
    chosen = [
        _shaky("sure", [1.0]),
        _shaky("shaky", shaky),
        _shaky("long", shaky, cost=31),
        _shaky("ours", shaky, "ours"),
    ]
    monkeypatch.setattr("becalm.lab.reports.select", lambda _: chosen)

    def seeds(**options: Any) -> dict[str, list[int]]:  # noqa: ANN401
        reports = reproduce(threads=1, **options)
        return {report.title: report.claims[0].seeds for report in reports}

    found = seeds()
    assert {name: each == list(range(1, len(each) + 1)) for name, each in found.items()} == dict.fromkeys(
        found, True
    )
    # 20 seeds of the long experiment would exceed ten minutes.
    assert {name: len(each) for name, each in found.items()} == {
        "sure": 5,
        "shaky": 40,
        "long": 10,
        "ours": 5,
    }
    assert set(map(tuple, seeds(seeds=2, seed=7).values())) == {(7, 8)}
    assert set(map(tuple, seeds(short=True).values())) == {(1,)}
