"""Options that several commands share: schemes, files, the engine of many runs and their store."""

from __future__ import annotations

import functools
import inspect
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from becalm.base.errors import ScenarioError
from becalm.base.mistakes import reason, short
from becalm.cli.exits import BAD_INPUT, stop
from becalm.scenario import examples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from becalm.runs.drive import EngineOf
    from becalm.runs.engines import Engine
    from becalm.runs.task import Shelf
    from becalm.scenario import Scenario
    from becalm.schemes.loading import Provided


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for every field of its parameters that are groups of options."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: fields(kind) for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for each in inspect.signature(command).parameters.values():
        of = get_type_hints(hints[each.name], include_extras=True) if each.name in groups else hints
        parameters += [
            each.replace(name=part.name, default=part.default, annotation=of[part.name])
            for part in groups.get(each.name, (each,))
        ]

    @functools.wraps(command)
    def call(**given: Any) -> None:  # noqa: ANN401
        made = {
            name: hints[name](**{part.name: given.pop(part.name) for part in parts})
            for name, parts in groups.items()
        }
        command(**given, **made)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=4096,
        help="Number of threads; default: one per core, or one for small runs.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Refuse runs that need more memory than this (e.g. 4GB); default: 80% of the machine's memory.",
    ),
]
MaxTime = Annotated[
    str,
    typer.Option(
        metavar="TIME", help="Limit on wall-clock time, such as `60 s`; a number without unit is of seconds."
    ),
]
Example = Annotated[
    str | None, typer.Option(help="Use a scenario from `becalm list examples` instead of a file.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a value of the scenario; repeatable."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Fabric = Annotated[
    Path | None,
    typer.Option(help="Output of `ibnetdiscover`, to look up the port numbers for OpenSM's port masks."),
]


@dataclass(frozen=True)
class OwnSchemes:
    """Options for the user's own schemes. User code runs only through these, never through a scenario."""

    response: Annotated[
        list[str] | None,
        typer.Option(
            "--response",
            metavar="FILE:NAME",
            help="Use your own response: a class in a Python file, or a scheme in a library; repeatable.",
        ),
    ] = None
    marking: Annotated[
        list[str] | None,
        typer.Option("--marking", metavar="FILE:NAME", help="Use your own marking policy; see --response."),
    ] = None
    echo: Annotated[
        list[str] | None,
        typer.Option("--echo", metavar="FILE:NAME", help="Use your own echo; see --response."),
    ] = None

    def load(self) -> tuple[Provided, ...]:
        """Return the schemes.

        Raises:
            SchemeError: a scheme cannot be loaded.

        """
        named = {"response": self.response, "marking": self.marking, "echo": self.echo}
        if not any(named.values()):
            return ()
        from becalm.schemes.loading import load

        return tuple(load(each, seam) for seam, files in named.items() for each in files or ())


def scenario_file(command: str, file: Path | None, example: str | None) -> Path:
    """Return the file of a command's scenario, which is given either by its path or by an example's name."""
    if file is not None and example is not None:
        stop(f"{command}: takes a scenario or --example, not both; leave out {file} or --example", BAD_INPUT)
    if file is None and example is None:
        stop(f"{command}: needs a scenario, or --example with a name from `becalm list examples`", BAD_INPUT)
    # Commands take folders of results, and some take those of SONiC switches.
    folder = file is not None and file.is_dir() and not (file / "manifest.json").is_file()
    if command in ("run", "play") and folder:
        stop(f"{file}: is a folder; valid for `becalm {command}`: a scenario (.toml), or results", BAD_INPUT)
    return examples.path(example) if file is None and example is not None else Path(file or "")


def time_limit(text: str) -> float:
    """Return the limit on wall-clock time in seconds. Version 0.3 took numbers of seconds.

    Raises:
        BecalmError: not a time.

    """
    from becalm.base.quantities import seconds

    limit = seconds(f"{text} s" if text.replace(".", "", 1).isdigit() else text)
    if limit < 1:
        stop(f"--max-time {text}: must be at least 1 s", BAD_INPUT)
    return limit


def changed(scenario: Scenario, changes: list[str] | None) -> Scenario:
    """Return a scenario with the values of `--set`.

    Raises:
        ScenarioError: a change is invalid.

    """
    pairs = dict(parse_change(each) for each in changes or [])
    return scenario.replace(pairs, option="--set") if pairs else scenario


Workers = Annotated[int | None, typer.Option(min=1, help="Concurrent runs; default: one per available core.")]
Runs = Annotated[
    int | None,
    typer.Option(
        "--workers", "--threads", min=1, max=4096, help="Number of concurrent runs; default: one per core."
    ),
]


EngineName = Annotated[str, typer.Option(help="How to run in parallel: processes, threads or dask.")]


@dataclass(frozen=True)
class EngineOptions:
    """Options for the engine of many runs."""

    engine: EngineName = "processes"
    address: Annotated[
        str | None, typer.Option(help="Address of the Dask scheduler, such as tcp://head:8786.")
    ] = None
    slurm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Setting for Dask workers that SLURM starts, such as queue=short, walltime or jobs; "
            "repeatable.",
        ),
    ] = None

    def check(self, *, stored: bool = True) -> None:
        """Check that the options fit together; `stored` means that the runs go to a named store."""
        from becalm.runs.engines import NAMES

        if self.engine not in NAMES:
            stop(f"--engine {self.engine}: unknown; valid: {', '.join(NAMES)}", BAD_INPUT)
        if (self.address or self.slurm) and self.engine != "dask":
            stop("--address and --slurm: have an effect only with --engine dask", BAD_INPUT)
        if self.address and self.slurm:
            stop("--address and --slurm: give only one; a running scheduler has its own workers", BAD_INPUT)
        if (self.address or self.slurm) and not stored:
            stop("--address and --slurm: need --store, in a folder that all workers share", BAD_INPUT)
        for each in self.slurm or []:
            if "=" not in each:
                stop(f"--slurm {each}: must be KEY=VALUE, such as queue=short", BAD_INPUT)

    def made(self, workers: int | None) -> Callable[[Shelf], Engine]:
        """Return a function that creates the engine."""
        from becalm.runs import drive

        settings = dict(each.split("=", 1) for each in self.slurm or [])
        return drive.engine_of(self.engine, workers, self.address, settings)


