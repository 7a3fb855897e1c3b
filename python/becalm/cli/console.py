"""Output of the command line: tables, progress, messages. This module computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from becalm.analysis.formats import MOST_SHARE, cell, number, ratio, seconds, share
from becalm.cli.tables import safe, table
from becalm.results.verdicts import versus
from becalm.scenario import contents

if TYPE_CHECKING:
    from becalm.designs import Design
    from becalm.lab import Report
    from becalm.manager import Concern, Recommendation
    from becalm.opensm.importing import Imported
    from becalm.results import Results
    from becalm.runs import Progress as RunProgress
    from becalm.scenario.contents import Entry

HOTTEST_LINKS = 5
"""Rows of the table of links."""

SHORT = "shorter runs and fewer points (full runs may reverse rankings and verdicts)"
"""Note next to the results of shorter runs."""

VERDICT_STYLES = {"holds": "green", "weak": "cyan", "undecided": "yellow", "fails": "bold red"}
"""Styles of claim verdicts."""

out = Console(highlight=False, emoji=False)
"""Console for results."""
err = Console(stderr=True, highlight=False, emoji=False)
"""Console for messages and progress."""


def summary(results: Results) -> list[Table]:
    """Return the tables printed after a run: jobs, groups, messages and links, averaged over replications."""
    jobs = [_jobs(results)] if "jobs" in results.tables else []
    completion = [_completion(results)] if "completion" in results.tables else []
    return [*jobs, _groups(results), *completion, _links(results)]


def _jobs(results: Results) -> Table:
    import polars as pl

    jobs = results.jobs.group_by("job", maintain_order=True).agg(pl.exclude("job").mean())
    rows = [
        (
            row["job"],
            f"{row['ranks']:.0f}",
            seconds(row["time"]),
            _known(row["slowdown"], lambda value: f"{value:.3f}"),
            share(row["compute_share"]),
            share(row["wait_share"]),
            _known(row["bus_bandwidth"], lambda value: number(value, "B/s")),
        )
        for row in jobs.iter_rows(named=True)
    ]
    return table("Jobs", ("job", "ranks", "time", "slowdown", "computes", "waits", "bus bandwidth"), rows)


def _known(value: float, shown: Callable[[float], str]) -> str:
    """Return a value as text, or a dash for NaN."""
    return "-" if value != value else shown(value)


def _groups(results: Results) -> Table:
    import polars as pl

    groups = results.groups.group_by("group", maintain_order=True).agg(
        pl.col("flows").first(), pl.exclude("flows").mean()
    )
    rows = [
        (
            row["group"],
            str(row["flows"]),
            number(row["rate"], "B/s"),
            share(row["share"]),
            "-" if row["jain"] is None or row["jain"] != row["jain"] else f"{row['jain']:.3f}",
            share(row["marked_share"]),
            seconds(row["latency_mean"]),
            seconds(row["latency_p99"]),
        )
        for row in groups.iter_rows(named=True)
    ]
    columns = ("group", "flows", "rate", "of a link", "Jain", "marked", "latency", "99%")
    made = table("Groups of flows", columns, rows)
    if (groups["share"] > MOST_SHARE).any():
        made.caption, made.caption_justify = "-: more than a link's capacity", "left"
    return made


def _completion(results: Results) -> Table:
    import polars as pl

    numbers = pl.col(pl.Float64).mean()
    groups = results.tables["completion"].group_by("group", maintain_order=True)
    rows = [
        (
            row["group"],
            str(row["messages"]),
            str(row["unfinished"]),
            *[seconds(row[f"completion_{each}"]) for each in ("p50", "p99", "max")],
            *[ratio(row[f"slowdown_{each}"]) for each in ("p50", "p99", "p999")],
        )
        for row in groups.agg(pl.col("messages", "unfinished").sum(), numbers).iter_rows(named=True)
    ]
    columns = ("group", "messages", "unfinished", "completion", "99%", "largest", "slowdown", "99%", "99.9%")
    return table("Messages", columns, rows)


def _links(results: Results) -> Table:
    import polars as pl

    links = results.links.group_by("from", "from_port", "to", maintain_order=True).agg(
        pl.col("rate", "utilization", "stalled_share").mean()
    )
    hottest = links.sort("utilization", descending=True, maintain_order=True).head(HOTTEST_LINKS)
    rows = [
        (
            f"{row['from']} -> {row['to']}",
            number(row["rate"], "B/s"),
            share(row["utilization"]),
            share(row["stalled_share"]),
        )
        for row in hottest.iter_rows(named=True)
    ]
    waits = "paused" if "pauses" in results.tables else "without credit"
    return table(f"Hottest of {links.height} links", ("link", "rate", "busy", waits), rows)


def verdict(results: Results, twin: tuple[Results, Path] | None) -> str | None:
    """Return the first sentence about a run: what control changes, if its twin without control was run."""
    if twin is None or twin[0].stopped is not None:
        return results.verdict
    return versus(twin[0], results).sentence


def show_run(results: Results, folder: Path, twin: tuple[Results, Path] | None = None) -> None:
    """Print the verdict on a run, its summary and its results folder."""
    if said := verdict(results, twin):
        out.print(escape(safe(said)))
    if twin is not None:
        for each in (twin[0], results):
            out.print(escape(safe(each.verdict or "")))
    for part in summary(results):
        out.print(part)
    work = f"{number(results.events)} events, {number(results.packet_hops)} packet-hops"
    if (spent := results.processor_time) is not None:
        speed = f"{number(results.packet_hops / spent)} packet-hops per core-second"
        work = f"{seconds(spent)} of work: {work}, {speed}"
    out.print(work, soft_wrap=True)
    out.print(f"fingerprint {results.fingerprint}", soft_wrap=True)
    if results.scenario.resolved["run"]["end"] == "delivered":
        out.print(f"ended at {', '.join(seconds(item.end) for item in results.replications)}")
    if results.approximation is not None:
        out.print(f"approximate: {results.approximation} (run.fidelity)")
    if results.stopped is not None:
        out.print(f"stopped at {seconds(results.stopped)} of {results.scenario.resolved['run']['duration']}")
    say(f"results in {folder}" + ("" if twin is None else f" and {twin[1]}"))


def show_entries(kind: str, entries: Sequence[Entry]) -> None:
    """Print the items of a kind, one per line."""
    rows = [(entry.name, entry.summary) for entry in entries]
    out.print(table(kind, ("name", "description"), rows, text=2))


def show_entry(kind: str, entry: Entry) -> None:
    """Print the description and keys of an item."""
    out.print(f"{safe(entry.summary)}.")
    if entry.parameters:
        keys = [
            (each["name"], contents.expects(each), contents.default(each), each["help"])
            for each in entry.parameters
        ]
        columns = ("key", "value", "default", "effect")
        out.print(table(f"{kind}.{entry.name}", columns, keys, text=len(columns)))


def show_reports(reports: Sequence[Report]) -> None:
    """Print every experiment's claims, the reasons why some do not hold, and the figure files."""
    from becalm.lab.text import against, score, seeds

    for report in reports:
        out.print(f"{report.id}: {report.title}", style="bold", markup=False)
        out.print(claims(report))
        for claim in report.claims:
            if claim.standing != "holds":
                said = "The paper: " if claim.quote else ""
                held = f", because its null also holds ({against(claim)})" if claim.standing == "weak" else ""
                out.print(
                    f"{claim.id}: {claim.standing}{held}. {said}{claim.sentence}",
                    style=VERDICT_STYLES[claim.standing],
                    markup=False,
                )
        for figure in report.figures:
            out.print(f"figure in {figure}", soft_wrap=True, markup=False)
    every = [claim for report in reports for claim in report.claims]
    out.print(f"{score(reports)} (seeds {seeds(every)})", style="bold", soft_wrap=True)


