"""Checks a release: the same version everywhere, a section of the changelog, a list of the public API.

python tools/release.py check [TAG]     prints what is missing for the version in Cargo.toml, or for a tag
python tools/release.py notes           prints the changes in this version for the release page
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import public_api

ROOT = Path(__file__).parents[1]
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
"""Kinds of changes, in Keep a Changelog's order."""


def version(root: Path = ROOT) -> str:
    """Return the version in Cargo.toml."""
    found: str = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    return found


def missing(root: Path = ROOT, tag: str | None = None) -> Iterator[str]:
    """Yield a line for each problem that blocks a release of this version."""
    now = version(root)
    if tag is not None and tag != f"v{now}":
        yield f"tag {tag}: Cargo.toml says {now}; valid: v{now}"
    cited = re.search(
        r"^version: (\S+)\ndate-released: (\S+)$", (root / "CITATION.cff").read_text(), re.MULTILINE
    )
    if not cited or cited[1] != now:
        yield f"CITATION.cff: must state version {now}, and the day of its release below it"
    if f'version: "{now}"' not in (root / "packaging" / "conda" / "recipe.yaml").read_text():
        yield f"packaging/conda/recipe.yaml: must state version {now}"
    changes = sections((root / "CHANGELOG.md").read_text())
    released = re.compile(rf"\[{re.escape(now)}\] - (\d{{4}}-\d\d-\d\d)$")
    found = next((each for each in changes if released.match(each)), None)
    if found is None:
        yield f"CHANGELOG.md: has no heading `## [{now}] - DATE`"
    elif cited and cited[2] != found[-10:]:
        yield f"CITATION.cff: released on {cited[2]}; CHANGELOG.md says {found[-10:]}"
    if left := changes.get("[Unreleased]", "").strip():
        yield f"CHANGELOG.md: {len(left.splitlines())} lines under [Unreleased] belong to {now}"
    for heading in re.findall(r"^### (.+)$", "".join(changes.values()), re.MULTILINE):
        if heading not in KINDS:
            yield f"CHANGELOG.md: `### {heading}` is no kind of change; valid: {', '.join(KINDS)}"
    listed = public_api.version((root / "tools" / "public_api.txt").read_text())
    if listed != now:
        yield f"tools/public_api.txt: is the list of {listed}: make api-write"


def sections(text: str) -> dict[str, str]:
    """Return the sections of a changelog by heading."""
    _, *pieces = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def notes(root: Path = ROOT) -> str:
    """Return the changes in this version."""
    changes = sections((root / "CHANGELOG.md").read_text())
    (heading,) = (each for each in changes if each.startswith(f"[{version(root)}]"))
    return changes[heading].strip() + "\n"


def main() -> None:
    """Check the release or print its notes."""
    match sys.argv[1:]:
        case ["notes"]:
            sys.stdout.write(notes())
        case ["check", *tag] if len(tag) < 2:
            found = list(missing(tag=tag[0] if tag else None))
            print("\n".join(found) or f"becalm {version()} can be released")
            sys.exit(1 if found else 0)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
