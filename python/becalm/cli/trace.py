"""Options of `becalm run` for traces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.base.errors import BecalmError

if TYPE_CHECKING:
    from becalm.scenario import Scenario
    from becalm.traces.record import Choice

_KEYS = ("flows", "links", "switches", "from", "until", "most")


@dataclass(frozen=True)
class Wanted:
    """The requested traces."""

    captures: dict[str, Path]
    packets: Path | None
    chrome: Path | None
    events: Path | None
    chosen: dict[str, list[str]]
    overwrite: bool
    """Whether existing files are replaced."""

    @property
    def files(self) -> list[Path]:
        """The files to write."""
        files = (*self.captures.values(), self.packets, self.chrome, self.events)
        return [file for file in files if file is not None]

    def choice(self, scenario: Scenario) -> Choice | None:
        """Return what to record of a scenario, or None for nothing.

        Raises:
            BecalmError: a link or flow is unknown, or the times do not fit.

        """
        if not self.files:
            return None
        from becalm.traces.record import Choice

        stop = self.chosen["until"][-1] if "until" in self.chosen else None
        start = self._last("from", "0 s")
        switches = self.chosen.get("switches") if self.events else ()
        return Choice(scenario, self.chosen.get("flows"), self._links(), switches, start, stop, self._most())

    def write(self, choice: Choice | None, *, quiet: bool) -> list[str]:
        """Record replication 0, write the files, and return lines about them.

        Raises:
            BecalmError: a file cannot be written.

        """
        if choice is None:
            return []
        from becalm.cli import console
        from becalm.traces.record import recorded

        with console.Bar(quiet=quiet) as bar:
            bar.on_trace(0.0, 1.0, 0, 0)
            found = recorded(choice, bar.on_trace)
        for link, file in self.captures.items():
            found.save_pcap(link, file, overwrite=self.overwrite)
        if self.packets is not None:
            found.save_packets(self.packets, overwrite=self.overwrite)
        if self.chrome is not None:
            found.save_chrome(self.chrome, overwrite=self.overwrite)
        if self.events is not None:
            found.save_calls(self.events, overwrite=self.overwrite)
        lines = [f"traced to {file}" for file in self.files]
        if found.full:
            lines.append(
                f"note: the traces end at {found.end / 1e6:.6g} us, because a table is full; "
                "see --trace most=ROWS"
            )
        return lines

    def _links(self) -> list[str] | None:
        """Return the links to record: only captured links, unless packets or a trace are also written."""
        links = self.chosen.get("links")
        if self.packets is not None or self.chrome is not None:
            return None if links is None else [*links, *self.captures]
        return list(self.captures)

    def _last(self, key: str, otherwise: str) -> str:
        return self.chosen.get(key, [otherwise])[-1]

    def _most(self) -> int:
        from becalm.traces.record import MOST

        text = self._last("most", str(MOST))
        if not text.isdecimal() or len(text) > 9:
            raise BecalmError(f"--trace most={text}: must be a number of rows, such as {MOST}")
        return int(text)


@dataclass(frozen=True)
class Options:
    """Options for traces."""

    pcap: Annotated[
        list[str] | None,
        typer.Option("--pcap", metavar="LINK=FILE", help="Capture a link for Wireshark; repeatable."),
    ] = None
    packets: Annotated[
        Path | None, typer.Option(help="Write a table of packets to a Parquet file.", show_default=False)
    ] = None
    perfetto: Annotated[
        Path | None, typer.Option("--perfetto", help="Write a trace for ui.perfetto.dev to a JSON file.")
    ] = None
    events: Annotated[
        Path | None,
        typer.Option(
            help="Write each call to a marking policy or response, with its result, to a Parquet file."
        ),
    ] = None
    traced: Annotated[
        list[str] | None,
        typer.Option(
            "--trace",
            metavar="KEY=VALUE",
            help="Limit the traces by flows=GROUP or flows=NUMBER, links=A->B, switches=NAME (all "
            "repeatable), from=TIME, until=TIME, or most=ROWS (default: 100000).",
        ),
    ] = None

    def wanted(self, *, overwrite: bool) -> Wanted:
        """Read the options, and refuse unwritable files before the run.

        Raises:
            BecalmError: an option cannot be read or has no effect, or a file cannot be written.

        """
        from becalm.base.folders import check_writable

        captures: dict[str, Path] = {}
        for text in self.pcap or ():
            link, equals, file = text.rpartition("=")
            if not equals or not link or not file:
                raise BecalmError(f"--pcap {text}: must be LINK=FILE, such as 'A->B=trunk.pcap'")
            if link in captures:
                raise BecalmError(f"--pcap {text}: the link already has a capture")
            captures[link] = Path(file)
        keys: dict[str, list[str]] = {}
        for text in self.traced or ():
            key, equals, value = text.partition("=")
            if not equals or key not in _KEYS:
                valid = ", ".join(f"{each}=..." for each in _KEYS)
                raise BecalmError(f"--trace {text}: unknown; valid: {valid}")
            keys.setdefault(key, []).append(value)
        links = captures or self.packets or self.perfetto
        if keys and not links and self.events is None:
            raise BecalmError("--trace: has no effect without --pcap, --packets, --perfetto or --events")
        if "switches" in keys and self.events is None:
            raise BecalmError("--trace switches=...: has no effect without --events")
        for key in ("from", "links"):
            if key in keys and not links:
                problem = "has no effect on --events, which always start with the run"
                raise BecalmError(f"--trace {key}=...: {problem}")
        check_writable(*captures.values(), self.packets, self.perfetto, self.events, overwrite=overwrite)
        return Wanted(captures, self.packets, self.perfetto, self.events, keys, overwrite)
