"""The list of the public API is complete, and incompatible changes must be in the changelog."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import becalm

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

pytest.importorskip("griffe", reason="needs becalm[dev]: griffe")

import public_api  # noqa: E402

FAULTS = {
    "    def rounding(self) -> dict[str, Any]: ...\n": ("", "becalm.Design.rounding"),
    "def explain(results: Results | str | PathLike[str], replication: int = 0,": (
        "def explain(results: Results,",
        "becalm.explain",
    ),
    "def load(path: str | PathLike[str], ": ("def load(file: str | PathLike[str], ", "becalm.load"),
    "def report(results: Results, *, title: str | None = None,": (
        "def report(results: Results, *, title: str,",
        "becalm.report",
    ),
    "class MemoryLimitError(BecalmError, MemoryError)": (
        "class MemoryLimitError(BecalmError)",
        "becalm.MemoryLimitError",
    ),
    "class Dcqcn:": ("class Fluid:", "becalm.theory.Dcqcn"),
    "becalm run --overwrite\n": ("", "becalm run --overwrite"),
    "switch.buffer\n": ("", "switch.buffer"),
    "groups.share\n": ("", "groups.share"),
}
"""Text of the list, its replacement, and the name that breaks."""


@pytest.fixture(scope="module")
def now() -> str:
    return public_api.listing()


def test_what_breaks_since_the_last_release_is_in_the_changelog(now: str) -> None:
    old = public_api.LISTING.read_text()
    found = list(public_api.broken(old, now))
    assert public_api.unnamed(found, public_api.version(old)) == [], "name it in CHANGELOG.md"


def test_it_has_every_public_name(now: str) -> None:
    names = [name for name in becalm.__all__ if name != "__version__"]
    stubs = now.partition("== becalm ==")[2].partition("\n== ")[0]
    forms = ("class {}", "def {}(", "\n{}: ")
    assert [name for name in names if not any(form.format(name) in stubs for form in forms)] == []
    assert public_api.version(now) == becalm.__version__


def test_equal_lists_break_nothing(now: str) -> None:
    assert list(public_api.broken(now, now)) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: FAULTS[fault][1])
def test_it_finds_what_breaks_a_program(now: str, fault: str) -> None:
    changed, name = FAULTS[fault]
    assert fault in now
    found = {each for each, _ in public_api.broken(now, now.replace(fault, changed))}
    assert found == {name}


def test_what_is_new_breaks_nothing(now: str) -> None:
    more = now.replace("class Progress(NamedTuple):\n", "class Progress(NamedTuple):\n    eta: float\n")
    more = more.replace("\n== keys ==\n", "\n== keys ==\nnew.key\n")
    assert more != now
    assert list(public_api.broken(now, more)) == []


def test_the_changelog_can_name_what_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("# Changes\n\n## [2.0.0]\n\n- `Results.old` is gone.\n\n## [1.0.0]\n\n- `load`\n")
    monkeypatch.setattr(public_api, "CHANGES", changes)
    found = [("becalm.Results.old", "gone"), ("becalm.load", "gone"), ("becalm run --set", "gone")]
    assert public_api.unnamed(found, "1.0.0") == found[1:]