def claims(report: Report) -> Table:
    """Return a table of an experiment's claims."""
    from becalm.lab.text import measured

    result = Table()
    result.add_column("claim", overflow="fold")
    rows = [
        [cell(each) for each in (claim.paper, measured(claim), claim.tolerance)] for claim in report.claims
    ]
    for place, column in enumerate(("paper", "mean", "tolerance")):
        # On a narrow screen, names wrap but numbers do not.
        longest = max(len(word) for text in (column, *(row[place] for row in rows)) for word in text.split())
        result.add_column(column, justify="right", overflow="fold", min_width=longest)
    result.add_column("verdict", justify="center", no_wrap=True)
    for claim, cells in zip(report.claims, rows, strict=True):
        name = f"{claim.id} ({claim.kind})" if claim.kind != "paper" else claim.id
        verdict = f"[{VERDICT_STYLES[claim.standing]}]{claim.standing}[/]"
        result.add_row(*map(escape, (name, *cells)), verdict)
    return result


def warn_short(short: bool, also: str = "") -> None:
    """Print a note on shorter runs to the error stream if `short` is set; `also` names other reductions."""
    if short:
        err.print(f"--short: {also}{SHORT}", soft_wrap=True)


def show_comparison(
    scenes: Iterable[tuple[Iterable[tuple[str, Sequence[str], Iterable[Sequence[str]]]], Iterable[str]]],
    *,
    short: bool = False,
) -> None:
    """Print the tables of every scene, each with a title, columns and rows, and the notes below them.

    With `short`, each title includes a note on shorter runs.
    """
    for tables, notes in scenes:
        for title, columns, rows in tables:
            out.print(table(f"{title}; {SHORT}" if short else title, columns, rows))
        for note in notes:
            out.print(note)


