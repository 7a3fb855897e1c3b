"""All readers of external files and texts, with seeds to corrupt."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import becalm
from becalm.base.quantities import seconds
from becalm.cli.options import parse_change
from becalm.comparison import merge, scene, scheme
from becalm.comparison.measure import classes
from becalm.designs.function import Function, compiled
from becalm.lab import claims
from becalm.opensm import check, counters, ibnetdiscover, importing, lfts
from becalm.results import MANIFEST
from becalm.runs.memory import limit_of
from becalm.simulators import htsim
from becalm.simulators.importing import import_file, kind
from becalm.sonic import check as sonic
from becalm.sonic import counters as pauses
from becalm.sonic import hosts, storms
from becalm.sonic.fabric import load
from becalm.sonic.importing import import_fabric as import_switches
from becalm.store import Store, archive, run_key
from becalm.store.archive import pack
from becalm.sweeps.spec import read_spec
from becalm.tunings.spec import is_scenario, read_tune
from sonic_samples import flat, traditional, wide

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
CORPUS = Path(__file__).parent / "corpus"

FABRIC = DATA / "ft3_16" / "ibnetdiscover.txt"
TINY = b"""[run]
duration = "20 us"
[topology.dumbbell]
remote = 2
local = 2
[observe]
links = []
[[flows]]
name = "f"
from = ["A1"]
to = ["BC"]
"""


@dataclass(frozen=True)
class Target:
    """A reader."""

    seeds: list[bytes]
    """Valid input."""
    read: Callable[[bytes], object]
    """Reads an input; raises only becalm's errors."""
    words: tuple[bytes, ...] = ()
    """Words with a meaning to the reader."""


@contextlib.contextmanager
def _file(content: bytes, name: str = "broken.txt") -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="becalm-fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


def _of(reader: Callable[[Path], object], name: str = "broken.txt") -> Callable[[bytes], object]:
    def read(content: bytes) -> object:
        with _file(content, name) as path:
            return reader(path)

    return read


def _beside(reader: Callable[[Path], object], **others: bytes) -> Callable[[bytes], object]:
    """Return a reader of a file in a folder with other .toml files."""

    def read(content: bytes) -> object:
        with _file(content, "broken.toml") as path:
            for name, other in others.items():
                (path.parent / f"{name}.toml").write_bytes(other)
            return reader(path)

    return read


