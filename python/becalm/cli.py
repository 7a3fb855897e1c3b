"""The command line: reads arguments, calls the package, prints. Heavy imports are inside the commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from becalm import jsons
from becalm.commands import administrator, comparing, offers, play, reports
from becalm.exits import BAD_INPUT, FAILED, INTERRUPTED, guarded, prepare, stop, told
from becalm.explain import cli as explain
from becalm.mistakes import printable
from becalm.store import cli as store
from becalm.sweep import cli as sweep
from becalm.trace import cli as trace
from becalm.tune import cli as tune

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "app", "guarded", "main", "stop", "told"]

app = typer.Typer(
    help="Congestion control in lossless fabrics: simulate, compare, reproduce the papers.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=4096,
        help="Threads to use; all cores when not given. One run is split only where that can pay.",
    ),
]
MaxMemory = sweep.MaxMemory


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Congestion control in lossless fabrics: simulate, compare, reproduce the papers."""
    if version:
        from becalm import __version__

        typer.echo(f"becalm {__version__}")
        raise typer.Exit


@app.command()
@guarded
def run(
    file: Annotated[Path | None, typer.Argument(help="A scenario.", show_default=False)] = None,
    example: Annotated[
        str | None, typer.Option(help="An example of `becalm examples` instead of a file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Results folder; `results/<scenario>` when not given.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing results folder.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Replaces the scenario's seed.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a value; repeatable.")
    ] = None,
    opensm: Annotated[
        Path | None, typer.Option(help="Take congestion control from this configuration of OpenSM.")
    ] = None,
    fabric: Annotated[
        Path | None, typer.Option(help="Output of `ibnetdiscover`, for the ports of OpenSM's masks.")
    ] = None,
    report: reports.Page = None,
    threads: Threads = None,
    max_memory: MaxMemory = None,
    pcap: trace.Pcap = None,
    packets: trace.Packets = None,
    perfetto: trace.Chrome = None,
    traced: trace.Chosen = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")] = False,
) -> None:
    """Run a scenario: a progress bar, a summary, tables in a results folder."""
    import becalm
    from becalm import console, examples, memory
    from becalm.results import FOLDER
    from becalm.run import fewer_threads
    from becalm.scenario import parse_change

    if (file is None) == (example is None):
        stop("run: needs either a scenario or --example with a name from `becalm examples`", BAD_INPUT)
    traces = trace.wanted(pcap, packets, perfetto, traced)
    file = examples.path(example) if file is None and example is not None else Path(file or "")
    changes = dict(parse_change(each) for each in change or [])
    if seed is not None:
        changes["run.seed"] = seed
    scenario = becalm.load(file) if example is None else examples.load(example)
    if changes:
        scenario = scenario.replace(changes, option="--set")
    scenario = administrator.with_opensm(scenario, opensm, fabric)
    scenario = reports.watched(scenario, report)
    choice, limit = traces.choice(scenario), memory.limit_of(max_memory)
    default = Path("results") / file.stem
    if not quiet and (why := fewer_threads(scenario, threads)):
        console.say(f"note: {why}")
    with FOLDER.reserve(out, overwrite=overwrite) if out else FOLDER.reserve_free(default) as place:
        with console.Bar(quiet=quiet) as bar:
            results = becalm.run(scenario, progress=bar.on_run, threads=threads, max_memory=limit)
        place.write(results.fill)
    told = [*traces.write(choice), *reports.write(results, report)]
    if not quiet:
        console.show_run(results, place.folder)
        for line in told:
            console.say(line)


@app.command()
@guarded
def validate(
    files: Annotated[list[Path], typer.Argument(help="Scenarios.", show_default=False)],
) -> None:
    """Check scenarios; print all errors at once, and warnings. Exit code 2 on errors."""
    import becalm

    bad = False
    for file in files:
        try:
            warnings = [f"warning: {each}" for each in becalm.load(file).warnings]
        except (becalm.BecalmError, OSError) as error:
            bad = True
            typer.echo(printable(told(error)), err=True)
        else:
            typer.echo("\n".join(printable(f"{file}: {line}") for line in ("ok", *warnings)))
    if bad:
        raise typer.Exit(BAD_INPUT)


@app.command()
@guarded
def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[PAPER[/FIGURE]]...", help="All when not given.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line, one line per experiment.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("figures"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing figures.")] = False,
    short: Annotated[bool, typer.Option("--short", help="Fewer points and shorter runs.")] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds to judge by; 5 when not given, 1 with --short.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    threads: Threads = None,
) -> None:
    """Reproduce figures of papers and check their claims; exit code 1 if a sentence of a paper fails."""
    from becalm import console, lab

    console.warn_short(short, also="" if seeds else "one seed, ")
    try:
        with console.Bar(quiet=as_json) as bar:
            reports = lab.reproduce(
                ids or [],
                out=out,
                overwrite=overwrite,
                threads=threads,
                short=short,
                seeds=seeds,
                seed=seed,
                progress=bar.on_experiment,
            )
    except ValueError as error:
        stop(str(error), BAD_INPUT)
    if as_json:
        for report in reports:
            typer.echo(jsons.dumps(report.to_json()))
    else:
        console.show_reports(reports)
    if any(report.fails for report in reports):
        raise typer.Exit(FAILED)


