"""Measures the references of an entry again with the user's copy of the other program.

    LOGGOPSIM=~/LogGOPSim/build python tools/crosscheck/again.py loggopsim
    LOGGOPSIM=~/LogGOPSim/build python tools/crosscheck/again.py loggopsim --write

This prints the new values next to the values in `reference.toml`. `--write` replaces the stored values. The
environment variable contains the program's folder; the docstring of each driver in this folder names it.
becalm itself does not need the other programs, because the references are stored as numbers.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

from becalm.crosscheck import find
from becalm.crosscheck.entry import Case, Entry

HERE = Path(__file__).parent
SPREAD = "spread "
"""Prefix of a quantity's key; marks half the range over the program's seeds."""
_VALUES = re.compile(r"^values = \{.*\}$(\nspread = \{.*\}$)?", re.MULTILINE)
Values = dict[str, float | list[float]]


def measured(entry: Entry, case: Case) -> Values:
    """Run the other program for a case; return its values by quantity, each in the quantity's unit."""
    sys.path.insert(0, str(HERE))
    driver = importlib.import_module(Path(entry.program.again).stem)
    found: Values = driver.reference(entry, case)
    wanted = {key: found[key] for key in case.values}
    return wanted | {each: found[each] for key in wanted if (each := f"{SPREAD}{key}") in found}


def written(entry: Entry, found: list[Values]) -> str:
    """Return the text of `reference.toml` with the values of each case; write samples to separate files."""
    text = (entry.folder / "reference.toml").read_text(encoding="utf-8")
    lines = iter([_line(entry, case, values) for case, values in zip(entry.cases, found, strict=True)])
    return _VALUES.sub(lambda _: next(lines), text)


def _line(entry: Entry, case: Case, values: Values) -> str:
    parts, spreads = [], []
    for key, value in values.items():
        if key.startswith(SPREAD):
            spreads.append(f"{key.removeprefix(SPREAD)} = {value:.3g}")
        elif isinstance(value, list):
            name = f"{case.name.replace(' ', '-')}-{key}.txt"
            (entry.folder / name).write_text("".join(f"{each:.6g}\n" for each in value), encoding="utf-8")
            parts.append(f'{key} = "{name}"')
        else:
            parts.append(f"{key} = {value:.10g}")
    line = f"values = {{ {', '.join(parts)} }}"
    return f"{line}\nspread = {{ {', '.join(spreads)} }}" if spreads else line


def _shown(value: float | list[float] | tuple[float, ...]) -> str:
    return f"{len(value)} samples" if isinstance(value, (list, tuple)) else f"{value:.6g}"


def main() -> None:
    """Run the program for all cases of an entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("entry")
    parser.add_argument("--write", action="store_true", help="write the values to reference.toml")
    arguments = parser.parse_args()
    entry = find(arguments.entry)
    found = []
    for case in entry.cases:
        found.append(measured(entry, case))
        for key in case.values:
            value = found[-1][key]
            print(f"{case.name}, {key}: now {_shown(value)}, stored {_shown(case.values[key])}", flush=True)
    if arguments.write:
        (entry.folder / "reference.toml").write_text(written(entry, found), encoding="utf-8")


if __name__ == "__main__":
    main()
