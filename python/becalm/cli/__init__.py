"""The command line: parses arguments, calls the package and prints. Commands import heavy modules lazily.

`PANELS` lists all commands by panel of `becalm --help`. `exits` turns errors into messages and exit codes,
`console` prints tables and progress, and `options` defines the options that several commands share.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from typing import Annotated, NoReturn

import typer

from becalm.base.interrupts import INTERRUPTED
from becalm.cli import check, lists, look, papers, roce, run
from becalm.cli import help as helped
from becalm.cli.exits import BAD_INPUT, FAILED, error_text, guarded, prepare, stop
from becalm.cli.infiniband import fabric, manage, whatif
from becalm.cli.many import compare, store, sweep, tune
from becalm.cli.options import spread

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "app", "main"]

Command = Callable[..., None]

MANY = "Many runs"
PANELS: dict[str, tuple[Command, ...]] = {
    "Run": (run.run, run.validate, lists.list_),
    "Look at results": (look.report, look.explain, look.play),
    MANY: (sweep.sweep, tune.tune, compare.compare),
    "Real fabric": (
        fabric.import_,
        manage.manage,
        check.check,
        whatif.whatif,
        fabric.counters,
        roce.settings,
    ),
    "Papers and schemes": (
        papers.reproduce,
        papers.crosscheck,
        papers.design,
        papers.new_scheme,
        papers.check_scheme,
    ),
}
"""All commands except those of `becalm store`. Each command is named after its function."""
FORMER = {
    "examples": "`becalm list examples [NAME]` or `becalm run --example NAME`",
    "draw": "`becalm report RESULTS --time TIME --out PICTURE`",
    "view": "`becalm report SOURCE --view`",
}
"""Commands of version 0.2 and their replacements."""

app = typer.Typer(
    cls=helped.Group,
    help="Congestion control in lossless fabrics: simulate, compare, reproduce the papers.",
    epilog=helped.START,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Congestion control in lossless fabrics: simulate, compare, reproduce the papers."""
    if version:
        from becalm import __version__

        typer.echo(f"becalm {__version__}")
        raise typer.Exit


def _add(
    group: typer.Typer, commands: Iterable[Command], panel: str | None = None, *, hidden: bool = False
) -> None:
    for command in commands:
        name = command.__name__.rstrip("_").replace("_", "-")
        example = helped.EXAMPLES.get(name)
        epilog = f"Example: `{example}`" if example else None
        group.command(name, cls=helped.Command, epilog=epilog, rich_help_panel=panel, hidden=hidden)(
            guarded(spread(command))
        )


def _former(name: str, now: str) -> None:
    def gone() -> None:
        stop(f"becalm {name}: replaced by {now}", BAD_INPUT)

    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, hidden=True, context_settings=settings)(gone)


for _panel, _commands in PANELS.items():
    _add(app, _commands, _panel)
# The name of version 0.3, for one release.
_add(app, (check.check_opensm,), hidden=True)
_stored = typer.Typer(no_args_is_help=True)
_add(_stored, store.COMMANDS)
app.add_typer(
    _stored, name="store", rich_help_panel=MANY, help="List, check, prune, merge or export stored runs."
)
for _name, _now in FORMER.items():
    _former(_name, _now)


def _interrupted() -> NoReturn:
    """Exit with the right code. After an interrupted C import, Python itself would exit with the signal."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(INTERRUPTED)


def _unwritten() -> OSError | None:
    """Write the rest of the output, and return the error if that fails.

    The output then goes nowhere: Python would try again at its end, and exit with the code 120.
    """
    if sys.stdout is None:
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None


def _end(code: str | int | None, error: OSError | None) -> NoReturn:
    """Exit with a code, or with the message of an error of the output."""
    unwritten = _unwritten()
    if error is None and not code and not isinstance(unwritten, BrokenPipeError):
        error = unwritten
    if error is not None:
        sys.stderr.write(f"{error_text(error)}\n")
        code = BAD_INPUT
    sys.exit(code)


def main() -> None:
    """Entry point."""
    prepare()
    try:
        app()
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _interrupted()
        _end(end.code, None)
    except OSError as error:
        # Output errors before a command starts, such as `--help` on a full disk.
        _end(BAD_INPUT, error)


if __name__ == "__main__":
    main()
