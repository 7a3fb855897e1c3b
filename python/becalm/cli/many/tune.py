"""`becalm tune`: search for parameters of congestion control that beat the guideline's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becalm import jsons
from becalm.analysis import formats
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.infiniband.harm import Force, harm, refusal
from becalm.cli.many.sweep import (
    Address,
    EngineName,
    Slurm,
    Workers,
    check_engine,
    check_memory,
    made_engine,
)
from becalm.cli.options import Echoes, Fabric, Markings, MaxMemory, Responses, own_schemes

if TYPE_CHECKING:
    from becalm.schemes.loading import Provided
    from becalm.store import Store
    from becalm.sweeps.engines import Engine
    from becalm.tunings.spec import TuneSpec
    from becalm.tunings.tuned import Gain, Tuned

DEFAULT = Path("results/tuned")


def tune(
    file: Annotated[
        Path, typer.Argument(help="A tuning, or a scenario of the fabric with --hot.", show_default=False)
    ],
    hot: Annotated[str | None, typer.Option(help="The hot host of the cases.")] = None,
    degree: Annotated[
        int | None, typer.Option(min=2, help="Sources of the smaller hot spot; 3 if not given.")
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Parameters to try.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.01, help="End the search after this time.")] = None,
    workers: Workers = None,
    max_memory: MaxMemory = None,
    engine: EngineName = "processes",
    address: Address = None,
    slurm: Slurm = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the study in the folder.")] = False,
    out: Annotated[Path, typer.Option(help="Folder of the study, its runs and its result.")] = DEFAULT,
    opensm: Annotated[
        Path | None,
        typer.Option(
            help="Write the recommendation as options of OpenSM to a new file, and zeros to FILE.rollback."
        ),
    ] = None,
    fabric: Fabric = None,
    response: Responses = None,
    marking: Markings = None,
    echo: Echoes = None,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Search parameters of congestion control, and compare the best with the guideline on fresh seeds."""
    from becalm import manager
    from becalm.cli import console
    from becalm.cli.many.screen import Screen
    from becalm.folders import check_new, write_new
    from becalm.opensm import options
    from becalm.sweeps.engines import width_of
    from becalm.tunings import api
    from becalm.tunings.study import check_installed

    check_installed()
    check_engine(engine, address, slurm)
    if fabric is not None and opensm is None:
        stop("--fabric: has no effect without --opensm", BAD_INPUT)
    rollback = None if opensm is None else options.rollback_of(opensm)
    check_new(opensm, rollback)
    if resume and not api.is_study(out):
        stop(f"{out}: no study to continue", BAD_INPUT)
    if not resume and out.exists():
        stop(f"{out}: already exists; choose another folder, or continue with --resume", BAD_INPUT)
    spec = _read(file, hot, degree, own_schemes(response, marking, echo))
    budget = {**spec.budget, **{k: v for k, v in (("trials", trials), ("minutes", minutes)) if v is not None}}
    width = width_of(workers)
    check_memory([case.scenario for case in spec.cases], max_memory, engine, workers)

    def engine_of(store: Store) -> Engine:
        return made_engine(engine, workers, store, address, slurm)

    with Screen(_expected(spec, budget), 0, width, quiet=as_json) as screen:
        tuned = api.tune(
            spec.cases,
            space=spec.space,
            goals=spec.goals,
            folder=out,
            engine=engine_of,
            max_memory=max_memory,
            progress=screen.on_done,
            **budget,
        )
    tuned.save(out, spec.scenario)
    if opensm is not None and rollback is not None:
        # A guideline's reasons do not apply to the tuned values.
        none = manager.Recommendation(manager.AS_IT_IS, [])
        best = tuned.scenario(spec.scenario)
        configuration = options.configuration(best, none, fabric)
        told = harm(configuration, opensm)
        if told and not force:
            stop(f"{out}: the study is done\n{refusal(told, opensm)}", FAILED)
        write_new(opensm, configuration)
        write_new(rollback, options.rollback(best, fabric))
    if as_json:
        typer.echo(jsons.dumps(tuned.to_json(), default=str))
        return
    _show(tuned)
    console.say(f"study, runs, trials and tuned.toml in {out}")
    if opensm is not None:
        console.say(f"options of OpenSM in {opensm}, zeros in {rollback}")


