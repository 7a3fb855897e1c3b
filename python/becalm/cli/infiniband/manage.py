"""`becalm manage`: parameters of IBTA congestion control for a fabric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from becalm import jsons
from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.infiniband.harm import Force, harm, refusal
from becalm.cli.options import Fabric, Overwrite


def manage(
    file: Annotated[Path, typer.Argument(help="A scenario of the fabric.", show_default=False)],
    contributors: Annotated[
        int | None,
        typer.Option(
            "--contributors",
            "--degree",
            help="Largest number of hosts that send to one hot host; default: choose settings that suit "
            "hot spots of 2, 4, 8, ... and all hosts.",
        ),
    ] = None,
    guideline: Annotated[
        str | None,
        typer.Option(
            help="becalm, pfister2005, gran2010, or none to keep the scenario's parameters; default: "
            "with --hot, the best one on the cases; with --contributors, becalm; otherwise the best one for "
            "all sizes."
        ),
    ] = None,
    hot: Annotated[
        str | None, typer.Option(help="Try all guidelines on random cases with this hot host.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the scenario with these parameters to a file.")
    ] = None,
    opensm: Annotated[
        Path | None,
        typer.Option(help="Write the parameters as OpenSM options to FILE, and zeros to FILE.rollback."),
    ] = None,
    fabric: Fabric = None,
    force: Force = False,
    overwrite: Overwrite = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print parameters and concerns as one JSON object.")
    ] = False,
) -> None:
    """Set a fabric's parameters of IBTA congestion control; warn about settings that cannot work."""
    import becalm
    from becalm import manager
    from becalm.cli import console
    from becalm.cli.hot_spots import show_sizes, show_tried
    from becalm.cli.screen import Screen
    from becalm.folders import check_writable, write_new
    from becalm.opensm import options
    from becalm.tunings.guidelines import choose, try_guidelines

    if fabric is not None and opensm is None:
        stop("--fabric: has no effect without --opensm", BAD_INPUT)
    if force and opensm is None:
        stop("--force: has no effect without --opensm", BAD_INPUT)
    rollback = None if opensm is None else options.rollback_of(opensm)
    check_writable(out, opensm, rollback, overwrite=overwrite)
    scenario = becalm.load(file)
    better, derived = manager.DEFAULT, contributors
    found: dict[str, Any] = {}
    shown: list[Callable[[], None]] = []
    if hot is not None:
        with Screen(1, 0, 1, quiet=as_json) as screen:
            tried = try_guidelines(scenario, hot, contributors, planned=screen.plan, progress=screen.on_done)
        better = tried.better
        found["cases"] = tried.verdict.table().to_dicts()
        shown.append(lambda: show_tried(tried))
    if contributors is None and guideline != manager.AS_IT_IS:
        names = [guideline] if guideline else [better] if hot else list(manager.GUIDELINES)
        manager.check_guideline(names[0])
        with console.Bar(quiet=as_json) as bar:
            sizes = choose(scenario, names, bar.on_step)
        found["hot_link"] = [asdict(each) for each in sizes]
        shown.append(lambda: show_sizes(sizes))
        better, derived = sizes[0].guideline, sizes[0].contributors
    recommendation = manager.recommend(scenario, hot_spot_degree=derived, guideline=guideline or better)
    managed = recommendation.apply(scenario)
    configuration = None if opensm is None else options.configuration(managed, recommendation, fabric)
    zeros = None if opensm is None else options.rollback(managed, fabric)
    warnings = "" if opensm is None or configuration is None else harm(configuration, opensm)
    if warnings and opensm is not None and not force:
        stop(refusal(warnings, opensm), BAD_INPUT)
    texts = ((out, managed.to_toml()), (opensm, configuration), (rollback, zeros))
    made = [(target, text) for target, text in texts if target is not None and text is not None]
    # Write the files before printing: a reader such as `head` may close the pipe early.
    for target, text in made:
        write_new(target, text, overwrite=overwrite)
    if as_json:
        review = manager.review(managed, hot_spot_degree=contributors)
        found |= {"guideline": recommendation.guideline, "contributors": derived}
        found["parameters"] = [asdict(each) for each in recommendation.settings]
        found["concerns"] = [asdict(each) for each in review]
        found["files"] = [str(target) for target, _ in made]
        typer.echo(jsons.dumps(found))
    else:
        for show in shown:
            show()
        console.show_settings(recommendation)
        console.show_concerns(f"{file} as given", manager.review(scenario, hot_spot_degree=contributors))
        if recommendation.settings:
            own = manager.review(managed, hot_spot_degree=contributors)
            console.show_concerns("with these parameters", own)
        for target, _ in made:
            console.say(f"written to {target}")
    if warnings:
        typer.echo(warnings, err=True)