class Bar:
    """A progress bar on the error stream that shows simulated time, events and packet-hops per second."""

    def __init__(self, *, quiet: bool, unit: str = "runs") -> None:
        """Make a bar; `unit` is what `on_step` counts."""
        self._unit = unit
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[rates]}"),
            TimeRemainingColumn(),
            console=err,
            transient=True,
            disable=quiet or not err.is_terminal,
        )
        self._task: TaskID = self._bar.add_task("", total=1.0, rates="")
        self._runs: dict[int, RunProgress] = {}

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def on_run(self, now: RunProgress) -> None:
        """Show the progress of a run over all its replications."""
        self._runs[now.replication] = now
        runs = self._runs.values()
        time = sum(run.time for run in runs)
        total = now.duration * now.replications
        description = f"{seconds(time)} of {seconds(total)} simulated"
        events = sum(run.events for run in runs)
        self._show(description, time / total, events, sum(run.packet_hops for run in runs))

    def on_step(self, done: int, steps: int) -> None:
        """Show how many of the runs, or other units, are done."""
        self._show(f"{done} of {steps} {self._unit}", done / max(steps, 1))

    def on_stage(self, description: str) -> None:
        """Show the current stage, whose duration is unknown."""
        self._bar.update(self._task, total=None, description=description, rates="")

    def on_trace(self, time: float, end: float, events: int, packet_hops: int) -> None:
        """Show the progress of a traced run."""
        self._show("recording", time / end, events, packet_hops)

    def _show(self, description: str, fraction: float, events: int = 0, packet_hops: int = 0) -> None:
        elapsed = max(self._bar.tasks[0].elapsed or 0.0, 1e-3)
        rates = f"{number(events / elapsed)} events/s, {number(packet_hops / elapsed)} packet-hops/s"
        self._bar.update(
            self._task, completed=fraction, description=description, rates=rates if events else ""
        )


def show_settings(recommendation: Recommendation) -> None:
    """Print each parameter of congestion control with the guideline's reason, if any."""
    if not recommendation.settings:
        return
    rows = [(setting.key, setting.shown, setting.why) for setting in recommendation.settings]
    made = table(f"Guideline: {recommendation.guideline}", ("parameter", "value", "why"), rows, text=3)
    # Users copy keys, so do not truncate them.
    made.columns[0].no_wrap = True
    out.print(made)


def show_imported(imported: Imported, file: Path) -> None:
    """Print notes on an imported fabric, its size, and the scenario file."""
    for note in imported.notes:
        say(f"note: {note}")
    fabric = imported.fabric
    counts = f"{len(fabric.hosts)} hosts, {len(fabric.switches)} switches, {len(fabric.cables)} cables"
    background = f"background load {imported.background.load:g}"
    say(f"{counts}; packets routed {imported.routed}; {background}; written to {file}")


def show_concerns(title: str, concerns: Sequence[Concern]) -> None:
    """Print the problems of a configuration, or a line that there are none."""
    if not concerns:
        out.print(f"{safe(title)}: no problems found")
    for concern in concerns:
        out.print(safe(f"{title}: {concern.sentence}"))


def say(message: str) -> None:
    """Print a message on one line, without wrapping."""
    out.print(safe(message), soft_wrap=True)


def show_design(design: Design, folder: Path) -> None:
    """Print the conditions that a response function violates, and the folder of its files."""
    found = design.summary()
    out.print(table(design.law.name, found.columns, found.rows()))
    for condition in design.check.conditions:
        if condition.holds:
            continue
        if not condition.fails:
            out.print(safe(f"{condition.name} fails: {condition.note}"))
            continue
        where = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in condition.fails)
        rates = f" at rates of {where}" if where else ""
        note = f": {condition.note}" if condition.note else ""
        out.print(safe(f"{condition.name}, {condition.text}, does not hold{rates}{note}"))
    say(f"figure, tables and numbers in {folder}")
