"""Runs that would require too much memory are refused in advance, based on an accurate estimate."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import becalm
import commands
from becalm.base import machine
from becalm.runs import memory

SEND = '[[flows]]\nname = "f"\nfrom = ["A1..A4"]\nto = ["BC"]\n'
ALL = '[[flows]]\nname = "f"\nfrom = ["*"]\n'
SHORT = (
    '[[flows]]\nname = "f"\nfrom = ["A1..A5"]\nto = ["B1..B5"]\n'
    'traffic.poisson = {load = 0.15, message = "64 B"}\n'
)
BARRIERS = '[[jobs]]\nname = "j"\nhosts = ["A1", "A2"]\ncollective.barrier = {}\nrepeat = 75_000\n'
BATCH = 'traffic.batch = {count = COUNT, sizes = "exponential"}\n'


def _scene(topology: str, flows: str, observe: str = "links = []", duration: str = "20 us") -> str:
    return f'[run]\nduration = "{duration}"\n[topology.{topology}]\n[observe]\n{observe}\n{flows}'


def _times(count: int, step: int) -> str:
    return ", ".join(f'"{step * index} ns"' for index in range(count))


RING = ", ".join(
    [f'{{between = ["H{20 * i}..H{20 * i + 19}", "S{i}"]}}' for i in range(100)]
    + [f'{{between = ["S{i}", "S{(i + 1) % 100}"]}}' for i in range(100)]
)
MEASURED = {
    "hosts": _scene(
        "clos]\nleaves = 64\nspines = 32\nhosts_per_leaf = 64\n[switch", f"{ALL}pattern.shift.by = 9\n"
    ),
    "flows": _scene("tree]\nports = 12\nlevels = 3\n[switch", f"{ALL}pattern.all_to_all = {{}}\n"),
    "messages": _scene("dumbbell", SEND + BATCH.replace("COUNT", "1500000")),
    "overload": _scene(
        "dumbbell", f'{SEND}traffic.poisson = {{load = 10, message = "64 B"}}\n', duration="30 ms"
    ),
    "series": _scene("dumbbell", SEND, 'step = "1 us"\nlinks = ["*"]', "20 ms"),
    "snapshots": _scene("dumbbell", SEND, f"links = []\nsnapshots = [{_times(15_000, 100)}]", "2 ms"),
    "records": _scene("dumbbell", SHORT, "links = []\nmessages = true\nmessage_rows = 1", "100 ms"),
    "rows": _scene("dumbbell", SHORT, "links = []\nmessages = true\nmessage_rows = 10_000_000", "100 ms"),
    "programs": _scene("dumbbell", f"{BARRIERS}record_ops = true\n", duration="1 s"),
    "ports": _scene("dumbbell]\nremote = 3000\nlocal = 1500\n[switch", SEND),
    "edges": _scene(
        'edges]\nallow_cycles = true\nhosts = ["H0..H1999"]\nswitches = ["S0..S99"]\n'
        f"cables = [{RING}]\n[switch",
        f"{ALL}pattern.shift.by = 20\n",
    ),
}
DEEP = _scene(
    'dumbbell]\nremote = 5\nlocal = 5\n[switch]\nbuffer = "unlimited"\n[adapter',
    '[[flows]]\nname = "f"\nfrom = ["A1..A5", "B1..B5"]\nto = ["BC"]\ntraffic.poisson.load = 0.9\n',
    duration="240 ms",
)
CLOS = "clos]\nleaves = 8\nspines = 4\nhosts_per_leaf = 16\n[switch"
HOT = f'{ALL}pattern.shift.by = 17\n[[flows]]\nname = "hot"\nfrom = ["H0..H40"]\nto = ["H127"]\n'
MEASURED |= {
    "unlimited": DEEP,
    "frames": _scene(CLOS, HOT, 'links = []\nframes = "0.2 us"', "3 ms"),
    # As many spans as in a report. The estimate includes periods of all outputs.
    "spans": _scene(CLOS, HOT, "links = []\nspans = true", "16 ms"),
    "operations": _scene(
        "dumbbell", BARRIERS.replace("75_000", "150_000") + "record_ops = true\n", duration="2 s"
    ),
}
CHILD = """
import json, sys
import becalm, numpy, polars
from becalm.base import machine
from becalm.runs import memory
scenario = becalm.load(sys.argv[1])
becalm.run(scenario, threads=1, max_memory="100 GB")
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([memory.estimate(scenario).total, int(peak.split()[1]) * 1024]))
"""


@pytest.mark.parametrize("name", MEASURED)
def test_the_estimate_is_near_what_a_run_takes(name: str, tmp_path: Path) -> None:
    """An estimate is above the process's peak memory. `memory_draws.py` tests more scenes."""
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    file = tmp_path / f"{name}.toml"
    file.write_text(MEASURED[name])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(file)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    estimate, peak = json.loads(done.stdout)
    assert 1.1 <= estimate / peak <= 2.5, (
        f"{name}: estimate {estimate / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB"
    )


