"""Traces of the same run, packet by packet, and their contents in other tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import BAD_INPUT, app
from becalm.traces import capture, chrome

TSHARK = shutil.which("tshark")
SCENE = """
[run]
duration = "400 us"

[topology.dumbbell]
remote = 2
local = 2
rate = "1 GB/s"
delay = "30 ns"

[switch]
buffer = "8 packets"

[packet]
mtu = "2048 B"
header = "26 B"
ack = "30 B"

[marking.queue_threshold]
high = 0.3
low = 0.2

[echo.ibta]
{echo}

[response.ibta]
ccti_increase = 4
ccti_timer = 20
[response.ibta.cct.linear]
entries = 128
max = "60 us"

[[flows]]
name = "hot"
from = ["A1", "A2", "B1", "B2"]
to = ["BC"]
traffic.greedy.message = "5000 B"

[[flows]]
name = "victim"
from = ["AV"]
to = ["BV"]
start = "50 us"
traffic.poisson = {{ load = 0.3, message = "3 KiB" }}
"""
ACKS, CNPS = 'transport = "reliable"', 'transport = "unreliable"'


def scene(echo: str = ACKS, **changes: object) -> becalm.Scenario:
    return becalm.Scenario(SCENE.format(echo=echo), name="scene.toml").replace(changes)


@pytest.fixture(scope="module")
def traced() -> becalm.Trace:
    return becalm.trace(scene())


def test_a_trace_is_of_the_same_run_as_the_results(traced: becalm.Trace) -> None:
    results = becalm.run(scene(), threads=1)
    assert traced.fingerprint == results.fingerprint
    assert not traced.full
    assert traced.packets.height == results.packet_hops
    counted = traced.packets.group_by("link").len().sort("link")
    names = results.links.select(
        pl.format("{}->{}", "from", "to").alias("link"), pl.col("packets").cast(pl.UInt32).alias("len")
    )
    assert counted.equals(names.filter(pl.col("len") > 0).sort("link"))


def test_packets_have_the_marks_and_messages_of_the_tables(traced: becalm.Trace) -> None:
    results = becalm.run(scene(), threads=1)
    trunk = traced.packets.filter(pl.col("link") == "A->B")
    counted = results.links.filter((pl.col("from") == "A") & (pl.col("to") == "B"))["marked"][0]
    assert trunk.filter("fecn").height == counted > 0, "no switch before this one marks"
    assert set(traced.packets.filter("becn")["kind"]) == {"ack"}
    reported = traced.packets.filter(pl.col("becn") & pl.col("link").is_in(["A->A1", "B->B1"]))
    assert reported.height > 0
    first = traced.packets.filter((pl.col("link") == "A1->A") & (pl.col("kind") == "data"))
    assert first["sequence"].to_list() == list(range(first.height))
    assert first["payload"].to_list()[:6] == [2048, 2048, 904, 2048, 2048, 904]
    assert first["first"].to_list()[:4] == [True, False, False, True]
    assert first["last"].to_list()[:4] == [False, False, True, False]
    arrived = traced.tables["messages"].group_by("flow").len().sort("flow")
    assert arrived["len"].to_list() == results.flows.sort("flow")["messages"].to_list()


def test_waits_and_roles_are_those_of_the_tables(traced: becalm.Trace) -> None:
    results = becalm.run(scene(), threads=1)
    for table, columns in (("waits", results.links["xmit_wait"]), ("roles", None)):
        found = traced.tables[table]
        assert found.height
        assert (found["begin"] < found["end"]).all()
        if columns is not None:
            waited = found.group_by("link").agg((pl.col("end") - pl.col("begin")).sum() / 1e12).sort("link")
            for link, seconds in waited.iter_rows():
                assert seconds == pytest.approx(columns[link], abs=1e-11)
    roots = traced.tables["roles"].filter(pl.col("role") == "root")
    share = roots.group_by("link").agg((pl.col("end") - pl.col("begin")).sum() / traced.end)
    for link, part in share.iter_rows():
        assert part == pytest.approx(results.tree["root_share"][link], abs=1e-6)
    assert (traced.tables["gaps"]["gap"] > 0).any()


def test_only_what_is_chosen_is_recorded() -> None:
    found = becalm.trace(scene(), flows=["victim"], links=["A->B"], start="100 us", stop="200 us")
    packets = found.packets
    assert packets.height
    assert set(packets["group"]) == {"victim"}
    assert set(packets["link"]) == {"A->B"}
    assert packets["time"].is_between(100_000_000, 200_000_000).all()
    assert found.end == 200_000_000
    whole = becalm.trace(scene()).packets
    same = whole.filter(
        (pl.col("group") == "victim")
        & (pl.col("link") == "A->B")
        & pl.col("time").is_between(100_000_000, 200_000_000)
    )
    assert packets.equals(same)


def test_a_trace_is_bounded_and_says_where_it_ends() -> None:
    found = becalm.trace(scene(), most=100)
    assert found.full
    assert found.packets.height <= 100
    whole = becalm.trace(scene()).packets
    assert found.packets.equals(whole.filter(pl.col("time") < found.end))
    assert found.end < 400_000_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flows": ["nobody"]}, "flow `nobody`: unknown; valid: 0 to 4, or a group: hot, victim"),
        ({"flows": [5]}, "flow `5`: unknown"),
        ({"links": ["A->C"]}, "link `A->C`: unknown; valid: "),
        ({"start": "1 ms"}, "must start before its end"),
        ({"most": 0}, "must be between 1 and"),
        ({"replication": 1}, "must be between 0 and 0"),
    ],
)
def test_bad_choices_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(becalm.BecalmError, match=message):
        becalm.trace(scene(), **arguments)  # type: ignore[arg-type]


FIELDS = (
    "frame.time_epoch", "frame.len", "infiniband.lrh.vl", "infiniband.lrh.sl", "infiniband.lrh.slid",
    "infiniband.lrh.dlid", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn",
    "infiniband.reserved", "_ws.malformed", "_ws.expert.severity",
)  # fmt: skip


def dissected(file: Path, fields: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the fields of each frame according to tshark."""
    assert TSHARK is not None
    chosen = [argument for field in fields for argument in ("-e", field)]
    done = subprocess.run(
        [TSHARK, "-r", str(file), "-T", "fields", "-E", "separator=;", *chosen],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "error" not in done.stderr.lower(), done.stderr
    return [dict(zip(fields, line.split(";"), strict=True)) for line in done.stdout.splitlines()]


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
@pytest.mark.parametrize("echo", [ACKS, CNPS])
@pytest.mark.parametrize("link", ["A->B", "B->A", "B->BC"])
def test_wireshark_reads_what_the_table_says(tmp_path: Path, link: str, echo: str) -> None:
    found = becalm.trace(scene(echo), links=[link])
    file = tmp_path / "link.pcap"
    found.save_pcap(link, file)
    rows = found.packets.to_dicts()
    lids = {host: str(place) for place, host in enumerate(hosts(found), 1)}
    known = dissected(file, FIELDS)
    assert len(known) == len(rows) > 0
    for row, fields in zip(rows, known, strict=True):
        # In Wireshark, FECN and BECN are the upper bits of a reserved byte.
        congestion = row["fecn"] << 7 | row["becn"] << 6
        forth = row["kind"] == "data"
        source, destination = (
            (row["source"], row["destination"]) if forth else (row["destination"], row["source"])
        )
        seconds, _, part = fields["frame.time_epoch"].partition(".")
        assert int(seconds) * 10**9 + int(part) == pytest.approx(row["time"] // 1000, abs=1)
        assert int(fields["infiniband.lrh.vl"], 0) == row["vl"]
        assert int(fields["infiniband.lrh.slid"], 0) == int(lids[source])
        assert int(fields["infiniband.lrh.dlid"], 0) == int(lids[destination])
        assert int(fields["infiniband.bth.destqp"], 0) == row["flow"] + 2
        assert int(fields["infiniband.bth.psn"], 0) == row["sequence"]
        assert int(fields["infiniband.reserved"], 16) == congestion
        assert int(fields["infiniband.bth.opcode"], 0) == opcode(row, reliable=echo == ACKS)
        assert fields["_ws.malformed"] == ""
        assert fields["_ws.expert.severity"] == ""
        if row["kind"] != "cnp":
            assert int(fields["frame.len"]) == row["size"] + (-row["payload"] % 4)


def hosts(found: becalm.Trace) -> list[str]:
    """Return the hosts in the order of the topology."""
    return becalm.run(found.scenario.replace({"run.duration": "60 us"}), threads=1).hosts["host"].to_list()


def opcode(row: dict[str, object], *, reliable: bool) -> int:
    if row["kind"] != "data":
        return {"ack": 17, "cnp": 129}[str(row["kind"])]
    place = {"first": 0, "middle": 1, "last": 2, "only": 4}[
        "only"
        if row["first"] and row["last"]
        else "first"
        if row["first"]
        else "last"
        if row["last"]
        else "middle"
    ]
    return place if reliable else place + 32


def test_crcs_of_a_frame() -> None:
    """Shifting over zeros yields the same CRC as dividing the entire frame."""
    fields = capture.Fields(0x04, 3, 1, 1, 2, 77, 5, fecn=True, becn=False, payload=254)
    whole = capture.frame(fields)
    state = 0xFFFF
    for byte in whole[:-2]:
        for bit in range(8):
            carry = (state ^ byte >> bit) & 1
            state = state >> 1 ^ (0xD008 if carry else 0)
    assert (state ^ 0xFFFF).to_bytes(2, "little") == whole[-2:]
    assert len(whole) == 8 + 12 + 256 + 4 + 2
    other = capture.frame(fields._replace(vl=5, fecn=False))
    assert other[-6:-2] == whole[-6:-2], "the invariant CRC leaves out the lane and the marks"
    assert capture.frame(fields._replace(psn=6))[-6:-2] != whole[-6:-2]


def test_packets_that_are_no_frames_are_refused(tmp_path: Path) -> None:
    found = becalm.trace(scene(**{"packet.mtu": "8192 B"}), links=["A->B"])
    with pytest.raises(becalm.BecalmError, match="up to 4096 B"):
        found.save_pcap("A->B", tmp_path / "x.pcap")
    assert not list(tmp_path.iterdir())


def test_chrome_trace_is_well_formed(traced: becalm.Trace, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    traced.save_chrome(file)
    found = json.loads(file.read_text())
    events = found["traceEvents"]
    assert events == json.loads(json.dumps(list(chrome.events(traced))))
    kinds = {event["ph"] for event in events}
    assert kinds == {"M", "X", "i", "b", "e", "C"}
    for event in events:
        assert {"name", "ph", "pid"} <= set(event)
        assert isinstance(event["pid"], int) and isinstance(event.get("tid", 0), int)
        if event["ph"] != "M":
            assert 0 <= event["ts"] <= 400
        else:
            assert event["name"] in {"process_name", "thread_name", "process_sort_index", "thread_sort_index"}
            assert set(event["args"]) <= {"name", "sort_index"}
        if event["ph"] == "C":
            assert event["args"] and all(isinstance(value, int | float) for value in event["args"].values())
        if event["ph"] == "i":
            assert event.get("s", "t") in {"g", "p", "t"}
        if event["ph"] == "X":
            assert event["dur"] > 0
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
    assert len({thread for _, thread in tracks}) == len(tracks), "threads have numbers of their own"
    for spans in tracks.values():
        for (begin, length), (after, _) in pairwise(sorted(spans)):
            assert begin + length <= after + 1e-6, "Perfetto drops events of a thread that overlap"
    opened = sorted((event["cat"], event["id"]) for event in events if event["ph"] == "b")
    assert opened == sorted((event["cat"], event["id"]) for event in events if event["ph"] == "e")
    assert sum(event.get("cat") == "packet" for event in events) == traced.packets.height


def test_perfetto_reads_it(traced: becalm.Trace, tmp_path: Path) -> None:
    """Use Perfetto's trace processor, if its package and program are installed."""
    processor = pytest.importorskip("perfetto.trace_processor", reason="perfetto is not installed")
    shell = shutil.which("trace_processor_shell")
    if shell is None:
        pytest.skip("trace_processor_shell is not installed")
    traced.save_chrome(tmp_path / "trace.json")
    config = processor.TraceProcessorConfig(bin_path=shell)
    with processor.TraceProcessor(trace=str(tmp_path / "trace.json"), config=config) as opened:
        rows = opened.query("select count(*) as n from slice where category = 'packet'")
        assert [row.n for row in rows] == [traced.packets.height]


def test_command_line_writes_all_three(tmp_path: Path) -> None:
    file = tmp_path / "scene.toml"
    file.write_text(SCENE.format(echo=ACKS))
    paths = {name: tmp_path / name for name in ("trunk.pcap", "packets.parquet", "trace.json")}
    arguments = [
        "run", str(file), "--out", str(tmp_path / "results"), "--pcap", f"A->B={paths['trunk.pcap']}",
        "--packets", str(paths["packets.parquet"]), "--perfetto", str(paths["trace.json"]),
        "--trace", "until=100us", "--trace", "flows=hot",
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert all(path.stat().st_size for path in paths.values())
    table = pl.read_parquet(paths["packets.parquet"])
    assert set(table["group"]) == {"hot"}
    assert (table["time"] <= 100_000_000).all()
    assert len(set(table["link"])) > 4
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == BAD_INPUT, "files of traces are not replaced unasked"
    paths["packets.parquet"].write_text("old")
    again = CliRunner().invoke(app, [*arguments, "--overwrite"])
    assert again.exit_code == 0, again.output
    assert pl.read_parquet(paths["packets.parquet"]).equals(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pcap", "trunk.pcap"], "must be LINK=FILE"),
        (["--trace", "flows=hot"], "has no effect without"),
        (["--packets", "p.parquet", "--trace", "hosts=A1"], "valid: flows=..., links=..."),
        (["--packets", "p.parquet", "--trace", "most=many"], "must be a number of rows"),
        (["--packets", "p.parquet", "--trace", "links=A->C"], "link `A->C`: unknown"),
        (["--pcap", "A->C=x.pcap"], "link `A->C`: unknown"),
    ],
)
def test_bad_options_are_one_message(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(SCENE.format(echo=ACKS))
    result = CliRunner().invoke(app, ["run", "scene.toml", "--quiet", *options])
    assert result.exit_code == BAD_INPUT
    assert message in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["scene.toml"]
