"""Help and tables: no truncated text, one style for values, and a valid example for each command."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import becalm
from becalm.cli import PANELS, app
from becalm.cli import help as helped
from becalm.cli.many import store
from becalm.cli.tables import table

NAMES = [each.__name__.rstrip("_").replace("_", "-") for panel in PANELS.values() for each in panel]
CUT = "…"
GUIDED = ["--guideline", "becalm", "--contributors", "4"]
"""Options with which `manage` runs nothing."""


def output(arguments: list[str], columns: int) -> str:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": str(columns)})
    assert done.exit_code in (0, 1), done.output
    return done.output


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("name", [*NAMES, *(f"store {each.__name__.rstrip('_')}" for each in store.COMMANDS)])
def test_help_is_whole(name: str, columns: int) -> None:
    text = output([*name.split(), "--help"], columns)
    assert CUT not in text
    assert not any(kind in text for kind in ("<bool>", "<str>", "<int>", "<float>"))
    assert max(map(len, text.splitlines())) <= columns


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_that_it_understands(name: str) -> None:
    example = helped.EXAMPLES[name]
    assert example in " ".join(output([name, "--help"], 200).split())
    words = shlex.split(example)
    assert words[:2] == ["becalm", name]
    group = typer.main.get_command(app)
    command = group.commands[name]  # type: ignore[attr-defined]
    command.make_context(name, words[2:])


def test_bare_becalm_says_where_to_start() -> None:
    done = CliRunner().invoke(app, [], env={"COLUMNS": "200"})
    assert "becalm run --example storage_incast --report incast.html" in done.output


@pytest.mark.parametrize("columns", [80, 200])
def test_no_number_of_a_table_is_cut(tmp_path: Path, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    fabric = tmp_path / "fabric.toml"
    whole = becalm.load("scenarios/uniform_load.toml")
    scenario = whole.replace({"run.duration": "1 ms", "run.warmup": None})
    fabric.write_text(scenario.to_toml())
    commands = [
        ["run", "--example", "two_jobs", "--out", str(tmp_path / "jobs")],
        ["run", "--example", "storage_incast", "--out", str(tmp_path / "incast")],
        ["whatif", str(fabric), "--hot", scenario.hosts()[0]],
        ["list", "response"],
        ["list", "figures"],
    ]
    if columns == 80:
        compare = ["compare", "--scheme", "lipd", "--scheme", "dcqcn", "--scene", "incast", "--short"]
        commands += [["manage", str(fabric), "--max-time", "1"], compare]
    for command in commands:
        text = output(command, columns)
        assert CUT not in text, text
        assert max(map(len, (line for line in text.splitlines() if "│" in line)), default=0) <= columns


def test_run_and_manage_print_json(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    file.write_text(becalm.load("scenarios/uniform_load.toml").replace({"run.duration": "3 ms"}).to_toml())
    ran = json.loads(output(["run", str(file), "--out", str(tmp_path / "run"), "--json"], 80))
    assert ran["fingerprint"] == becalm.load_results(tmp_path / "run").fingerprint
    assert ran["groups"][0]["rate"] > 0
    managed = json.loads(output(["manage", str(file), *GUIDED, "--json"], 80))
    assert {each["key"] for each in managed["parameters"]} >= {"response.ibta.ccti_timer"}
    assert (managed["guideline"], managed["contributors"]) == ("becalm", 4)
    assert managed["files"] == []


def test_a_scenario_is_no_configuration_of_opensm() -> None:
    done = CliRunner().invoke(app, ["check-opensm", "scenarios/uniform_load.toml"])
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert "is a scenario, not an OpenSM configuration" in line


@pytest.mark.parametrize("width", [60, 80])
def test_a_table_that_is_too_wide_goes_on_below_with_its_names(width: int) -> None:
    name = "a switch with a very long name, port 12 -> another switch of that kind"
    columns = ("link", *(f"column {place}" for place in range(9)))
    made = table("Wide", columns, [(name, *(f"{place}00,000,000" for place in range(1, 10)))])
    screen = Console(width=width, file=io.StringIO())
    screen.print(made)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert CUT not in text
    assert max(map(len, text.splitlines())) <= width
    assert all(text.count(f"{place}00,000,000") == 1 for place in range(1, 10))
    assert text.count("a switch") > 1, "each part has the names"


WRITERS = {
    "run": ["--example", "congestion_spreading", "--out", "results", "--report", "page.html"],
    "report": ["results", "--out", "report.html"],
    "sweep": ["sweep.toml", "--out", "sweep.csv"],
    "store export": ["store", "store.csv"],
    "import": ["fabric.txt", "--out", "fabric.toml"],
    "manage": ["fabric.toml", *GUIDED, "--out", "managed.toml"],
    "new-scheme": ["mine.py"],
}
"""Commands that write files, ordered by their inputs."""
SPEAKING = ("manage", "new-scheme")
"""Writing commands whose main result is printed."""


def test_writers_replace_files_only_when_asked_and_are_quiet_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = Path("tests/data/ft2_18/ibnetdiscover.txt").read_text()
    monkeypatch.chdir(tmp_path)
    Path("fabric.txt").write_text(fabric)
    Path("scene.toml").write_text(
        becalm.load(becalm.scenario.examples.path("congestion_spreading")).to_toml()
    )
    Path("sweep.toml").write_text('scenario = "scene.toml"\nstore = "store"\n[grid]\n"run.seed" = [1, 2]\n')
    for name, arguments in WRITERS.items():
        quiet = [] if name in SPEAKING else ["--quiet"]
        for more, code in ((quiet, 0), ([], 2), ([*quiet, "--overwrite"], 0)):
            done = CliRunner().invoke(app, [*name.split(), *arguments, *more])
            assert done.exit_code == code, (name, done.output)
            assert code == 0 or "already exists" in done.output
            assert name in SPEAKING or code != 0 or done.output == ""


def test_no_folder_is_replaced_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").mkdir()
    done = CliRunner().invoke(app, ["new-scheme", str(tmp_path / "mine.py"), "--overwrite"])
    assert (done.exit_code, done.output.strip().endswith("is a folder; choose another file")) == (2, True)
