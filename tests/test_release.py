"""Releases have one version, workflows call existing targets, and verdicts are compared."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import becalm

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

pytest.importorskip("griffe", reason="needs becalm[dev]: griffe")
yaml = pytest.importorskip("yaml", reason="needs becalm[dev]: PyYAML")

import release  # noqa: E402
import verdicts  # noqa: E402

FORMS = sorted((ROOT / ".github").rglob("*.yml"))
WORKFLOWS = [form for form in FORMS if form.parent.name == "workflows"]
RECIPE = "packaging/conda/recipe.yaml"
STATED = ("Cargo.toml", "CITATION.cff", "CHANGELOG.md", "tools/public_api.txt", RECIPE)
FAULTS = {
    ("CITATION.cff", r"(?m)^version: .*", "version: 9.9.9"): "CITATION.cff: must state version",
    ("CITATION.cff", r"(?m)^date-released: .*", "date-released: 2001-01-01"): "CHANGELOG.md says",
    ("CHANGELOG.md", r"(?m)^## \[\d.*\] - .*", "## [9.9.9] - 2001-01-01"): "has no heading",
    ("CHANGELOG.md", r"(?m)^## \[Unreleased\]\n", "## [Unreleased]\n\n- a thing\n"): "under [Unreleased]",
    ("CHANGELOG.md", r"(?m)^### Added", "### Improved"): "`### Improved` is no kind of change",
    (RECIPE, r'version: "[\d.]+"', 'version: "9.9.9"'): "recipe.yaml: must state version",
    ("tools/public_api.txt", r"becalm \d\S+,", "becalm 0.0.1,"): "is the list of 0.0.1",
}
"""File, broken text and replacement, with the expected message."""


@pytest.fixture
def stated(tmp_path: Path) -> Path:
    for name in STATED:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_version_is_the_same_everywhere() -> None:
    assert release.version() == becalm.__version__
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    crates = {each["name"]: each["version"] for each in lock if each["name"].startswith("becalm")}
    assert set(crates.values()) == {becalm.__version__} and len(crates) >= 10
    assert [each for each in release.missing() if "[Unreleased]" not in each] == []


def test_a_tag_has_to_be_that_of_the_version(stated: Path) -> None:
    (wrong,) = (each for each in release.missing(stated, "v9.9.9") if each.startswith("tag"))
    assert wrong == f"tag v9.9.9: Cargo.toml says {becalm.__version__}; valid: v{becalm.__version__}"
    assert [
        each for each in release.missing(stated, f"v{becalm.__version__}") if each.startswith("tag")
    ] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault[0]} {fault[2].strip()}")
def test_what_is_missing_is_named(stated: Path, fault: tuple[str, str, str]) -> None:
    name, old, new = fault
    before = set(release.missing(stated))
    text, count = re.subn(old, new, (stated / name).read_text(), count=1)
    assert count == 1
    (stated / name).write_text(text)
    found = set(release.missing(stated)) - before
    assert any(FAULTS[fault] in each for each in found), found


def test_notes_are_the_changes_of_this_version() -> None:
    notes = release.notes()
    assert notes.startswith(("### ", "The first")) and "\n## " not in notes


def test_the_recipe_asks_for_what_the_package_needs() -> None:
    recipe = yaml.safe_load((ROOT / RECIPE).read_text())
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {
        each.replace("matplotlib-base", "matplotlib").replace(" ", "")
        for each in recipe["requirements"]["run"]
    }
    assert asked == {*package["dependencies"], f"python{package['requires-python']}"}
    assert recipe["build"]["python"]["entry_points"] == [f"becalm = {package['scripts']['becalm']}"]
    assert recipe["about"]["license_file"] == package["license-files"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_forms_are_yaml(form: Path) -> None:
    assert isinstance(yaml.safe_load(form.read_text()), dict)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda form: form.name)
def test_workflows_call_what_is_there(workflow: Path) -> None:
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in jobs.values():
        assert set(_needs(job)) <= set(jobs)
        assert (ROOT / job["uses"]).is_file() if "uses" in job else job["runs-on"]
        matrix = job.get("strategy", {}).get("matrix", {})
        for step in job.get("steps", ()):
            # A tag can be moved to other code, but a hash cannot.
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
            for command in re.findall(r"\bmake (\S+(?: }})?)", step.get("run", "")):
                named = matrix["part"] if "{{" in command else [command]
                assert set(named) <= targets, command
            for path in re.findall(r"(?<![\w/])(?:\.ci|tools)/[\w.]+", step.get("run", "")):
                assert (ROOT / path).is_file(), path


def _needs(job: dict[str, Any]) -> list[str]:
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else needs


CLAIMS = {
    "p/f/a": {"verdict": "holds", "mean": 1.0},
    "p/f/b": {"verdict": "fails", "mean": 2.0},
    "p/f/c": {"verdict": "holds", "mean": 3.0},
}


def test_verdicts_that_differ_are_named() -> None:
    assert list(verdicts.differences(CLAIMS, CLAIMS)) == []
    now = {"p/f/a": {"verdict": "undecided", "mean": 1.5}, "p/f/b": CLAIMS["p/f/b"], "p/f/d": CLAIMS["p/f/c"]}
    assert list(verdicts.differences(CLAIMS, now)) == [
        "p/f/a: was holds with 1.0, is undecided with 1.5",
        "p/f/c: was holds, and was not judged",
        "p/f/d: holds, and was not judged before",
    ]


def test_all_committed_verdicts_are_read() -> None:
    assert len(verdicts.claims(verdicts.DOCS)) > 300


def test_the_makefile_names_what_it_does() -> None:
    message = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("demo", "site-check", "api-check", "release-check", "nightly", "claims"):
        assert re.search(rf"^{target} +\S", message, re.MULTILINE)
