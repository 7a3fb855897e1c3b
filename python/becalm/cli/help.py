"""Contents of `--help`: value types in a uniform style, and an example of each command."""

from __future__ import annotations

import difflib
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

KINDS = {bool: "", str: "TEXT", Path: "PATH", int: "N", float: "X"}
"""Value types as shown in help. A flag has none."""
EXAMPLES = {
    "run": "becalm run --example storage_incast --report incast.html",
    "validate": "becalm validate scenario.toml",
    "list": "becalm list response lipd",
    "report": "becalm report results/steady --out steady.html",
    "explain": "becalm explain results/steady",
    "play": "becalm play scenario.toml",
    "sweep": "becalm sweep threshold.toml --out threshold.csv",
    "tune": "becalm tune fabric.toml --minutes 10 --opensm congestion.conf",
    "compare": "becalm compare --scheme lipd --scheme dcqcn --scene incast --short",
    "import": "becalm import ibnetdiscover.txt --lfts opensm-lfts.dump --out fabric.toml",
    "manage": "becalm manage fabric.toml --contributors 16 --opensm congestion.conf",
    "check": "becalm check switches --tos 106",
    "check-opensm": "becalm check-opensm opensm.conf",
    "whatif": "becalm whatif fabric.toml --hot host0 --contributors 16",
    "counters": "becalm counters ibnetdiscover.txt perfquery.txt --seconds 60",
    "settings": "becalm settings fabric.toml --sonic switches --tos 106",
    "reproduce": "becalm reproduce santos2002 --short",
    "crosscheck": "becalm crosscheck roce-incast",
    "design": "becalm design 'max(r - 0.05 * sqrt(r), rmin)' --name SQRT",
    "new-scheme": "becalm new-scheme mine.py --like lipd",
    "check-scheme": "becalm check-scheme mine.py:Mine",
}
"""An example of each command."""
START = (
    "Start with `becalm run --example storage_incast --report incast.html`, and open the page. "
    "`becalm COMMAND --help` shows an example of the command."
)


def _shown(kind: str, *, ctx: Any) -> str:  # noqa: ANN401, ARG001
    return kind


def _in_one_style(params: list[Any]) -> list[Any]:
    for each in params:
        if not isinstance(each, TyperOption | TyperArgument):
            continue
        given: Any = each.type_descriptor.annotation
        kind = get_args(given)[0] if get_origin(given) is list else given
        argument = isinstance(each, TyperArgument)
        if kind in KINDS and (argument or each.metavar is None):
            # Set on the instance, since a `metavar` would also rename an argument.
            shown = "" if argument and each.metavar else KINDS[kind]
            each.display_type_rich = partial(_shown, shown)  # type: ignore[method-assign]
    return params


_TABLES = ("run", "switch", "adapter", "packet", "observe")
"""Sections of a scenario that are single tables, so that a key has one place."""
_CLOSE = 0.8
"""Similarity above which an unknown option is a misspelt one."""
_EXTRA = {
    "compare": "`--scene FILE` names a scene",
    "run": "a run has one scenario; `becalm sweep` runs many",
}
"""What to do with an argument too many."""
_WORDS = {"help": "`becalm --help` lists the commands", "version": "`becalm --version` prints it"}
"""Words that are no commands."""


def _instead(command: Any, ctx: Any, option: str) -> str:  # noqa: ANN401
    """Return what an unknown option may have meant: a key, a similar option, or that of another command."""
    own = [name for each in command.params for name in each.opts]
    if "--set" in own:
        from becalm.scenario.contents import catalogue

        name = option.lstrip("-").replace("-", "_")
        for section in catalogue()["sections"]:
            if section.name in _TABLES and any(each["name"] == name for each in section.parameters):
                return f"; `--set {section.name}.{name}=VALUE` changes this value of the scenario"
    if close := difflib.get_close_matches(option, own, n=1, cutoff=_CLOSE):
        return f"; did you mean {close[0]}?"
    group = command if ctx.parent is None else ctx.parent.command
    shown = [each for each in getattr(group, "commands", {}).values() if not each.hidden]
    have = [each.name for each in shown if any(option in parameter.opts for parameter in each.params)]
    return f"; valid for: {', '.join(f'`becalm {name}`' for name in have)}" if have else ""


def _explained(error: Exception, command: Any, ctx: Any) -> None:  # noqa: ANN401
    """Add the next step to an error of the parser, which other parts of typer print."""
    if hasattr(error, "possibilities"):
        option = getattr(error, "option_name", "")
        if instead := _instead(command, ctx, option):
            error.possibilities = None
            error.message = f"No such option: {option}{instead}"  # type: ignore[attr-defined]
    elif "unexpected extra argument" in str(error) and command.name in _EXTRA:
        error.message = f"{error}; {_EXTRA[command.name]}"  # type: ignore[attr-defined]


class _Explaining:
    """What commands and groups share: the errors of the parser name the next step."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the arguments; an error names the next step."""
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]
        except Exception as error:
            _explained(error, self, ctx)
            raise


class Command(_Explaining, TyperCommand):
    """A command whose help shows value types in a uniform style."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the command's options and arguments."""
        return _in_one_style(super().get_params(ctx))


class Group(_Explaining, TyperGroup):
    """A group of commands whose help shows value types in a uniform style."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Return the command that the arguments begin with. Other words have messages of their own."""
        name = args[0]
        step = f"`becalm run {name}` runs a scenario" if name.endswith(".toml") else _WORDS.get(name)
        if step is None and not name.startswith("-") and not difflib.get_close_matches(name, self.commands):
            step = _WORDS["help"]
        if step is not None:
            ctx.fail(f"No such command '{name}'; {step}")
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the group's options."""
        return _in_one_style(super().get_params(ctx))
