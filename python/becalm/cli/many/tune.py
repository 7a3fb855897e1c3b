"""`becalm tune`: search for parameters of congestion control that beat the guideline's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.analysis import formats
from becalm.base import jsons
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.infiniband.harm import Force, harm, refusal, say_unknown
from becalm.cli.options import (
    Changes,
    EngineOptions,
    Example,
    Fabric,
    MaxMemory,
    OwnSchemes,
    Quiet,
    Workers,
    changed,
    check_memory,
    scenario_file,
)

if TYPE_CHECKING:
    from becalm.cli.screen import Screen
    from becalm.scenario import Scenario
    from becalm.schemes.loading import Provided
    from becalm.tunings.api import Plan
    from becalm.tunings.spec import TuneSpec
    from becalm.tunings.tuned import Gain, Tuned

DEFAULT = Path("results/tuned")

TuningFile = Annotated[
    Path | None,
    typer.Argument(
        help="A tuning file, a scenario of the fabric, or a folder of SONiC switches.", show_default=False
    ),
]
Hot = Annotated[
    str | None, typer.Option(help="The hot host in all cases; default: a random one in each case.")
]
Contributors = Annotated[
    int | None,
    typer.Option(
        "--contributors",
        "--degree",
        min=2,
        help="Largest number of hosts that send to a hot host; default: all.",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(min=1, help="Number of parameter sets to try; default: 60, or as many as --minutes allows."),
]
Minutes = Annotated[
    float | None,
    typer.Option(min=0.01, help="Time for the study; determines the numbers of cases and trials."),
]
NoRegret = Annotated[
    bool,
    typer.Option(
        "--no-regret",
        help="Recommend only parameters that are at least as good as no control, for every number of "
        "contributors.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the study in the --out folder.")]
Out = Annotated[Path, typer.Option(help="Folder for the study, its runs and its result.")]
OpenSM = Annotated[
    Path | None,
    typer.Option(
        help="Write the recommendation as OpenSM options to FILE, and zeros to FILE.rollback. Without "
        "--fabric, no settings of single ports are searched."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing OpenSM option files, but never a study.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def tune(
    file: TuningFile = None,
    example: Example = None,
    change: Changes = None,
    hot: Hot = None,
    contributors: Contributors = None,
    trials: Trials = None,
    minutes: Minutes = None,
    no_regret: NoRegret = False,
    workers: Workers = None,
    max_memory: MaxMemory = None,
    *,
    engine: EngineOptions,
    resume: Resume = False,
    out: Out = DEFAULT,
    opensm: OpenSM = None,
    fabric: Fabric = None,
    own_schemes: OwnSchemes,
    force: Force = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Search for congestion-control parameters, and compare the best with the guidelines on new cases."""
    from becalm.cli.hot_spots import say_without_faults
    from becalm.cli.screen import Screen
    from becalm.tunings import api
    from becalm.tunings.study import check_installed

    check_installed()
    engine.check()
    _check_targets(opensm, fabric, out, resume=resume, overwrite=overwrite)
    source = scenario_file("tune", file, example)
    spec = _read(source, hot, contributors, own_schemes.load(), change)
    if opensm is not None and fabric is None:
        _check_writable(spec)
    given = (("trials", trials), ("minutes", minutes), ("no_regret", no_regret or None))
    budget = {**spec.budget, **{name: value for name, value in given if value is not None}}
    check_memory(
        [case.scenario for case in spec.cases] or [spec.scenario], max_memory, engine.engine, workers
    )
    silent = quiet or as_json
    if spec.population is not None and not silent:
        say_without_faults(spec.scenario)
    with Screen(quiet=silent) as screen:
        tuned = api.tune(
            spec.population or spec.cases,
            also=spec.cases,
            space=spec.space,
            goals=spec.goals,
            folder=out,
            engine=engine.made(workers),
            max_memory=max_memory,
            single_ports=opensm is None or fabric is not None,
            progress=screen.on_done,
            planned=lambda plan: _show_plan(plan, screen, silent=silent),
            **budget,
        )
    tuned.save(out, spec.scenario)
    better = _is_change(tuned)
    if better and opensm is not None:
        _write_options(tuned.scenario(spec.scenario), out, opensm, fabric, force=force, overwrite=overwrite)
    if as_json:
        typer.echo(jsons.dumps(tuned.to_json(), default=str))
    elif not quiet:
        _show(tuned)
        _show_files(out, opensm, written=better)


def _check_targets(
    opensm: Path | None, fabric: Path | None, out: Path, *, resume: bool, overwrite: bool
) -> None:
    """Check the files and the folder to write, before anything runs."""
    from becalm.base.folders import check_new
    from becalm.opensm import options, ports
    from becalm.tunings import study

    if fabric is not None and opensm is None:
        stop("--fabric: has no effect without --opensm", BAD_INPUT)
    if opensm is not None:
        check_new(opensm, options.rollback_of(opensm), ports.script_of(opensm), overwrite=overwrite)
    if resume and not study.is_study(out):
        stop(f"{out}: no study to continue; without --resume, the command begins one", BAD_INPUT)
    if not resume and out.exists():
        stop(f"{out}: already exists; choose another folder, or continue with --resume", BAD_INPUT)


