"""The modules of `hardware` match the core: calls are recorded and replayed, and faults are detected."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import BAD_INPUT, app

TOOLS = Path(__file__).parents[1] / "tools" / "hardware"
sys.path.insert(0, str(TOOLS))

import bench  # noqa: E402
import calls  # noqa: E402
import costs  # noqa: E402
import replay  # noqa: E402
import scenes  # noqa: E402

needs_verilator = pytest.mark.skipif(bench.verilator() is None, reason="needs verilator")
needs_yosys = pytest.mark.skipif(costs.yosys() is None, reason="needs yosys")

MARKER = {"PORTS": 16, "SLOTS": 8, "THRESHOLD": 6, "SHOWN": 0, "SERIAL": 0}
RESPONDER = {"RATES": 256, "ACK_BITS": 15}
IBTA = {"ENTRIES": 512, "TIMER_BITS": 48, "TICK_BITS": 48}


class Fault(NamedTuple):
    """A line of a module and its faulty replacement."""

    module: str
    parameters: dict[str, int]
    schemes: str
    right: str
    wrong: str


NAIVE, FIRST, BOTH, TIMED = scenes.SCHEMES
FAULTS = {
    "one packet too few is marked": Fault(
        "marker", {**MARKER, "POLICY": 1}, FIRST, "cnt2 <= waiting;", "cnt2 <= waiting - 1'b1;"
    ),
    "marking is not triggered again": Fault(
        "marker", {**MARKER, "POLICY": 1}, FIRST, "if (trigger) cnt2", "if (trigger && cnt2 == 0) cnt2"
    ),
    "the threshold is reached, not exceeded": Fault(
        "marker", {**MARKER, "POLICY": 2}, BOTH, "sends_next > THRESHOLD", "sends_next >= THRESHOLD"
    ),
    "a new packet keeps the flag of its slot": Fault(
        "marker", {**MARKER, "POLICY": 0}, NAIVE, "come_slot == s) flags", "come_slot == s && rst) flags"
    ),
    "a mark does not forget the ACKs before it": Fault(
        "responder", RESPONDER, BOTH, "(ack && (marked || gains))", "(ack && !marked && gains)"
    ),
    "the next packet may go out a packet time early": Fault(
        "responder", RESPONDER, NAIVE, "times > index", "times >= index"
    ),
    "the index is not capped": Fault(
        "ibta_responder", IBTA, TIMED, "higher > ccti_limit ? ccti_limit : ", ""
    ),
    "an expiry goes below the least index": Fault(
        "ibta_responder", IBTA, TIMED, "ccti - ccti_min > ccti_decrease ?", "ccti > 0 ?"
    ),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that records each scheme's calls on a small scene once."""
    folder = tmp_path_factory.mktemp("calls")

    def record(schemes: str) -> Path:
        file = folder / f"{schemes}.parquet"
        if not file.exists():
            scenes.record("random tree" if schemes == TIMED else "dumbbell", schemes, 0.05, file)
        return file

    return record


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("built")


@needs_verilator
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_nothing_else(
    name: str, recorded: Callable[[str], Path], built: Path, tmp_path: Path
) -> None:
    fault = FAULTS[name]
    binary = tmp_path / "calls.bin"
    write = calls.write_markers if fault.module == "marker" else calls.write_responses
    with binary.open("wb") as file:
        assert write(calls.Recording.read(recorded(fault.schemes)), file) > 1000
    text = (bench.HARDWARE / f"{fault.module}.sv").read_text()
    assert text.count(fault.right) == 1
    key = "-".join(map(str, (fault.module, *fault.parameters.values())))
    right = bench.Bench(fault.module, fault.parameters, built / key).replay(binary)
    wrong_text = text.replace(fault.right, fault.wrong)
    wrong = bench.Bench(fault.module, fault.parameters, built / f"{key}-wrong", wrong_text).replay(binary)
    assert right.marks > 0
    assert right.differences == 0, right.said
    assert wrong.differences > 0, name