@dataclass(frozen=True)
class StoringOptions(EngineOptions):
    """Options of commands that keep their runs only if a store is named."""

    engine: EngineName = "threads"
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="Store for the runs, so that a second call does not repeat them; default: they are not "
            "kept.",
        ),
    ] = None

    def chosen(self, workers: int | None) -> EngineOf:
        """Return the engine."""
        self.check(stored=self.store is not None)
        return self.made(workers) if self.store else self.engine


def check_memory(
    scenarios: Iterable[Scenario], max_memory: str | None, engine: str, workers: int | None
) -> None:
    """Make sure that the runs fit into memory. On a cluster, a machine needs to hold one run at a time."""
    from becalm.runs import memory
    from becalm.runs.engines import width_of

    width = 1 if engine == "dask" else width_of(workers)
    memory.check(scenarios, max_memory, width=width, processes=engine == "processes")


def parse_change(text: str) -> tuple[str, Any]:
    """Split `key=value`, as on the command line. The value is TOML, or else plain text.

    Raises:
        ScenarioError: `=` or the key is missing, or the value is invalid in any scenario.

    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f"`{short(text)}`: a change is written as key=value, such as run.seed=7")
    try:
        found = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()
    except (RecursionError, ValueError) as error:
        raise ScenarioError(f"`{short(text)}`: {reason(error)}") from error
    if list(found) != ["value"]:
        raise ScenarioError(f"`{short(text)}`: is more than one change; each needs its own `--set`")
    return key.strip(), found["value"]
