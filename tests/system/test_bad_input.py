"""Bad input of every kind: one message, exit code 2, no traceback, no terminal control codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
import commands
from becalm.base import machine
from becalm.base.errors import DesignError
from becalm.cli import app

DATA = Path(__file__).parents[1] / "data"
DIGITS = "1" * 5000
EXAMPLES = "`becalm list examples` names scenarios to start with"
SUM = "max(({})/{}/2.5, rmin)"


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def refused(*arguments: object, lines: int = 1) -> str:
    """Return a command's message about bad input."""
    done = CliRunner().invoke(app, commands.words(arguments), catch_exceptions=False)  # type: ignore[arg-type]
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert len(done.stderr.splitlines()) == lines, done.stderr
    assert all(len(line) < 600 for line in done.stderr.splitlines())
    assert "\x1b" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (f"run.seed={DIGITS}", "has a number with too many digits"),
        (f"run.seed={'[' * 5000}", "is nested too deeply"),
        (f"run.seed={'[' * 2000}{']' * 2000}", "is nested too deeply"),
        (f"run.seed={'[' * 300}{']' * 300}", ""),
        (f"run.seed={'{a=' * 200}1{'}' * 200}", ""),
        (f"{'.'.join('a' * 3000)}=1", "has 3000 parts; valid: up to 32"),
        (f"{'.'.join('a' * 33)}=1", "has 33 parts; valid: up to 32"),
        (f"{'.'.join('a' * 32)}=1", "a = table {a}: unknown key"),
        ("run.seed=1\nrun.duration='1 s'", "is more than one change"),
        ("run.seed=1\n[topology]", "is more than one change"),
        ("run.seed=\udcff\udcfe", "not text in UTF-8"),
        ("run.\udcff=1", "not text in UTF-8"),
        (f"flows.{DIGITS}.start=1", "no item `111"),
        ("run.seed=\x1b[2J", r"must be an integer"),
        ("run.\x1b[31m=1", r"run.\x1b[31m=1: unknown key"),
        ("=1", "a change is written as key=value"),
        ("run..seed=1", "unknown key"),
        ("run.seed=1e999", "must be an integer"),
        ("run.seed=nan", "must be an integer"),
        ("run.seed=1979-05-27T07:32:00", "must be an integer"),
    ],
)
def test_changes(file: Path, work: Path, change: str, said: str) -> None:
    assert said in refused("run", file, "--set", change)
    assert commands.names(work) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(" * 3000 + "r" + ")" * 3000, "is nested too deeply"),
        ("abs(" * 150 + "r" + ")" * 150, ""),
        ("+".join(["r"] * 100_000), "is nested too deeply"),
        (f"r / {DIGITS}", "too many digits"),
        (f"r / {'9' * 400}", "has a number with too many digits"),
        ("r ** -r ** -r ** -r", "raises OverflowError"),
        ("\udcff", "is not UTF-8 text"),
        ("r\0", "null bytes"),
        ("(lambda: r)()", "`Lambda` cannot be called"),
        ("r.__class__", "cannot be used"),
    ],
)
def test_expressions(work: Path, text: str, said: str) -> None:
    assert said in refused("design", "--no-trial", "--", text)
    assert commands.names(work) == []


@pytest.mark.parametrize("terms", [500, 1000, 2500])
def test_long_expressions_are_read(terms: int) -> None:
    from becalm.designs.function import compiled

    try:
        read = compiled(SUM.format("+".join(["r"] * terms), terms), 1 / 256, 1.0)
    except DesignError as error:
        assert "is nested too deeply" in str(error)
    else:
        assert read(0.5) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{DIGITS}->1 start 0 size 1", "is neither a connection"),
        (f"0->1 start {DIGITS} size 1", "has too many digits"),
        (f"0->1 id {DIGITS} start 0 size 1", "has too many digits"),
        ("0->1 start 0 size 1" + " x" * 100_000, "unknown field"),
    ],
)
def test_connection_matrices(work: Path, line: str, said: str) -> None:
    (work / "a.cm").write_text(f"Nodes 2\nConnections 1\n{line}\n")
    with pytest.raises(becalm.ScenarioError, match=said) as error:
        becalm.read_connection_matrix("a.cm")
    assert all(len(line) < 300 for line in str(error.value).splitlines())
    (work / "b.cm").write_text(f"Nodes {DIGITS}\nConnections {DIGITS}\n")
    with pytest.raises(becalm.ScenarioError, match="bad header"):
        becalm.read_connection_matrix("b.cm")


def test_fabrics_with_long_numbers(work: Path) -> None:
    sample = Path(__file__).parents[1] / "data" / "ft2_18" / "ibnetdiscover.txt"
    text = sample.read_text()
    (work / "name.txt").write_text(text.replace("host0 HCA", f"host{DIGITS} HCA"))
    assert "characters; must be at most 2000" in refused("import", "name.txt")
    (work / "port.txt").write_text(text.replace("[1]", f"[{DIGITS}]", 1))
    assert "port.txt:" in refused("import", "port.txt", "--out", "port.toml")