def test_a_recording_changes_nothing_and_has_every_packet() -> None:
    scenario = scenes.dumbbell(scenes.SCHEMES[FIRST], 0.05)
    traced = becalm.trace(scenario, links=[], switches=None, most=1_000_000)
    assert traced.fingerprint == becalm.run(scenario, threads=1).fingerprint
    counts = dict(traced.calls.group_by("call").len().iter_rows())
    assert counts["arrived"] >= counts["departing"] >= counts["left"] > 10_000
    assert counts["arrived"] - counts["left"] < 40
    sent = traced.calls.filter(pl.col("call") == "sent")
    packets = becalm.trace(scenario, links=["A1->A"], most=1_000_000).packets
    of_first = sent.filter(pl.col("flow") == 10)
    assert of_first["time"].to_list() == packets.filter(pl.col("kind") == "data")["time"].to_list()


def test_only_what_is_chosen_is_recorded() -> None:
    scenario = scenes.dumbbell(scenes.SCHEMES[FIRST], 0.05)
    chosen = becalm.trace(scenario, links=[], switches=["B"], flows=["remote"], most=5000)
    assert chosen.full
    assert 4900 < chosen.calls.height <= 5000
    assert set(chosen.calls["switch"].drop_nulls()) == {"B"}
    assert set(chosen.calls["flow"].drop_nulls()) == set(range(10, 20))
    assert becalm.trace(scenario, links=[], stop="100 us").calls.is_empty()
    with pytest.raises(becalm.BecalmError, match=r"switch `C`: unknown; valid: "):
        becalm.trace(scenario, switches=["C"])


def test_the_command_writes_events_that_can_be_replayed(tmp_path: Path) -> None:
    file = tmp_path / "events.parquet"
    options = [
        "--example",
        "storage_incast",
        "--set",
        "run.duration=2100 us",
        "--out",
        str(tmp_path / "out"),
        "-q",
    ]
    more = [
        "--events",
        str(file),
        "--trace",
        "switches=rack2",
        "--trace",
        "flows=incast",
        "--trace",
        "most=900000",
    ]
    done = CliRunner().invoke(app, ["run", *options, *more])
    assert done.exit_code == 0, done.output
    recording = calls.Recording.read(file)
    assert recording.marking[0] == "input_output_triggered"
    assert set(recording.calls["switch"].drop_nulls()) == {"rack2"}
    assert recording.calls["flow"].drop_nulls().n_unique() == 8
    assert calls.sizes(recording)[0] == 3
    with (tmp_path / "calls.bin").open("wb") as out, pytest.raises(calls.Unfit, match="with discrete = true"):
        calls.write_responses(recording, out)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ["--trace", "switches=A"],
            "--trace: has no effect without --pcap, --packets, --perfetto or --events",
        ),
        (["--packets", "p", "--trace", "switches=A"], "--trace switches=...: has no effect without --events"),
        (["--events", "e", "--trace", "from=1 ms"], "--trace from=...: has no effect on --events"),
        (["--events", "e", "--trace", "switches=Q"], "switch `Q`: unknown; valid: A, B"),
    ],
)
def test_options_without_effect_are_refused(
    options: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "--example", "naive_marking", *options])
    assert done.exit_code == BAD_INPUT
    assert problem in " ".join(done.output.split())


@needs_verilator
def test_a_recording_of_schemes_without_a_module_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scan.parquet"
    schemes = {**scenes.SCHEMES[FIRST], "marking": {"input_triggered": {"method": "scan"}}}
    becalm.trace(scenes.dumbbell(schemes, 0.01), links=[], switches=["B"]).save_calls(file)
    with pytest.raises(calls.Unfit, match="the module uses counters"):
        replay.replay(file, tmp_path)


@needs_yosys
def test_parts_add_up_to_the_whole_marker() -> None:
    size = {"PORTS": 8, "SLOTS": 4, **costs.VARIANTS["input-output-triggered"]}
    parts, whole = (costs.synthesize("marker", size, whole=each) for each in (False, True))
    assert (parts["flip_flops"], parts["depth"]) == (whole["flip_flops"], whole["depth"])
    assert parts["gates"] == pytest.approx(whole["gates"], rel=0.02)


def test_tools_that_are_absent_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["replay"])
    assert (replay.main(), costs.main()) == (0, 0)
    said = capsys.readouterr().out
    assert "apt install verilator" in said
    assert "apt install yosys" in said