def _check_writable(spec: TuneSpec) -> None:
    """Check that all settings of the space are among OpenSM's options, before anything runs."""
    from becalm.opensm import ports

    if spec.space is None:
        return
    middle = {key: each.at(0.5) for key, each in spec.space.ranges.items()}
    if ports.has_own(spec.scenario.replace(spec.space.changes(middle))):
        stop(
            "--opensm: the space has settings of single ports, and a scenario has no numbers of ports; "
            "valid: --fabric with the output of ibnetdiscover",
            BAD_INPUT,
        )


def _is_change(tuned: Tuned) -> bool:
    """Whether the recommended row is neither the current settings nor no control."""
    from becalm.tunings.verdict import NOW, WITHOUT

    return tuned.recommended not in (WITHOUT, NOW)


def _write_options(
    best: Scenario, out: Path, opensm: Path, fabric: Path | None, *, force: bool, overwrite: bool
) -> None:
    """Write the OpenSM options of a scenario, and those that undo them."""
    from becalm import manager
    from becalm.base.folders import write_new
    from becalm.opensm import options, ports, service_levels

    levels = service_levels.used(best)
    # A guideline's reasons do not apply to the tuned values.
    configuration = options.configuration(best, manager.Recommendation(manager.AS_IT_IS, []), fabric, levels)
    script = ports.script(best, fabric) if ports.has_own(best) else ""
    warnings = harm(configuration, opensm)
    if warnings and not force:
        stop(f"{out}: the study is done\n{refusal(warnings, opensm)}", FAILED)
    write_new(opensm, configuration, overwrite=overwrite)
    write_new(options.rollback_of(opensm), options.rollback(best, fabric, levels), overwrite=overwrite)
    if script:
        write_new(ports.script_of(opensm), script, overwrite=overwrite)
    say_unknown(levels, best.name)


def _read(
    file: Path,
    hot: str | None,
    contributors: int | None,
    own: tuple[Provided, ...],
    changes: list[str] | None,
) -> TuneSpec:
    from becalm.cli.roce import is_switches, load
    from becalm.tunings.goals import Goals
    from becalm.tunings.population import HotSpot, Population
    from becalm.tunings.spec import TuneSpec, is_scenario, read_tune

    if not is_switches(file) and not is_scenario(file):
        if hot is not None or contributors is not None:
            stop("--hot and --contributors: valid only with a scenario; a tuning file has [cases]", BAD_INPUT)
        if changes:
            stop("--set: valid only with a scenario; a tuning file names one", BAD_INPUT)
        return read_tune(file, own)
    scenario = changed(load(file, own).using(own), changes)
    if hot is not None:
        population = HotSpot(scenario, hot, contributors).population()
    else:
        population = Population(scenario, contributors=None if contributors is None else (2, contributors))
        population.check()
    return TuneSpec(scenario, [], population, None, Goals(), {})


def _show_plan(plan: Plan, screen: Screen, *, silent: bool) -> None:
    from becalm.cli import console

    screen.total = max(plan.runs, screen.done + 1)
    if silent:
        return
    low, high = plan.load
    carried = f", background {low:.2f} to {high:.2f} of the hosts' links" if high else ""
    console.err.print(
        f"about {plan.runs:,} runs of {formats.seconds(plan.each)}, {formats.seconds(plan.seconds)} in all: "
        f"{formats.counted(plan.learn, 'case')} for the search, {plan.judge} others for the comparison"
        f"{carried}",
        soft_wrap=True,
    )


def _show(tuned: Tuned) -> None:
    from becalm.cli import console
    from becalm.cli.hot_spots import show_rows
    from becalm.cli.tables import table
    from becalm.store.export import flat
    from becalm.tunings.tuned import NOTE

    console.say(tuned.answer())
    for key, value in flat(tuned.recommended_control):
        console.say(f"  {key} = {value}")
    show_rows(tuned.verdict)
    console.out.print(
        table(
            "Tuned parameters",
            ("parameter", "value", "importance"),
            [
                (key, formats.cell(value), formats.share(tuned.importance.get(key)))
                for key, value in tuned.best.items()
            ],
        )
    )
    _show_gain(tuned.gain, "on these cases", tuned.guideline)
    for key in tuned.at_end:
        console.say(f"{key} is at the edge of its range, so better values may lie outside")
    for limit in tuned.broken:
        console.say(f"the limit `{limit}` is exceeded with new seeds")
    if "ibta" in tuned.control["response"]:
        console.show_concerns("with the tuned parameters", tuned.concerns)
    console.say(NOTE)


def _show_files(out: Path, opensm: Path | None, *, written: bool) -> None:
    from becalm.cli import console
    from becalm.opensm import options

    console.say(f"study, runs, trials and tuned.toml in {out}")
    if opensm is not None and not written:
        console.say("no OpenSM options are written, because no new parameters are recommended")
    elif opensm is not None:
        console.say(f"OpenSM options in {opensm}, zeros in {options.rollback_of(opensm)}")


def _show_gain(found: Gain, where: str, guideline: str) -> None:
    from becalm.cli import console

    gain = formats.difference(found.guideline - found.tuned, found.low, found.high)
    console.say(
        f"loss {where}: {found.guideline:.4f} with {guideline}, {found.tuned:.4f} tuned "
        f"(ratio {found.ratio:.2f}); {gain}"
    )
