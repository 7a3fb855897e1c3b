"""`becalm manage`: parameters of IBTA congestion control, or marking thresholds for RoCE, for a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becalm.base import jsons
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.infiniband.harm import Force, harm, refusal, say_unknown
from becalm.cli.options import (
    Changes,
    Example,
    Fabric,
    MaxTime,
    Overwrite,
    changed,
    scenario_file,
    time_limit,
)
from becalm.cli.roce import load

if TYPE_CHECKING:
    from becalm.manager import Concern, Recommendation, Setting
    from becalm.opensm.service_levels import Used
    from becalm.scenario import Scenario
    from becalm.tunings.guidelines import Decision


FabricFile = Annotated[
    Path | None,
    typer.Argument(
        help="A scenario of the fabric, or a folder of SONiC switches as for `becalm check`.",
        show_default=False,
    ),
]
Contributors = Annotated[
    int | None,
    typer.Option(
        "--contributors",
        "--degree",
        help="Largest number of hosts that send to one hot host; default: all others.",
    ),
]
Guideline = Annotated[
    str | None,
    typer.Option(
        help="A guideline of becalm or of a paper, or none to keep the scenario's parameters; default: the "
        "best one on random cases, if it is better than the fabric as it is. With --contributors, a given "
        "guideline is not tried."
    ),
]
Hot = Annotated[str | None, typer.Option(help="The hot host of all cases; default: random ones.")]
Out = Annotated[Path | None, typer.Option(help="Write the scenario with these parameters to a file.")]
OpenSM = Annotated[
    Path | None,
    typer.Option(
        help="Write the parameters as OpenSM options to FILE, zeros to FILE.rollback, and a script for "
        "single ports to FILE.ports if they have settings of their own."
    ),
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
    """A guideline, the contributors that it is for, and the trial that chose it."""

    guideline: str | None
    """None to leave the fabric as it is."""
    contributors: int | None
    decided: Decision | None = None

    @property
    def tried(self) -> str:
        """The guideline whose effects are shown: the chosen one, or else the best one."""
        assert self.decided is not None
        return self.guideline or self.decided.best

    def to_json(self) -> dict[str, Any]:
        """Return the trial for JSON."""
        from becalm.tunings.sizes import sizes

        if self.decided is None:
            return {}
        verdict = self.decided.verdict
        return {
            "cases": verdict.table().to_dicts(),
            "sizes": [each._asdict() for each in sizes(verdict, self.decided.numbers, self.tried)],
            "best": self.decided.best,
            "dropped": {
                name: {"cases": cases, **gap._asdict()} for name, (cases, gap) in self.decided.dropped.items()
            },
            "leave": self.decided.reason,
            "prices": verdict.priced(self.tried),
        }


def manage(
    file: FabricFile = None,
    example: Example = None,
    change: Changes = None,
    contributors: Contributors = None,
    guideline: Guideline = None,
    hot: Hot = None,
    max_time: MaxTime = "100 s",
    out: Out = None,
    opensm: OpenSM = None,
    fabric: Fabric = None,
    sl: ServiceLevels = None,
    force: Force = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Set parameters of IBTA congestion control, or RoCE's Kmin, Kmax and Pmax; warn of what cannot work."""
    from becalm import manager
    from becalm.base.folders import check_writable, write_new
    from becalm.opensm import options, ports, service_levels
    from becalm.tunings.guidelines import starving

    given_options = (("--fabric", fabric is not None), ("--sl", sl is not None), ("--force", force))
    for name, given in given_options:
        if given and opensm is None:
            stop(f"{name}: has no effect without --opensm", BAD_INPUT)
    beside = [] if opensm is None else [opensm, options.rollback_of(opensm), ports.script_of(opensm)]
    check_writable(out, *beside, overwrite=overwrite)
    source = scenario_file("manage", file, example)
    limit = time_limit(max_time)
    scenario = changed(load(source), change)
    if opensm is not None and manager.is_roce(scenario):
        stop("--opensm: has no effect with RoCE; valid: --out, and then `becalm settings`", BAD_INPUT)
    choice = _choose(scenario, contributors, guideline, hot, limit, quiet=as_json)
    before = [*manager.review(scenario, hot_spot_degree=contributors), *starving(scenario, contributors)]
    if choice.guideline is None:
        _leave(choice, (f"{source} as given", before), [out, opensm], as_json=as_json)
        return
    recommendation = manager.recommend(
        scenario, hot_spot_degree=choice.contributors, guideline=choice.guideline
    )
    managed = recommendation.apply(scenario)
    texts, levels = {} if out is None else {out: managed.to_toml()}, None
    if opensm is not None:
        levels = service_levels.used(managed, None if sl is None else service_levels.parse(sl))
        texts |= _files(managed, recommendation, opensm, fabric, levels)
    warnings = "" if opensm is None else harm(texts[opensm], opensm)
    if opensm is not None and warnings and not force:
        stop(refusal(warnings, opensm), BAD_INPUT)
    # Write the files before printing: a reader such as `head` may close the pipe early.
    for target, text in texts.items():
        write_new(target, text, overwrite=overwrite)
    after = manager.review(managed, hot_spot_degree=contributors)
    if as_json:
        typer.echo(jsons.dumps(_json(choice, recommendation.settings, after, list(texts))))
    else:
        _show(choice, recommendation, (f"{source} as given", before, after), list(texts))
    if levels is not None:
        say_unknown(levels, str(source))
    if warnings:
        typer.echo(warnings, err=True)


