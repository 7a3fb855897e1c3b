"""Contents of `--help`: value types in a uniform style, and an example of each command."""

from __future__ import annotations

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


class Command(TyperCommand):
    """A command whose help shows value types in a uniform style."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the command's options and arguments."""
        return _in_one_style(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows value types in a uniform style."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the group's options."""
        return _in_one_style(super().get_params(ctx))
