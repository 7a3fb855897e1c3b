from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import bench_table  # noqa: E402
import comparison_tables  # noqa: E402
import examples  # noqa: E402
import generate  # noqa: E402
import markers  # noqa: E402

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
ELSEWHERE = re.compile(r"https?:|(\.\./)?(play|reports|rust)/")
"""Links to other hosts and to parts built with the site; `make site-check` follows the latter."""


def test_generated_pages_are_current() -> None:
    made = generate.pages()
    for path, text in made.items():
        assert (ROOT / "docs" / path).read_text() == text, f"{path} is old: make docs"
    there = {f"schemes/{path.name}" for path in (ROOT / "docs" / "schemes").iterdir()}
    assert there == {path for path in made if path.startswith("schemes/")}


def test_readme_names_the_commands_that_make_and_ci_run() -> None:
    named = re.findall(r"^(make \w+) ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert named == ["make demo", "make test"]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    script = (ROOT / ".ci" / "run").read_text()
    (expression,) = re.findall(r"test_command=\$\(sed -n '(.+)' README\.md\)", script)
    assert r"\(make test\) " in expression
    assert "quickly $test_command" in script


def test_ci_runs_named_checks() -> None:
    done = subprocess.run([ROOT / ".ci" / "run", "lint", "lnt"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    named = done.stderr.split("checks: ")[1].split()
    script = (ROOT / ".ci" / "run").read_text()
    assert named == re.findall(r"^check_(\w+)\(\)", script, flags=re.MULTILINE)


def test_markers_are_those_of_the_list() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [
        (name, str(page.relative_to(ROOT)))
        for page in pages
        for name in re.findall(r"^<!-- (.+) -->$", page.read_text(), re.MULTILINE)
        if name != "end"
    ]
    assert sorted(found) == sorted(markers.PLACES.items())
    for name, page in found:
        assert "\nnew\n<!-- end -->" in markers.between_markers((ROOT / page).read_text(), name, "new\n")
    for wrong in ("", "<!-- a -->\n", "<!-- a -->\n<!-- end -->\n" * 2):
        with pytest.raises(ValueError, match="marker `a`: must occur once"):
            markers.between_markers(wrong, "a", "new\n")


def test_tables_of_benchmarks_are_those_of_the_figures() -> None:
    page = (ROOT / "docs" / "performance.md").read_text()
    assert bench_table.refreshed(page, bench_table.HISTORY.read_text()) == page


def test_benchmarks_of_a_version_take_the_place_of_earlier_ones() -> None:
    kept = bench_table.HISTORY.read_text()
    (first, *_) = kept.splitlines()
    measured = json.loads(first) | {"packet_hops_per_core_second": 123e6}
    del measured["version"]
    once = bench_table.merged(kept, json.dumps(measured), "9.0.0")
    assert bench_table.merged(once, json.dumps(measured), "9.0.0") == once
    assert once.startswith(kept) and once.count("\n") == kept.count("\n") + 1
    page = bench_table.refreshed((ROOT / "docs" / "performance.md").read_text(), once)
    assert re.search(rf"^\| `{measured['scenario']}` \|.* 123\.00 \|$", page, re.MULTILINE)


def test_tables_of_schemes_are_those_of_the_numbers() -> None:
    page = (ROOT / "docs" / "comparison.md").read_text()
    numbers = (ROOT / "docs" / "comparison.jsonl").read_text()
    assert comparison_tables.refreshed(page, numbers) == page


@pytest.mark.parametrize("page", examples.PAGES)
def test_examples_print_what_the_page_says(page: str) -> None:
    text = (ROOT / page).read_text()
    assert examples.refreshed(text) == text


def test_mistakes_that_a_guide_plants_are_found() -> None:
    text = (ROOT / "docs" / "administrators.md").read_text()
    planted, _, after = text.partition("' congestion.conf > opensm.conf\n")
    expressions = planted.rpartition("sed '")[2].split("; ")
    findings = re.findall(r"^opensm\.conf:\d+: \w+: (\S+)", after.partition("exit code 1")[0], re.MULTILINE)
    assert len(set(findings)) == len(expressions) == 3


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda path: path.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert ELSEWHERE.match(target) or (page.parent / target).exists(), target


@pytest.mark.parametrize("scenario", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.name)
def test_scenarios_are_valid(scenario: Path) -> None:
    import becalm

    becalm.load(scenario)
