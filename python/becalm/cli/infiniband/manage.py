"""`becalm manage`: parameters of IBTA congestion control for a fabric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becalm import jsons
from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.infiniband.harm import Force, harm, refusal, say_unknown
from becalm.cli.options import Fabric, Overwrite

if TYPE_CHECKING:
    from becalm.manager import Concern, Recommendation
    from becalm.scenario import Scenario


FabricFile = Annotated[Path, typer.Argument(help="A scenario of the fabric.", show_default=False)]
Contributors = Annotated[
    int | None,
    typer.Option(
        "--contributors",
        "--degree",
        help="Largest number of hosts that send to one hot host; default: choose settings that suit "
        "hot spots of 2, 4, 8, ... and all hosts.",
    ),
]
Guideline = Annotated[
    str | None,
    typer.Option(
        help="becalm, pfister2005, gran2010, or none to keep the scenario's parameters; default: "
        "with --hot, the best one on the cases; with --contributors, becalm; otherwise the best one for "
        "all sizes."
    ),
]
Hot = Annotated[str | None, typer.Option(help="Try all guidelines on random cases with this hot host.")]
Out = Annotated[Path | None, typer.Option(help="Write the scenario with these parameters to a file.")]
OpenSM = Annotated[
    Path | None,
    typer.Option(help="Write the parameters as OpenSM options to FILE, and zeros to FILE.rollback."),
]
ServiceLevels = Annotated[
    str | None,
    typer.Option(
        "--sl",
        help="Service levels that --opensm sets up, such as 0,1,4-7; default: those that the scenario names, "
        "or else all.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print parameters and concerns as one JSON object.")]


@dataclass
class Choice:
    """A guideline, the contributors that it is for, and what was tried to choose it."""

    guideline: str
    contributors: int | None
    tried: dict[str, Any] = field(default_factory=dict)
    """What was tried, for JSON."""
    shows: list[Callable[[], None]] = field(default_factory=list)
    """Functions that print what was tried."""


def manage(
    file: FabricFile,
    contributors: Contributors = None,
    guideline: Guideline = None,
    hot: Hot = None,
    out: Out = None,
    opensm: OpenSM = None,
    fabric: Fabric = None,
    sl: ServiceLevels = None,
    force: Force = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Set a fabric's parameters of IBTA congestion control; warn about settings that cannot work."""
    import becalm
    from becalm import manager
    from becalm.folders import check_writable, write_new
    from becalm.opensm import options, service_levels
    from becalm.tunings.guidelines import starving

    given_options = (("--fabric", fabric is not None), ("--sl", sl is not None), ("--force", force))
    for name, given in given_options:
        if given and opensm is None:
            stop(f"{name}: has no effect without --opensm", BAD_INPUT)
    rollback = None if opensm is None else options.rollback_of(opensm)
    check_writable(out, opensm, rollback, overwrite=overwrite)
    scenario = becalm.load(file)
    choice = _choose(scenario, contributors, guideline, hot, quiet=as_json)
    recommendation = manager.recommend(
        scenario, hot_spot_degree=choice.contributors, guideline=guideline or choice.guideline
    )
    managed = recommendation.apply(scenario)
    texts, warnings = {} if out is None else {out: managed.to_toml()}, ""
    levels = None
    if opensm is not None and rollback is not None:
        levels = service_levels.used(managed, None if sl is None else service_levels.parse(sl))
        texts[opensm] = options.configuration(managed, recommendation, fabric, levels)
        texts[rollback] = options.rollback(managed, fabric, levels)
        warnings = harm(texts[opensm], opensm)
        if warnings and not force:
            stop(refusal(warnings, opensm), BAD_INPUT)
    # Write the files before printing: a reader such as `head` may close the pipe early.
    for target, text in texts.items():
        write_new(target, text, overwrite=overwrite)
    before, after = (manager.review(one, hot_spot_degree=contributors) for one in (scenario, managed))
    before = [*before, *starving(scenario, contributors)]
    if as_json:
        typer.echo(jsons.dumps(_json(choice, recommendation, after, list(texts))))
    else:
        _show(choice, recommendation, (f"{file} as given", before, after), list(texts))
    if levels is not None:
        say_unknown(levels, str(file))
    if warnings:
        typer.echo(warnings, err=True)


def _choose(
    scenario: Scenario, contributors: int | None, guideline: str | None, hot: str | None, *, quiet: bool
) -> Choice:
    """Try guidelines, and choose one: on random cases with a hot host, and for all sizes of hot spots."""
    from becalm import manager
    from becalm.cli import console
    from becalm.cli.hot_spots import show_sizes, show_tried
    from becalm.cli.screen import Screen
    from becalm.tunings.guidelines import choose, try_guidelines

    choice = Choice(manager.DEFAULT, contributors)
    if hot is not None:
        with Screen(1, quiet=quiet) as screen:
            tried = try_guidelines(scenario, hot, contributors, planned=screen.plan, progress=screen.on_done)
        choice.guideline = tried.better
        choice.tried["cases"] = tried.verdict.table().to_dicts()
        choice.shows.append(lambda: show_tried(tried))
    if contributors is None and guideline != manager.AS_IT_IS:
        names = [guideline] if guideline else [choice.guideline] if hot else list(manager.GUIDELINES)
        manager.check_guideline(names[0])
        with console.Bar(quiet=quiet) as bar:
            sizes = choose(scenario, names, bar.on_step)
        choice.tried["hot_link"] = [asdict(size) for size in sizes]
        choice.shows.append(lambda: show_sizes(sizes))
        choice.guideline, choice.contributors = sizes[0].guideline, sizes[0].contributors
    return choice


def _json(
    choice: Choice, recommendation: Recommendation, concerns: list[Concern], files: list[Path]
) -> dict[str, Any]:
    return choice.tried | {
        "guideline": recommendation.guideline,
        "contributors": choice.contributors,
        "parameters": [asdict(setting) for setting in recommendation.settings],
        "concerns": [asdict(concern) for concern in concerns],
        "files": [str(target) for target in files],
    }


def _show(
    choice: Choice,
    recommendation: Recommendation,
    concerns: tuple[str, list[Concern], list[Concern]],
    files: list[Path],
) -> None:
    from becalm.cli import console

    for show in choice.shows:
        show()
    console.show_settings(recommendation)
    where, before, after = concerns
    console.show_concerns(where, before)
    if recommendation.settings:
        console.show_concerns("with these parameters", after)
    for target in files:
        console.say(f"written to {target}")