def test_junk_is_reported_in_fifty_lines_and_a_number(file: Path, work: Path) -> None:
    junk = file.read_text() + "[run2]\n" + "".join(f"k{index} = 1\n" for index in range(1000))
    (work / "junk.toml").write_text(
        junk.replace("[run]\n", "[run]\n" + "".join(f"k{n} = 1\n" for n in range(999)))
    )
    lines = refused("validate", "junk.toml", lines=51).splitlines()
    assert lines[-1] == "junk.toml: and 950 more"
    with pytest.raises(becalm.ScenarioError) as error:
        becalm.load("junk.toml")
    assert len(error.value.mistakes) == 1000
    for name, content in (
        ("deep.toml", "a = " + "[" * 100_000),
        ("keys.toml", ".".join("a" * 50_000) + " = 1"),
    ):
        (work / name).write_text(content)
        assert 1 <= len(CliRunner().invoke(app, ["validate", name]).stderr.splitlines()) <= 51


def test_escape_sequences_are_shown(file: Path) -> None:
    broken = (
        file.read_text()
        .replace('"1 ms"', '"\\u001b[2J"')
        .replace('from = ["AV"]', 'from = ["\\u001b]0;x\\u0007"]')
    )
    file.write_text(broken.replace('name = "local"', 'name = "local"\n"\\u001b[31m" = 1\n"\\u202e" = 1'))
    said = refused("validate", file, lines=4)
    assert r"\x1b[31m = 1: unknown key" in said
    assert r"\u202e = 1: unknown key" in said
    assert refused("run", "\x1b[2J.toml") == f"\\x1b[2J.toml: no such file; {EXAMPLES}\n"


@pytest.mark.parametrize("picture", ["a", "a.xyz", "a.png.", "a.PNG ", ".png"])
def test_unknown_kinds_of_pictures(picture: str) -> None:
    assert "must end in one of: .png, .svg, .pdf" in refused("report", "x", "--time", "1ms", "--out", picture)


@pytest.mark.parametrize("time", ["4", "ms", "4 parsecs", "1e999 s", "nan s", "\udcff", "4 m s", DIGITS])
def test_times(scenario: becalm.Scenario, time: str) -> None:
    folder = becalm.run(scenario.replace({"observe.snapshots": ["400 us"]})).save("results")
    assert "must be a number with one of the units ps, ns, us" in refused("report", folder, "--time", time)


@pytest.mark.parametrize("time", ["400us", "400 us", " 0.4ms", "4e-4 s", "400000ns"])
def test_times_are_read_as_in_scenarios(scenario: becalm.Scenario, time: str) -> None:
    assert becalm.Scenario(scenario.to_toml().replace("1 ms", time)).resolved["run"]["duration"] == "400 us"
    from becalm.base.quantities import seconds

    assert seconds(time) == 4e-4


