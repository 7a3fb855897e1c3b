"""Makes the references of an entry again, with the user's own copy of the other program.

    LOGGOPSIM=~/LogGOPSim/build python tools/crosscheck/again.py loggopsim
    LOGGOPSIM=~/LogGOPSim/build python tools/crosscheck/again.py loggopsim --write

prints what the program gives now beside what `reference.toml` has; `--write` puts it there. The environment
variable is the folder of the program, named at the top of its driver in this folder. Nothing of becalm needs
the other programs: references are numbers in files.
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
"""Before the key of a quantity: half of the range over the program's seeds."""
_VALUES = re.compile(r"^values = \{.*\}$(\nspread = \{.*\}$)?", re.MULTILINE)
Values = dict[str, float | list[float]]


def measured(entry: Entry, case: Case) -> Values:
    """Run the other program for a case; values by quantity, in the quantity's unit."""
    sys.path.insert(0, str(HERE))
    driver = importlib.import_module(Path(entry.program.again).stem)
    found: Values = driver.reference(entry, case)
    wanted = {key: found[key] for key in case.values}
    return wanted | {each: found[each] for key in wanted if (each := f"{SPREAD}{key}") in found}


def written(entry: Entry, found: list[Values]) -> str:
    """Return the text of `reference.toml` with these values, case by case; samples go to their files."""
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
    parser.add_argument("--write", action="store_true", help="put the values into reference.toml")
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