@app.command()
@guarded
def draw(
    folder: Annotated[Path, typer.Argument(help="Results with snapshots.", show_default=False)],
    time: Annotated[str, typer.Option(help="Time of the snapshot, such as '5 ms'.", show_default=False)],
    vl: Annotated[int, typer.Option(min=0, max=15, help="Virtual lane.")] = 0,
    replication: Annotated[int, typer.Option(min=0, max=2**31, help="Replication number.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="The picture, a new file: .png, .svg or .pdf; `fabric.png` when not given."),
    ] = None,
) -> None:
    """Draw the fabric at a snapshot: full buffers, roots and victims of congestion."""
    import becalm
    from becalm import console
    from becalm.folders import free_file, new_file
    from becalm.plot import FORMATS, draw_fabric, save
    from becalm.quantities import seconds

    picture = out or free_file(Path("fabric.png"))
    if picture.suffix not in FORMATS:
        stop(f"{picture}: must end in one of: {', '.join(FORMATS)}", BAD_INPUT)
    with new_file(picture) as partial:
        results = becalm.load_results(folder)
        save(draw_fabric(results, seconds(time), vl=vl, replication=replication), partial)
    console.say(str(picture))


@app.command("import")
@guarded
def import_(
    file: Annotated[Path, typer.Argument(help="Output of `ibnetdiscover`.", show_default=False)],
    lfts: Annotated[
        Path | None,
        typer.Option(
            help="Forwarding tables, as in OpenSM's opensm-lfts.dump; shortest paths when not given."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The scenario, a new file.")] = Path("fabric.toml"),
) -> None:
    """Make a scenario of an InfiniBand fabric: its nodes, cables and routes, and a first traffic pattern."""
    from becalm import console
    from becalm.folders import check_writable, write_new
    from becalm.opensm.importing import import_fabric

    check_writable(out)
    imported = import_fabric(file, lfts)
    write_new(out, imported.text)
    console.show_imported(imported, out)


@app.command()
@guarded
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
    fabric: Annotated[
        Path | None, typer.Option(help="Output of `ibnetdiscover`, for the ports of OpenSM's masks.")
    ] = None,
) -> None:
    """Set the parameters of IBTA congestion control for a fabric, and warn of settings that cannot work."""
    import becalm
    from becalm import console, manager
    from becalm.folders import check_writable, write_new
    from becalm.opensm import options
    from becalm.tune import guidelines

    if fabric is not None and opensm is None:
        stop("--fabric: has no effect without --opensm", BAD_INPUT)
    rollback = None if opensm is None else options.rollback_of(opensm)
    check_writable(out, opensm, rollback)
    scenario = becalm.load(file)
    better = "pfister2005"
    if hot is not None:
        tried = guidelines.try_guidelines(scenario, hot, degree)
        guidelines.show_tried(tried)
        better = tried.better
    recommendation = manager.recommend(scenario, hot_spot_degree=degree, guideline=guideline or better)
    managed = recommendation.apply(scenario)
    configuration = None if opensm is None else options.configuration(managed, recommendation, fabric)
    zeros = None if opensm is None else options.rollback(managed, fabric)
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


@app.command()
@guarded
def design(
    f_dec: Annotated[
        str,
        typer.Argument(
            help="Rate after a mark: an expression such as 'max(r / 2, rmin)', or points (.csv, .json).",
            show_default=False,
        ),
    ],
    f_inc: Annotated[
        str | None, typer.Option("--increase", help="Rate without a mark, likewise; derived when not given.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the design.")] = "design",
    rmin: Annotated[float, typer.Option(help="Smallest rate, as a share of the link's.")] = 1 / 256,
    rmax: Annotated[float, typer.Option(help="Largest rate.")] = 1.0,
    packet_time: Annotated[float, typer.Option(help="Transmission time of a packet in us.")] = 2.048,
    out: Annotated[Path | None, typer.Option(help="Folder; `designs/<name>` when not given.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing design.")] = False,
    trial: Annotated[bool, typer.Option(help="Run the standard scenes.")] = True,
    short: Annotated[bool, typer.Option("--short", help="One point per scene and shorter runs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all runs.")] = 1,
    threads: Threads = None,
) -> None:
    """Derive, check, tabulate and try a response function, and compare it with LIPD, FIMD and AIMD."""
    import becalm
    from becalm import console
    from becalm.design import files
    from becalm.design.workbench import FOLDER

    decrease = files.read_function(f_dec)
    increase = None if f_inc is None else files.read_function(f_inc)
    default = Path("designs") / name
    with FOLDER.reserve(out, overwrite=overwrite) if out else FOLDER.reserve_free(default) as place:
        console.warn_short(short)
        with console.Bar(quiet=as_json) as bar:
            made = becalm.design(
                decrease,
                increase,
                rmin=rmin,
                rmax=rmax,
                name=name,
                packet_time=packet_time * 1e-6,
                trial=trial,
                short=short,
                seed=seed,
                threads=threads,
                progress=bar.on_experiment,
            )
        place.write(made.fill)
    if as_json:
        typer.echo(jsons.dumps(made.to_json()))
        return
    console.show_design(made, place.folder)


administrator.register(app, guarded)
offers.register(app)
reports.register(app)
play.register(app)
comparing.register(app)


app.command()(explain.explain)
app.command()(sweep.sweep)
app.command()(tune.tune)
app.add_typer(store.app, name="store")


def main() -> None:
    """Entry point."""
    prepare()
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