@pytest.mark.parametrize("name", [b"n\xffme.toml", "ünïcode.toml".encode(), b"a\x1b[2J.toml", b"a\nb.toml"])
def test_names_in_any_bytes_and_any_locale(name: bytes, file: Path, work: Path) -> None:
    try:
        (work / os.fsdecode(name)).write_text(file.read_text().replace('"local"', '"lökal"'))
    except OSError:
        pytest.skip("this file system has no such names")
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = commands.becalm("run", name, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    (folder,) = (work / "results").iterdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["scenario"]["name"].isprintable()
    assert becalm.load_results(folder).groups["group"][0] == "lökal"


def test_output_that_cannot_be_written() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("w") as out:
        done = commands.becalm("list", "topologies", stdout=out, stderr=-1, capture_output=False)
    assert (done.returncode, done.stderr) == (2, "no space left on device\n")


def test_help_that_cannot_be_written() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    for arguments in (["--help"], ["run", "--help"], ["--version"]):
        with full.open("w") as out:
            done = commands.becalm(*arguments, stdout=out, stderr=-1, capture_output=False)
        assert (done.returncode, done.stderr) == (2, "no space left on device\n")


def test_too_few_addresses_for_the_libraries(file: Path, work: Path) -> None:
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

    done = commands.becalm("run", file, preexec_fn=limit)
    commands.check_message(done, "ulimit -v: 315 MB of address space is too little; needed: ")
    assert commands.names(work) == []


def test_addresses_count_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_addresses", lambda: 10**7)
    assert machine.machine_limit() == 8 * 10**6


SWEEP = 'scenario = "small.toml"\n'
BOTH = "change the same value; valid: one of the two"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('store = "a\\u0000b"\n', "not a valid folder name: it contains a zero byte"),
        ('[grid]\n"run.seed" = [2024-01-01]\n', "run.seed = 2024-01-01: must be an integer, 0 or more"),
        ('[grid]\n"run.seed" = [12:00:00]\n', "run.seed = 12:00:00: must be an integer, 0 or more"),
        ('[set]\n"run.seed" = 2024-01-01\n', "run.seed = 2024-01-01: must be an integer, 0 or more"),
        ('[[list]]\n"run.seed" = 2024-01-01\n', "run.seed = 2024-01-01: must be an integer, 0 or more"),
        ("[seeds]\nfirst = 2024-01-01\n", 'seeds.first = "2024-01-01": must be a whole number'),
        ('[grid]\n"run.seed" = [1, 2]\n[seeds]\nfirst = 5\n', f"grid.run.seed: and [seeds] first {BOTH}"),
        (
            '[set]\n"run.replications" = 3\n[seeds]\ncount = 2\n',
            f"set.run.replications: and [seeds] count {BOTH}",
        ),
        (
            "[grid]\nrun.replications = [1, 2]\n[seeds]\ncount = 2\n",
            f"grid.run.replications: and [seeds] count {BOTH}",
        ),
        (
            '[grid]\nswitch = [{buffer = "4 packets"}]\n"switch.buffer" = ["8 packets"]\n',
            "grid.switch: and switch.buffer in [grid] change the same value: one would be lost",
        ),
    ],
)
def test_sweeps(file: Path, work: Path, text: str, said: str) -> None:
    (work / "small.toml").write_text(file.read_text())
    (work / "sweep.toml").write_text(SWEEP + text)
    done = CliRunner().invoke(app, ["sweep", "sweep.toml"], catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert commands.names(work) == ["small.toml", "sweep.toml"]


def test_names_with_a_zero_byte(work: Path) -> None:
    (work / "sweep.toml").write_text('scenario = "a\\u0000b"\n')
    assert refused("sweep", "sweep.toml") == "a\\x00b: not a valid file name: it contains a zero byte\n"


JOB = """[run]
duration = "1 ms"
end = "jobs"
[topology.dumbbell]
[[jobs]]
name = "j"
hosts = ["A1", "A2"]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f'{JOB}ops = [{{rank = 0, send = "1 MiB", to = 1}}, {{rank = 1, recv = "1 B", from = 0}}]\n',
            "rank 1, operation 0 (recv 1 B from 0, tag any) is shorter than the message that it receives",
        ),
        (f'{JOB}collective.all_reduce.bytes = "1.5 TiB"\n', '"1.5 TiB": must be at most 1 TiB'),
        (f'{JOB}collective.barrier = {{}}\n[packet]\nmtu = "5 GB"\n', '"5 GB": must be below 4 GiB'),
        (f'{JOB}collective.all_reduce.bytes = "0.1 B"\n', "must be a whole number of bytes with its unit"),
        (
            '[run]\nduration = "1 ms"\n[topology.edges]\nhosts = []\nswitches = ["S"]\ncables = []\n'
            '[[flows]]\nname = "f"\nfrom = ["*"]\nto = ["*"]\n',
            "topology.edges.hosts = []: must name at least one host",
        ),
        (
            JOB.replace('["A1", "A2"]', "[]") + 'collective.all_reduce.bytes = "1 kB"\n',
            "jobs[0].hosts = []: must name at least one host",
        ),
    ],
)
def test_scenarios(work: Path, text: str, said: str) -> None:
    (work / "bad.toml").write_text(text)
    for command in (["validate"], ["run"], ["manage"], ["whatif", "--hot", "A1"]):
        assert said in refused(command[0], "bad.toml", *command[1:]), command
    assert commands.names(work) == ["bad.toml"]


@pytest.mark.parametrize(("size", "other"), [("1 GB", "1000 MB"), ("0.5 GB", "500 MB"), ("4 GB", "4000 MB")])
def test_sizes_in_gigabytes(size: str, other: str) -> None:
    one, two = (
        becalm.Scenario(f'{JOB}collective.all_reduce.bytes = "{each}"\n').resolved["jobs"]
        for each in (size, other)
    )
    assert one == two


@pytest.mark.parametrize("seconds", ["inf", "nan", "1e999", "0", "-1"])
def test_counters_of_no_time(seconds: str) -> None:
    given = [str(DATA / "ft2_18" / "ibnetdiscover.txt"), str(DATA / "counters" / "incast.txt")]
    done = CliRunner().invoke(app, ["counters", *given, f"--seconds={seconds}"], catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Invalid value for '--seconds'" in done.stderr


@pytest.mark.parametrize(
    "names",
    [
        ("--out", "same", "--report", "same"),
        ("--out", "same", "--packets", "./same"),
        ("--report", "x.html", "--perfetto", "folder/../x.html"),
        ("--packets", "same", "--events", "same"),
    ],
)
def test_two_results_of_one_name_are_noticed_before_the_run(
    file: Path, work: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "folder").mkdir()
    monkeypatch.setattr("becalm.run", None)
    assert "given for two outputs" in refused("run", file, *names)
    assert commands.names(work) == ["folder"]