def _read(file: Path, hot: str | None, degree: int | None, own: tuple[Provided, ...]) -> TuneSpec:
    import becalm
    from becalm.analysis.hot_spots import HotSpot
    from becalm.tunings.goals import NO_LOSS, Goals, read_limit
    from becalm.tunings.spec import TuneSpec, is_scenario, read_tune

    if not is_scenario(file):
        if hot is not None or degree is not None:
            stop("--hot and --degree: valid only with a scenario; a tuning has [hot_spot]", BAD_INPUT)
        return read_tune(file, own)
    if hot is None:
        stop("--hot: required with a scenario: the name of the hot host", BAD_INPUT)
    scenario = becalm.load(file, schemes=own).using(own)
    cases = HotSpot(scenario, str(hot), degree).cases()
    return TuneSpec(scenario, cases, None, Goals(limits=(read_limit(NO_LOSS),)), {})


def _expected(spec: TuneSpec, budget: Mapping[str, Any]) -> int:
    """Return an estimate of the number of runs."""
    from becalm.analysis.hot_spots import HELD_OUT
    from becalm.tunings.api import RACE, TRIALS

    tried = sum(case.role != HELD_OUT for case in spec.cases)
    trials, seeds = budget.get("trials", TRIALS), budget.get("seeds", 1)
    finalists = max(1, round(trials * budget.get("finalists", 0.2))) + 1
    search = (trials + 3) * tried * seeds + finalists * tried * max(RACE - seeds, 0)
    return int(search + 3 * len(spec.cases) * budget.get("validate", 8))


def _show(tuned: Tuned) -> None:
    from becalm.cli import console
    from becalm.store.export import flat
    from becalm.tunings.tuned import NOTE

    _show_cases(tuned)
    console.out.print(
        console.table(
            "Parameters",
            ("parameter", "value", "matters"),
            [
                (key, formats.cell(value), formats.share(tuned.importance.get(key)))
                for key, value in tuned.best.items()
            ],
        )
    )
    _show_gain(tuned.gain, "on fresh seeds", tuned.guideline)
    if tuned.gain_held_out is not None:
        _show_gain(tuned.gain_held_out, "on the held-out cases", tuned.guideline)
    if tuned.front.height > 1:
        console.say(f"{tuned.front.height} trials are on the Pareto front; see tune.json")
    for key in tuned.at_end:
        console.say(f"{key} is at an end of its range: better values may lie outside")
    for limit in tuned.broken:
        console.say(f"on fresh seeds the limit `{limit}` is broken")
    console.show_concerns("with the tuned parameters", tuned.concerns)
    console.say(f"recommended: {tuned.recommended}")
    for key, value in flat(tuned.recommended_control):
        console.say(f"  {key} = {value}")
    if tuned.recommended == tuned.guideline and not tuned.gain.sure:
        console.say("the interval includes 0: the tuned parameters may be no better than the guideline")
    console.say(NOTE)


def _show_cases(tuned: Tuned) -> None:
    from becalm.cli import console
    from becalm.cli.hot_spots import case_row

    columns = ("case", "with", "background", "link", "settles", "99%", "loss")
    rows = [case_row(row, row["candidate"]) for row in tuned.validation.iter_rows(named=True)]
    console.out.print(console.table(f"Means of {tuned.gain.seeds} fresh seeds", columns, rows, text=2))
    roles = tuned.validation.select("case", "role").unique(maintain_order=True).rows()
    for role, said in (("held_out", "held out of the search"), ("guard", "must not lose")):
        listed = "; ".join(case for case, each in roles if each == role)
        if listed:
            console.say(f"{said}: {listed}")


def _show_gain(found: Gain, where: str, guideline: str) -> None:
    from becalm.cli import console

    console.say(
        f"loss {where}: {found.guideline:.4f} with the guideline {guideline}, {found.tuned:.4f} tuned "
        f"({found.ratio:.2f} of it); less by {found.guideline - found.tuned:.4f}, "
        f"95% interval {found.low:.4f} to {found.high:.4f}"
    )
    if found.high < 0:
        console.say(f"{where} the tuned parameters are worse than the guideline")