REPORT = """
import sys
from becalm.cli import main
sys.argv = ["becalm", "run", sys.argv[1], "--report", "page.html", "--out", "results", "--quiet"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) * 1024)
"""


def test_the_memory_of_a_report_does_not_grow_with_simulated_time(tmp_path: Path) -> None:
    """Reports limit frames to a hundred and also limit spans; all periods would be 50 MB per millisecond."""
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    peaks = []
    for duration in ("1 ms", "16 ms"):
        place = tmp_path / duration
        place.mkdir()
        (place / "scene.toml").write_text(_scene(CLOS, HOT, duration=duration))
        done = subprocess.run(
            [sys.executable, "-c", REPORT, "scene.toml"],
            cwd=place,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 20_000_000, [f"{peak / 1e6:.0f} MB" for peak in peaks]


GREEDY = {
    "messages": _scene("dumbbell", SEND.replace('"BC"', '"BC", "B1"') + BATCH.replace("COUNT", "4000000000")),
    "snapshots": _scene("dumbbell", SEND, f"links = []\nsnapshots = [{_times(300_000, 1)}]", "2 ms"),
    "series": _scene("dumbbell", SEND, 'step = "1 us"\nlinks = ["*"]', "300 ms"),
    "flows": _scene("tree]\nports = 16\nlevels = 3\n[switch", f"{ALL}pattern.all_to_all = {{}}\n"),
    "network": _scene("dumbbell]\nremote = 15000\nlocal = 10\n[switch", SEND),
}


@pytest.mark.parametrize("part", GREEDY)
def test_what_is_too_large_is_refused_with_its_largest_part(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("large.toml").write_text(GREEDY[part])
    done = commands.becalm("run", "large.toml", "--max-memory", "250MB")
    commands.check_message(done, "large.toml", part, "250 MB", "--max-memory")
    assert commands.names(tmp_path) == ["large.toml"]
    scenario = becalm.load("large.toml")
    with pytest.raises(becalm.MemoryLimitError, match=part) as error:
        becalm.run(scenario, max_memory="250 MB")
    assert error.value.needed > error.value.limit == 250 * 10**6


TEN_MILLION = ", ".join(f'"H{i}x0..H{i}x999999"' for i in range(10))
TWICE = ", ".join(['"H0..H1000000"'] * 500)
BEYOND = {
    "clos": "clos]\nleaves = 4096\nspines = 1\nhosts_per_leaf = 2442",
    "cables": "clos]\nleaves = 4096\nspines = 4096\nhosts_per_leaf = 1",
    "entries": "clos]\nleaves = 4000\nspines = 900\nhosts_per_leaf = 200",
    "tree": "tree]\nports = 128\nlevels = 10",
    "fat_tree": "fat_tree]\nlevels = [{children = 4000}, {children = 2500}]",
    "ports": "fat_tree]\nlevels = [{children = 1}, {children = 4096, parallel = 64}]",
    "edges": f"edges]\nhosts = [{TEN_MILLION}]\nswitches = []\ncables = []",
    "lists": f"edges]\nhosts = [{TWICE}]\nswitches = []\ncables = []",
    "squares": 'edges]\nhosts = ["H1..H100000"]\nswitches = ["S1..S100000"]\n'
    'cables = [{between = ["H1..H60000", "S1"]}, {between = ["H60001..H100000", "S2"]}]',
}
PEAK = """
import resource, sys, time
from becalm import _core
begin = time.process_time()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    _core.parse(open(sys.argv[1]).read(), "beyond.toml")
except Exception as error:
    print(str(error).replace("\\n", " "))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.process_time() - begin)
"""


@pytest.mark.parametrize("name", BEYOND)
def test_networks_beyond_all_measure_are_refused_before_they_are_built(name: str, tmp_path: Path) -> None:
    file = tmp_path / "beyond.toml"
    file.write_text(_scene(f"{BEYOND[name]}\n[switch", SEND))
    done = subprocess.run([sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    message, used = done.stdout.splitlines()
    growth, seconds = map(float, used.split())
    assert "beyond.toml:" in message
    assert growth < 400_000, f"{growth / 1000:.0f} MB"
    assert seconds < 3


def test_sweeps_and_tunings_are_refused_as_a_whole(
    file: Path, scenario: becalm.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = commands.names(tmp_path)
    with pytest.raises(becalm.MemoryLimitError, match=r"needs about .* 1 MB"):
        becalm.sweep(scenario, {"run.seed": [1, 2]}, folder="store", max_memory="1 MB")
    Path("sweep.toml").write_text(f'scenario = "{file}"\n[grid]\n"run.seed" = [1, 2]\n')
    done = commands.becalm("sweep", "sweep.toml", "--store", "kept", "--max-memory", "1MB")
    commands.check_message(done, "needs about", "1 MB")
    pytest.importorskip("optuna")
    tree = Path(__file__).parents[2] / "scenarios" / "tree32" / "tune.toml"
    done = commands.becalm("tune", tree, "--out", "tuned", "--max-memory", "1MB")
    commands.check_message(done, "needs about", "1 MB")
    assert commands.names(tmp_path) == sorted([*before, "sweep.toml"])


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 10**9), ("0.5 KiB", 512), (" 2 MiB ", 2 << 20), (10**9, 10**9), ("1e3 B", 1000)],
)
def test_limits_are_sizes(text: str | int, size: int) -> None:
    assert memory.limit_of(text) == size


@pytest.mark.parametrize(
    "text", ["", "4", "4 G", "-1 GB", "0 B", "nan GB", "1e999 GB", "4 GB GB", "\udcff", -1, 0, True]
)
def test_other_limits_are_refused(text: str | int) -> None:
    with pytest.raises(becalm.BecalmError, match="must be a number above 0 with one of the units B, kB"):
        memory.limit_of(text)


def test_the_command_refuses_another_limit(file: Path) -> None:
    done = commands.becalm("run", file, "--max-memory", "4 G")
    commands.check_message(done, "4 G", "must be a number")


def test_the_limit_of_a_control_group_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = memory.machine_limit()
    assert whole <= 0.8 * machine._physical()
    monkeypatch.setattr(machine, "_SYSTEM", tmp_path)
    monkeypatch.setattr(machine, "_physical", lambda: 10**10)
    assert memory.machine_limit() == 8 * 10**9
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.machine_limit() == 8 * 10**9
    (tmp_path / "memory.max").write_text("1000000000\n")
    assert memory.machine_limit() == 8 * 10**8


def test_replications_side_by_side_need_more(scenario: becalm.Scenario) -> None:
    one = memory.estimate(scenario)
    four = memory.estimate(scenario, at_once=2, kept=4)
    assert one.total - memory.PROCESS < four.total - memory.PROCESS < 4 * (one.total - memory.PROCESS)


def test_parallel_replications_share_only_the_process(scenario: becalm.Scenario) -> None:
    one, three = (memory.estimate(scenario, at_once=width, kept=width).total for width in (1, 3))
    assert three - memory.PROCESS == 3 * (one - memory.PROCESS)
    assert sum(size for part, size in scenario.core.memory_estimate.items() if part != "total") < one / 2


def test_tables_of_finished_replications_stay_in_memory(scenario: becalm.Scenario) -> None:
    """What becomes tables counts for every kept replication, and the rest only for those that run."""
    observed = scenario.replace({"observe.step": "1 us", "observe.frames": "1 us"})
    parts = observed.core.memory_estimate
    tables = sum(parts[name] for name in ("flows", "rows", "series", "snapshots", "frames", "spans"))
    assert tables > parts["total"] / 10
    one, three = (memory.estimate(observed, kept=kept).total for kept in (1, 3))
    assert three - one == 2 * tables