def _files(
    scenario: Scenario, recommended: Recommendation, file: Path, fabric: Path | None, levels: Used
) -> dict[Path, str]:
    """Return the texts of OpenSM's options, of the zeros beside it, and of single ports' script if needed."""
    from becalm.opensm import options, ports

    texts = {file: options.configuration(scenario, recommended, fabric, levels)}
    texts[options.rollback_of(file)] = options.rollback(scenario, fabric, levels)
    if ports.has_own(scenario):
        texts[ports.script_of(file)] = ports.script(scenario, fabric)
    return texts


def _choose(
    scenario: Scenario,
    contributors: int | None,
    guideline: str | None,
    hot: str | None,
    max_time: float,
    *,
    quiet: bool,
) -> Choice:
    """Try guidelines on random cases, and choose one, unless one is given for a number of contributors."""
    from becalm import manager
    from becalm.cli.hot_spots import say_without_faults
    from becalm.cli.screen import Screen
    from becalm.tunings.guidelines import decide

    if guideline is not None:
        manager.check_guideline(guideline)
        if guideline == manager.AS_IT_IS or (contributors is not None and hot is None):
            return Choice(guideline, contributors)
    say_without_faults(scenario)
    names = list(manager.guidelines_for(scenario)) if guideline is None else [guideline]
    with Screen(quiet=quiet) as screen:
        decided = decide(
            scenario,
            names,
            host=hot,
            contributors=contributors,
            planned=screen.plan,
            progress=screen.on_done,
            seconds=max_time,
        )
    return Choice(guideline or decided.chosen, decided.contributors, decided)


def _leave(
    choice: Choice, given: tuple[str, list[Concern]], targets: list[Path | None], *, as_json: bool
) -> None:
    """Report that the fabric should stay as it is; fail if files were asked for."""
    from becalm.cli import console
    from becalm.cli.hot_spots import show_decision

    assert choice.decided is not None
    if as_json:
        typer.echo(jsons.dumps(_json(choice, [], given[1], [])))
    else:
        show_decision(choice.decided, choice.guideline)
        console.show_concerns(*given)
    if asked := [str(target) for target in targets if target is not None]:
        stop(
            f"{', '.join(asked)}: not written, because no guideline is better; --guideline chooses one",
            FAILED,
        )


def _json(
    choice: Choice, settings: Sequence[Setting], concerns: list[Concern], files: list[Path]
) -> dict[str, Any]:
    return choice.to_json() | {
        "guideline": choice.guideline,
        "contributors": choice.contributors,
        "parameters": [asdict(setting) for setting in settings],
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
    from becalm.cli.hot_spots import show_decision

    if choice.decided is not None:
        show_decision(choice.decided, choice.guideline)
    console.show_settings(recommendation)
    where, before, after = concerns
    console.show_concerns(where, before)
    if recommendation.settings:
        console.show_concerns("with these parameters", after)
    for target in files:
        console.say(f"written to {target}")
    if files and any(setting.key.startswith("marking.ramp.") for setting in recommendation.settings):
        console.say(
            f"for switches: `becalm settings {files[0]}` with --sonic FOLDER, --nvue FILE or --eos FILE"
        )
