"""`becalm manage`: parameters of IBTA congestion control for a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.infiniband.harm import Force, harm, refusal
from becalm.cli.options import Fabric


def manage(
    file: Annotated[Path, typer.Argument(help="A scenario of the fabric.", show_default=False)],
    degree: Annotated[
        int | None,
        typer.Option(help="Largest number of sources that send to one hot spot; all hosts when not given."),
    ] = None,
    guideline: Annotated[
        str | None,
        typer.Option(
            help="pfister2005, gran2010, or none to keep the scenario's parameters; "
            "default: pfister2005, or with --hot the better one."
        ),
    ] = None,
    hot: Annotated[
        str | None, typer.Option(help="Try both guidelines with this hot host, and show their effect.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the scenario with these parameters to a new file.")
    ] = None,
    opensm: Annotated[
        Path | None,
        typer.Option(
            help="Write the parameters as options of OpenSM to a new file, and zeros to FILE.rollback."
        ),
    ] = None,
    fabric: Fabric = None,
    force: Force = False,
) -> None:
    """Set the parameters of IBTA congestion control for a fabric, and warn of settings that cannot work."""
    import becalm
    from becalm import manager
    from becalm.cli import console
    from becalm.cli.hot_spots import show_tried
    from becalm.folders import check_writable, write_new
    from becalm.opensm import options
    from becalm.tunings.guidelines import try_guidelines

    if fabric is not None and opensm is None:
        stop("--fabric: has no effect without --opensm", BAD_INPUT)
    if force and opensm is None:
        stop("--force: has no effect without --opensm", BAD_INPUT)
    rollback = None if opensm is None else options.rollback_of(opensm)
    check_writable(out, opensm, rollback)
    scenario = becalm.load(file)
    better = "pfister2005"
    if hot is not None:
        tried = try_guidelines(scenario, hot, degree)
        show_tried(tried)
        better = tried.better
    recommendation = manager.recommend(scenario, hot_spot_degree=degree, guideline=guideline or better)
    managed = recommendation.apply(scenario)
    configuration = None if opensm is None else options.configuration(managed, recommendation, fabric)
    zeros = None if opensm is None else options.rollback(managed, fabric)
    told = "" if opensm is None or configuration is None else harm(configuration, opensm)
    if told and opensm is not None and not force:
        stop(refusal(told, opensm), BAD_INPUT)
    texts = ((out, managed.to_toml()), (opensm, configuration), (rollback, zeros))
    made = [(target, text) for target, text in texts if target is not None and text is not None]
    # Before anything is printed: whoever reads it may stop, as `head` does.
    for target, text in made:
        write_new(target, text)
    console.show_settings(recommendation)
    console.show_concerns(f"{file} as it is", manager.review(scenario, hot_spot_degree=degree))
    if recommendation.settings:
        console.show_concerns("with these parameters", manager.review(managed, hot_spot_degree=degree))
    for target, _ in made:
        console.say(f"written to {target}")
    if told:
        typer.echo(told, err=True)
