"""Lists the public API and finds incompatible changes.

`tools/public_api.txt` lists the API of the last release: the documented names in `docs/api` with their
signatures, commands and options, scenario keys, and result columns. `python tools/public_api.py` compares the
sources with this list, or with the list at a given path. `CHANGELOG.md` must name every incompatible change
in a section above the release's, in the form `Results.groups`, `becalm run --set` or `switch.buffer`.
`--write` updates the list and is part of making a release.

griffe compares the signatures, which the list contains as stubs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import griffe

import becalm
from becalm import _core
from becalm.results.tables import SCHEMA

ROOT = Path(__file__).parents[1]
LISTING = ROOT / "tools" / "public_api.txt"
CHANGES = ROOT / "CHANGELOG.md"
SETS = ("commands", "keys", "columns")
"""Parts of the list that contain only names; the others contain stubs of modules."""

Parts = dict[str, str]
"""Text of each part of a list, by heading."""


def documented() -> list[str]:
    """Return the Python paths documented in `docs/api`."""
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)]


def listing() -> str:
    """Return the list for the current sources."""
    names = {"commands": _commands(), "keys": _keys(), "columns": _columns()}
    parts = {**_modules(), **{heading: _lines(each) for heading, each in names.items()}}
    head = f"# The public API of becalm {becalm.__version__}, written by `make api-write`.\n"
    return head + "".join(f"\n== {heading} ==\n{text}" for heading, text in parts.items())


def broken(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield incompatible changes from the first list to the second: a name and a description."""
    before, after = _parts(old), _parts(new)
    for heading, text in before.items():
        if heading in SETS:
            gone = set(text.splitlines()) - set(after.get(heading, "").splitlines())
            yield from ((name, f"was among the {heading}, and is gone") for name in sorted(gone))
        elif heading not in after:
            yield heading, "was a module, and is gone"
        else:
            yield from _breakages(heading, text, after[heading])


def unnamed(found: list[tuple[str, str]], since: str) -> list[tuple[str, str]]:
    """Return the incompatible changes whose names are not in backticks above a version's section."""
    said = CHANGES.read_text().split(f"\n## [{since}]")[0]
    named = set(re.findall(r"`([^`\n]+)`", said))
    return [
        (name, why) for name, why in found if name not in named and name.removeprefix("becalm.") not in named
    ]


def version(text: str) -> str:
    """Return the version in the first line of a list."""
    found = re.search(r"^# The public API of becalm (\S+),", text)
    if not found:
        raise ValueError(f"{LISTING.name}: the first line does not contain a version")
    return found[1]


def _parts(text: str) -> Parts:
    _, *pieces = re.split(r"^== (.+) ==\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[::2], (piece.rstrip("\n") + "\n" for piece in pieces[1::2]), strict=True))


def _lines(names: Iterator[str]) -> str:
    return "".join(f"{name}\n" for name in sorted(set(names)))


def _breakages(module: str, old: str, new: str) -> Iterator[tuple[str, str]]:
    before, after = (griffe.visit(module, Path("listed.pyi"), code) for code in (old, new))
    for each in griffe.find_breaking_changes(before, after):
        about = each.as_dict()
        values = " -> ".join(str(value) for value in (each.old_value, each.new_value) if value is not None)
        yield about["object_path"], f"{each.kind.value}: {values}"


def _modules() -> Parts:
    """Return the stubs of all public modules."""
    package = griffe.load("becalm", search_paths=[ROOT / "python"])
    public: dict[str, dict[str, griffe.Object]] = {"becalm": {}}
    for name in becalm.__all__:
        if name != "__version__":
            public["becalm"][name] = _object(package, f"becalm.{name}")
    for path in documented():
        parent, _, name = path.rpartition(".")
        if name in public["becalm"]:
            continue
        found = _object(package, path)
        if isinstance(found, griffe.Module):
            public[path] = {each: _object(package, f"{path}.{each}") for each in _exported(path, found)}
        else:
            public.setdefault(parent, {})[name] = found
    return {
        module: "\n".join(_stub(name, each) for name, each in sorted(members.items()))
        for module, members in sorted(public.items())
    }


def _exported(path: str, found: griffe.Module) -> list[str]:
    """Return the public names of a module: its `__all__`, or the public names that it defines."""
    made = [name for name, each in found.members.items() if not each.is_alias and not name.startswith("_")]
    return list(getattr(import_module(path), "__all__", made))


def _object(package: griffe.Object | griffe.Alias, path: str) -> griffe.Object:
    """Return the object at a path."""
    return _target(package[path.partition(".")[2]])


def _target(found: griffe.Object | griffe.Alias) -> griffe.Object:
    return found.final_target if isinstance(found, griffe.Alias) else found


def _stub(name: str, found: griffe.Object, indent: str = "") -> str:
    if isinstance(found, griffe.Class):
        inside = "".join(_member(each, indent + "    ") for each in _public(found))
        bases = ", ".join(map(str, found.bases))
        return f"{indent}class {name}({bases}):\n".replace("()", "") + (inside or f"{indent}    pass\n")
    return _member(found, indent, name)


def _public(found: griffe.Class) -> list[griffe.Object]:
    members = {**found.all_members} if found.resolved_bases else {**found.members}
    kept = [each for key, each in sorted(members.items()) if key == "__init__" or not key.startswith("_")]
    return [_target(each) for each in kept]


def _member(found: griffe.Object, indent: str, name: str | None = None) -> str:
    name = name or found.name
    if isinstance(found, griffe.Class):
        return _stub(name, found, indent)
    if not isinstance(found, griffe.Function):
        return f"{indent}{name}: {getattr(found, 'annotation', None) or 'object'}\n"
    signature = found.signature(name=name)
    if found.parent and found.parent.is_class and "staticmethod" not in found.labels:
        signature = signature.replace("(", "(self, ", 1).replace("(self, )", "(self)", 1)
    marked = f"{indent}@property\n" if "property" in found.labels else ""
    return f"{marked}{indent}def {signature}: ...\n"


def _commands() -> Iterator[str]:
    from typer.main import get_command

    from becalm.cli import app

    def walk(command: Any, path: str) -> Iterator[str]:  # noqa: ANN401
        yield path
        for each in command.params:
            yield from (
                f"{path} {name}" for name in (*each.opts, *each.secondary_opts) if name.startswith("-")
            )
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{path} {name}")

    return walk(get_command(app), "becalm")


def _keys() -> Iterator[str]:
    """Yield the keys of a scenario; keys of list items have the form `flows.from`."""

    def walk(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
        for name, inner in schema.get("properties", {}).items():
            yield ".".join((*path, name))
            yield from walk(inner, (*path, name))
        if isinstance(schema.get("items"), dict):
            yield from walk(schema["items"], path)
        for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            yield from walk(choice, path)

    return walk(json.loads(_core.json_schema()), ())


def _columns() -> Iterator[str]:
    return (f"{table.name}.{name}" for table in SCHEMA.values() for name in table.columns)


def main() -> None:
    """Compare the sources with a list, or write the list with `--write`."""
    if sys.argv[1:] == ["--write"]:
        LISTING.write_text(listing())
        return
    old = Path(sys.argv[1] if sys.argv[1:] else LISTING).read_text()
    since = version(old)
    found = list(broken(old, listing()))
    left = unnamed(found, since)
    for name, why in left:
        print(f"{name}: {why}; not named in CHANGELOG.md")
    print(f"{len(found)} incompatible changes since {since}, {len(left)} of them not in CHANGELOG.md")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