def _change(content: bytes) -> object:
    """Apply changes, one per line, in the format of `--set`."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    changes = dict(parse_change(line) for line in lines[:20])
    return becalm.Scenario(SCENARIO.decode(), name="tiny.toml").replace(changes, option="--set").resolved


def _scenario(path: Path) -> object:
    scenario = becalm.load(path)
    # The scenario's text must be readable again, because other processes load it to run the scenario.
    assert becalm.Scenario(scenario.to_toml()).hash == scenario.hash
    return scenario.summary, scenario.core.memory_estimate


def _expression(content: bytes) -> object:
    call = compiled(content.decode("utf-8", "surrogateescape"), 1 / 256, 1.0)
    return Function(call, "f_dec", 1 / 256, 1.0)(np.array([1 / 256, 0.5, 1.0]))


def _quantities(content: bytes) -> None:
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        for reader in (seconds, limit_of):
            try:
                reader(line)
            except becalm.BecalmError as error:
                assert "must be a number" in str(error)


def _lfts(path: Path) -> object:
    return importing.import_fabric(FABRIC, path).text


def _tables(path: Path) -> object:
    return lfts.read(path, ibnetdiscover.read(FABRIC))


def _import(path: Path) -> object:
    # An imported fabric must be a valid scenario, regardless of names and numbers in the file.
    return becalm.Scenario(importing.import_fabric(path).text)


def _counters(path: Path) -> object:
    return counters.read(path, ibnetdiscover.read(DATA / "ft2_18" / "ibnetdiscover.txt"))


def _opensm(path: Path) -> object:
    return [each.message() for each in check.check(path, ibnetdiscover.read(FABRIC))]


def _sonic(path: Path) -> object:
    return [each.message() for each in sonic.check([path], sonic.Asked(hosts.Host(tos=106), busy=4))]


def _switches(path: Path) -> object:
    # Imported switches must be a valid scenario, whatever the names and numbers in the file.
    return becalm.Scenario(import_switches([path]).text)


def _simulated(path: Path) -> object:
    return becalm.Scenario(import_file(path).text) if kind(path) else None


def _tree(path: Path) -> object:
    graph = htsim.read(path)[1]
    return becalm.Scenario(import_file(path).text) if len(graph.hosts) < 200 and kind(path) else None


def _pauses(path: Path) -> object:
    fabric = load([DATA / "sonic"])
    counts = pauses.read(fabric, [path])
    return storms.roots(fabric, counts), list(storms.doubts(fabric, counts))


def _results(content: bytes) -> object:
    """Read a folder with a broken manifest."""
    with _file(content, MANIFEST) as path:
        for name, table in PARQUET.items():
            (path.parent / name).write_bytes(table)
        return becalm.load_results(path.parent)


def _parquet(content: bytes) -> object:
    """Read a folder with a broken table."""
    with _file(RESULTS, MANIFEST) as path:
        for name, table in PARQUET.items():
            (path.parent / name).write_bytes(content if name == "groups.parquet" else table)
        return becalm.load_results(path.parent)


def _run_file(path: Path) -> None:
    run = archive.opened(path, KEY)
    archive.check_key(run, KEY)
    run.results()


def _shelf(content: bytes) -> object:
    """Read a store with a broken file."""
    with tempfile.TemporaryDirectory(prefix="becalm-fuzz-") as folder:
        store = Store(Path(folder) / "store")
        store.put(KEY, RUN, archive.ALL)
        place = store.path(KEY)
        place.write_bytes(content)
        return store.get(KEY) if store.has(KEY, archive.ALL) else None


def _manifest_inside(content: bytes) -> None:
    """Read a run with a broken manifest in an intact archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(PACKED)) as packed, zipfile.ZipFile(target, "w") as made:
        for name in packed.namelist():
            made.writestr(name, content if name == MANIFEST else packed.read(name))
        # Older versions wrote no checksum, so the manifest is read.
        made.comment = packed.comment.rpartition(b" ")[0]
    with _file(target.getvalue(), "run") as path:
        _run_file(path)


SMALL = scene.find("dumbbell")
SCENARIO = (ROOT / "scenarios" / "legacy_hosts.toml").read_bytes()
TREATED = (ROOT / "scenarios" / "input_triggered_lipd.toml").read_bytes()
RUN = becalm.run(becalm.Scenario(TINY.decode(), name="tiny.toml"), threads=1)
KEY = run_key(RUN.scenario, 0)
PACKED = pack(RUN, KEY, archive.ALL)
with tempfile.TemporaryDirectory(prefix="becalm-fuzz-") as _folder:
    _saved = RUN.save(Path(_folder) / "results")
    RESULTS = (_saved / MANIFEST).read_bytes()
    PARQUET = {path.name: path.read_bytes() for path in _saved.glob("*.parquet")}

_SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
_CHANGES = b"""run.seed=7
flows.0.start=1 us
response={fimd={}}
flows.old.sl=0
switch.buffer=4 packets"""
_CONNECTIONS = b"""Nodes 16
Connections 3
0->1 start 0 size 4096
2->3 id 7 start 12000 size 1
15->0 id 8 start 5 size 9
"""
_SWEEP = (ROOT / "scenarios" / "sweeps" / "buffers.toml").read_bytes().replace(b"../", b"")
_GRID = b"""scenario = "tiny.toml"
keep = "all"
store = "store"
[set]
"run.duration" = "30 us"
[grid]
"switch.buffer" = ["4 packets", "8 packets"]
[zip]
"run.warmup" = ["0 s", "1 us"]
[random]
points = 3
seed = 1
method = "sobol"
"topology.dumbbell.remote" = {int = [2, 9]}
[seeds]
count = 2
first = 5
"""
_TUNE = (ROOT / "scenarios" / "tree32" / "tune.toml").read_bytes()
_TREE = (ROOT / "scenarios" / "tree32" / "fabric.toml").read_bytes()
_COMPARED = ROOT / "python" / "becalm" / "comparison"
_SCHEMES = sorted((_COMPARED / "schemes").glob("*.toml"))
_SCENES = sorted((_COMPARED / "scenes").glob("*.toml"))
_CLAIMS = sorted((ROOT / "python" / "becalm" / "papers").glob("*/claims.toml"))


