"""Panel "Run": run and check scenarios, and list their building blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becalm.base import jsons
from becalm.base.errors import BecalmError
from becalm.base.mistakes import printable
from becalm.cli import running, trace
from becalm.cli.exits import BAD_INPUT, error_text, stop
from becalm.cli.options import (
    Changes,
    Example,
    Fabric,
    MaxMemory,
    OwnSchemes,
    Quiet,
    Threads,
    changed,
    scenario_file,
)
from becalm.scenario import examples

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.scenario import Scenario
    from becalm.schemes.loading import Provided


_TWIN = "-without-control"
"""What the name of a twin's results folder adds to that of the run."""
SUMMARY = ("groups", "jobs", "completion")
"""Tables that `run --json` prints."""


def run(
    file: Annotated[Path | None, typer.Argument(help="The scenario to run.", show_default=False)] = None,
    example: Example = None,
    out: Annotated[Path | None, typer.Option(help="Results folder; default: `results/<scenario>`.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing results folder, report and traces.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the scenario's seed.")] = None,
    change: Changes = None,
    opensm: Annotated[
        Path | None, typer.Option(help="Use the congestion control configured in this OpenSM file.")
    ] = None,
    fabric: Fabric = None,
    *,
    own_schemes: OwnSchemes,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report of the run, including frames, to an .html file."),
    ] = None,
    fct: Annotated[
        Path | None,
        typer.Option(help="Write completion times of messages in the columns of HPCC's ns-3 to a file."),
    ] = None,
    twin: Annotated[
        bool,
        typer.Option("--twin", help="Also run without congestion control, and say what control changes."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="With trains: also run smaller jobs exactly, and print the error."),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Serve a page on this machine that shows the run while it goes on."),
    ] = False,
    max_time: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Stop after this time on the clock, such as `600 s`, with the results so far.",
        ),
    ] = None,
    threads: Threads = None,
    max_memory: MaxMemory = None,
    traced: trace.Options,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Run a scenario, print a summary, and write tables to a results folder."""
    from becalm.cli import console, trains
    from becalm.results import FOLDER
    from becalm.runs import memory

    source = scenario_file("run", file, example)
    traces = traced.wanted(overwrite=overwrite)
    _check_names(out, report, fct, *traces.files)
    limit = memory.limit_of(max_memory)
    stopping = running.Stopping(None if max_time is None else _wall_time(max_time))
    own = own_schemes.load()
    scenario = _loaded(source, limit, own) if example is None else examples.load(example)
    seeds = [] if seed is None else [f"run.seed={seed}"]
    scenario = changed(scenario.using(own), [*(change or []), *seeds])
    scenario = _with_opensm(scenario, opensm, fabric)
    scenario = _watched(scenario, report, overwrite=overwrite)
    _check_completions(scenario, fct, overwrite=overwrite)
    other = _twin_of(scenario, wanted=twin)
    less = trains.smaller(scenario) if check else None
    choice = traces.choice(scenario)
    default = Path("results") / source.stem
    quiet = quiet or as_json
    _say([] if quiet else [f"note: {note}" for note in _notes(source, scenario, threads)])
    one = partial(running.run, stopping, quiet=quiet, threads=threads, max_memory=limit)
    with FOLDER.reserve(out, overwrite=overwrite) if out else FOLDER.reserve_free(default) as place:
        results = one(scenario, watch=watch)
        place.write(results.fill)
    # The twin, the check and traces are separate runs; who stops a run does not wait for them.
    whole = results.stopped is None
    beside = _run_twin(other, place.folder, one, overwrite=overwrite) if other and whole else None
    checked = trains.check(*less, one) if less and whole else None
    said = traces.write(choice, quiet=quiet) if whole else []
    said += [] if checked is None else trains.lines(checked)
    said += _written(results, beside, report, place.folder, overwrite=overwrite)
    said += _write_completions(results, fct, overwrite=overwrite)
    if as_json:
        of_trains = {} if checked is None else {"check": checked}
        typer.echo(_summary(results, beside, place.folder, of_trains))
    elif not quiet:
        console.show_run(results, place.folder, beside)
        _say(said)
    stopping.leave("stopped by a signal; the results end there")


def _say(lines: Iterable[str]) -> None:
    from becalm.cli import console

    for line in lines:
        console.say(line)


def _notes(source: Path, scenario: Scenario, threads: int | None) -> Iterator[str]:
    """Yield what differs from what the user may expect of the run."""
    from becalm.runs import fewer_threads

    if why := fewer_threads(scenario, threads):
        yield why
    if _is_scene(source):
        yield "this is a scene for `becalm compare`; `becalm run` runs it without congestion control"


def _summary(
    results: Results, beside: tuple[Results, Path] | None, folder: Path, more: dict[str, Any]
) -> str:
    """Return the summary of a run, and of its twin if there is one, as JSON."""
    from becalm.cli import console

    summed = {
        "results": str(folder),
        "fingerprint": results.fingerprint,
        "verdict": console.verdict(results, beside),
    }
    tables = {name: results.tables[name].to_dicts() for name in SUMMARY if name in results.tables}
    return jsons.dumps(summed | more | tables)


def validate(
    files: Annotated[list[Path], typer.Argument(help="Scenarios.", show_default=False)],
    change: Changes = None,
    *,
    own_schemes: OwnSchemes,
    max_memory: MaxMemory = None,
) -> None:
    """Check scenarios, and print all errors and warnings; exit code 2 if there are errors."""
    import becalm

    bad, own = False, own_schemes.load()
    for file in files:
        try:
            scenario = changed(_loaded(file, max_memory, own).using(own), change)
            warnings = [f"warning: {each}" for each in scenario.warnings]
        except (becalm.BecalmError, OSError) as error:
            bad = True
            typer.echo(printable(error_text(error)), err=True)
        else:
            typer.echo("\n".join(printable(f"{file}: {line}") for line in ("ok", *warnings)))
    if bad:
        raise typer.Exit(BAD_INPUT)


def _loaded(file: Path, max_memory: int | str | None, own: tuple[Provided, ...]) -> Scenario:
    """Return a file's scenario. For a scene of `becalm compare`, return one without congestion control."""
    import becalm

    if _is_scene(file):
        from becalm.comparison import merge

        return merge.uncontrolled(file)
    return becalm.load(file, max_memory=max_memory, schemes=own)