def _tune(path: Path) -> object:
    return None if is_scenario(path) else read_tune(path)


def _sweep(path: Path) -> object:
    spec = read_spec(path)
    count = len(spec.listed or [0]) * (spec.random.points if spec.random else 1)
    for values in spec.grid.values():
        count *= len(values)
    return spec.points() if count < 20 else spec


def _scheme(path: Path) -> object:
    return merge.controlled(SMALL, scheme.read(path)).hash


def _scene(path: Path) -> object:
    read = scene.read(path)
    merge.controlled(read, scheme.find("lipd"))
    return merge.controlled(read.times(2), scheme.find("none")).summary, classes(read), read.settles


def _claims(content: bytes) -> object:
    return claims.read("paper", "claims.toml", content.decode("utf-8", "replace"))


TARGETS = {
    "scenarios": Target([path.read_bytes() for path in _SCENARIOS], _of(_scenario, "broken.toml")),
    "changes": Target([_CHANGES], _change, (b"run", b"flows", b"topology.", b"seed", b".0", b"\n")),
    "connections": Target(
        [_CONNECTIONS],
        _of(becalm.read_connection_matrix, "broken.cm"),
        (b"->", b"start", b"size", b"id", b"Nodes"),
    ),
    "expressions": Target(
        [
            b"max(r / 2, rmin)",
            b"max(max(r - 0.1 * (r - rmin) ** 2, rmin) * sqrt(r), rmin)",
            b"max(min(r, rmax, exp(-r)) / 2, rmin)",
        ],
        _expression,
        (
            b"**",
            b"(",
            b")",
            b"r",
            b"lambda:",
            b"log(0)",
            b"if",
            b"else",
            b",",
            b"rmin",
            b"1j",
            b"[r]",
            b"not",
            b"<",
        ),
    ),
    "quantities": Target(
        [b"4 ms\n4GB\n0.5 KiB\n1e-3s", b"40 ns\n7 TiB\n1 B"], _quantities, (b"GB", b"ms", b" ")
    ),
    "ibnetdiscover": Target(
        [FABRIC.read_bytes(), (DATA / "ft2_18" / "ibnetdiscover.txt").read_bytes()],
        _of(_import),
        (
            b"Switch",
            b"Ca",
            b"lid",
            b"4xHDR",
            b"1xSDR",
            b"switchguid=0x1",
            b"[1]",
            b"[0]",
            b"[255]",
            b'"S-1"',
            b'"H-1"',
        ),
    ),
    "lfts": Target(
        [(DATA / "ft3_16" / "opensm-lfts.dump").read_bytes()],
        _of(_lfts),
        (b"Unicast", b"lids", b"Switch", b"guid", b"0x0001", b"001", b"255", b"path", b":"),
    ),
    "lfts_alone": Target(
        [(DATA / "ft3_16" / "opensm-lfts.dump").read_bytes()], _of(_tables), (b"0x0001", b"001")
    ),
    "opensm": Target(
        [
            b"".join((DATA / "opensm-loaded.conf").read_bytes().partition(b"\ncc_")[1:])[-4000:],
            (DATA / "opensm-loaded.conf").read_bytes(),
            b"congestion_control TRUE\ncc_cct 0:0, 0:1 1:5\ncc_sw_cong_setting_threshold 0x0f\n",
        ],
        _of(_opensm, "opensm.conf"),
        (b"TRUE", b"FALSE", b"cc_cct", b"0:1", b",", b":", b"0x1f", b"cc_key", b"(null)"),
    ),
    "sonic": Target(
        [json.dumps(traditional(count=2), indent=1).encode(), json.dumps(flat(wide())).encode()],
        _of(_sonic, "config_db.json"),
        (b'"PORT"', b'"3-4"', b'"QUEUE|Ethernet0|3"', b"NULL", b"-1", b"{", b"}", b"AZURE", b"[X|Y]"),
    ),
    "switches": Target(
        [(DATA / "sonic" / "leaf0" / "config_db.json").read_bytes()],
        _of(_switches, "config_db.json"),
        (b"host0", b"eth0", b"Server", b'"speed"', b"40m", b"0", b"-1", b"..", b'""', b"LeafRouter"),
    ),
    "hpcc_topologies": Target(
        [b"4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 1000ns 0\n3 0 25000000000.0 1us 0\n"],
        _of(_simulated, "topology.txt"),
        (b"0", b"9", b"100Gbps", b"0Gbps", b"1e9", b"ms", b" ", b"\n", b"5 1 1 4"),
    ),
    "hpcc_configs": Target(
        [
            b"TOPOLOGY_FILE topology.toml\nFLOW_FILE flow.toml\nCC_MODE 3\nSIMULATOR_STOP_TIME 4\n",
            b"CC_MODE 1\nTOPOLOGY_FILE topology.toml\nFLOW_FILE flow.toml\nRATE_AI 5Mb/s\n"
            b"KMIN_MAP 1 100000000000 100\nKMAX_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\n",
        ],
        _beside(
            _simulated,
            topology=b"3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n",
            flow=b"1\n1 2 3 100 1000 2\n",
        ),
        (b"CC_MODE 7", b"CC_MODE 8", b"HAS_WIN 1", b"EWMA_GAIN", b"0", b"{", b"1e99", b"MIN_RATE 0Mb/s"),
    ),
    "htsim": Target(
        [
            b"Nodes 16\nTiers 2\nPodsize 16\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\n"
            b"Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 4\n"
        ],
        _of(_tree, "x.topo"),
        (b"Tier 2", b"Bundle 2", b"0", b"99999999", b"Nodes", b"Podsize 4", b"\n"),
    ),
    "pauses": Target(
        [
            b"  Port Rx    PFC0    PFC3\n---------  ----  ----\nEthernet0   N/A    1,200\n\n"
            b"  Port Tx    PFC0    PFC3\n---------  ----  ----\nEthernet16  0    900\n"
        ],
        _of(_pauses, "leaf0.txt"),
        (b"Port Rx", b"PFC7", b"Ethernet4", b"N/A", b"1,000", b"rx_prio3_pause: 5", b"np_cnp_sent:1", b"\n"),
    ),
    "roce_hosts": Target(
        [b"mlnx_qos -i eth2 --trust dscp --pfc 0,0,0,1,0,0,0,0\nNCCL_IB_TC=106\nmtu 9000\n"],
        _of(hosts.read),
        (b"prio:3 dscp:26", b"cma_roce_tos -t 0x1", b"enabled 0 0 0 1 0 0 0 0", b"cnp_dscp", b"\n"),
    ),
    "counters": Target(
        [path.read_bytes() for path in sorted((DATA / "counters").glob("*.txt"))],
        _of(_counters),
        (
            b"PortXmitWait",
            b"PortXmitData",
            b":",
            b"....",
            b"GUID 0x1 port 1:",
            b"[PortXmitWait == 1]",
            b"ALL",
        ),
    ),
    "sweeps": Target(
        [_GRID, _SWEEP], _beside(_sweep, tiny=TINY, input_triggered_lipd=TREATED), (b"grid", b"random")
    ),
    "tunings": Target(
        [_TUNE], _beside(_tune, fabric=_TREE, tiny=TINY), (b"cases", b"goals", b"space", b"hot_spot")
    ),
    "claims": Target([path.read_bytes() for path in _CLAIMS], _claims, (b"[[claim]]", b"expect", b"measure")),
    "schemes": Target(
        [path.read_bytes() for path in _SCHEMES],
        _of(_scheme, "broken.toml"),
        (b"guideline", b"marking", b"["),
    ),
    "scenes": Target(
        [path.read_bytes() for path in _SCENES],
        _of(_scene, "broken.toml"),
        (b"background", b"link", b"->", b"sizes", b"longest", b"[compare]"),
    ),
    "manifests": Target([RESULTS], _results, (b'"tables"', b'"units"', b"replications", b'"scenario"')),
    "result_tables": Target([PARQUET["groups.parquet"]], _parquet),
    "run_files": Target([PACKED], _of(_run_file, "run")),
    "run_manifests": Target(
        [next(iter([zipfile.ZipFile(io.BytesIO(PACKED)).read(MANIFEST)]))], _manifest_inside
    ),
    "stores": Target([PACKED], _shelf),
}
"""Readers by name."""