def _is_scene(file: Path) -> bool:
    """Return whether a file is a scene. Comparisons load slowly, and few files name their table."""
    if not file.is_file() or b"compare" not in file.read_bytes():
        return False
    from becalm.comparison.scene import is_scene

    return is_scene(file)


def _wall_time(text: str) -> float:
    from becalm.base.quantities import seconds

    limit = seconds(text)
    if limit <= 0:
        stop(f"--max-time {text}: must be more than 0 s", BAD_INPUT)
    return limit


def _check_names(*paths: Path | None) -> None:
    """Check before the run that all output files have different names."""
    given = [path for path in paths if path is not None]
    # In versions of Python before 3.13, `resolve` fails for links that form a loop.
    places = [os.path.realpath(path) for path in given]
    for number, path in enumerate(given):
        if places[number] in places[:number]:
            stop(f"{path}: given for two outputs; each needs its own file", BAD_INPUT)


def _with_opensm(scenario: Scenario, configuration: Path | None, fabric: Path | None) -> Scenario:
    """Return a scenario with the congestion control of an OpenSM configuration, if given.

    Raises:
        BecalmError: a fabric is given without a configuration, or either is invalid.

    """
    if configuration is None:
        if fabric is not None:
            raise BecalmError("--fabric: has no effect without --opensm")
        return scenario
    from becalm.opensm import ibnetdiscover, simulate

    discovered = None if fabric is None else ibnetdiscover.read(fabric)
    idle = simulate.idle_levels(scenario, configuration)
    if idle:
        levels = f"level{'s' if len(idle) > 1 else ''} {', '.join(map(str, idle))}"
        problem = f"sets up no congestion control for flows on service {levels}, which ignore marks"
        typer.echo(f"warning: {configuration}: {problem}", err=True)
    return simulate.with_configuration(scenario, configuration, discovered)


def _watched(scenario: Scenario, page: Path | None, *, overwrite: bool) -> Scenario:
    """Return a scenario that also records the data for its page, if requested. The run stays the same.

    Raises:
        ResultsError: the page already exists or cannot be written.

    """
    if page is None:
        return scenario
    from becalm.analysis.recording import recording
    from becalm.base.folders import check_writable
    from becalm.reports.page import PAGE

    PAGE.check_target(page)
    check_writable(page, overwrite=overwrite)
    return recording(scenario)


def _written(
    results: Results, twin: tuple[Results, Path] | None, page: Path | None, folder: Path, *, overwrite: bool
) -> list[str]:
    """Write the page of a run, or of a run and its twin, to a new file, if requested. Return its path."""
    if page is None:
        return []
    from becalm.base.folders import write_new
    from becalm.reports import report
    from becalm.reports.pair import pair

    complete = twin is not None and twin[0].stopped is None
    text = pair(twin[0], results) if twin and complete else report(results, folder=folder)
    write_new(page, text, overwrite=overwrite)
    return [str(page)]


def _check_completions(scenario: Scenario, file: Path | None, *, overwrite: bool) -> None:
    """Refuse a file for completion times that cannot be written, or a run without messages."""
    if file is None:
        return
    from becalm.base.folders import check_writable
    from becalm.simulators.fct import NEEDED

    check_writable(file, overwrite=overwrite)
    if not scenario.resolved["observe"]["messages"]:
        stop(f"--fct: {NEEDED}", BAD_INPUT)


def _write_completions(results: Results, file: Path | None, *, overwrite: bool) -> list[str]:
    """Write completion times of messages; return what was written, in words."""
    if file is None:
        return []
    from becalm.base.folders import write_new
    from becalm.simulators import fct

    write_new(file, "".join(f"{line}\n" for line in fct.lines(results)), overwrite=overwrite)
    return [f"completion times in {file}"]


def _twin_of(scenario: Scenario, *, wanted: bool) -> Scenario | None:
    """Return the scenario without congestion control, if it is wanted."""
    if not wanted:
        return None
    twin = scenario.without_control()
    if twin == scenario:
        stop(
            "--twin: the scenario has no congestion control, so leave out --twin",
            BAD_INPUT,
        )
    return twin


def _run_twin(
    twin: Scenario, folder: Path, run: Callable[[Scenario], Results], *, overwrite: bool
) -> tuple[Results, Path]:
    """Run a twin, and write its results beside those of the run, in `folder`.

    Raises:
        BecalmError: the run fails, or the results cannot be written.

    """
    from becalm.results import FOLDER

    name = folder.with_name(folder.name + _TWIN)
    with FOLDER.reserve(name, overwrite=overwrite) if overwrite else FOLDER.reserve_free(name) as place:
        results = run(twin)
        place.write(results.fill)
    return results, place.folder
