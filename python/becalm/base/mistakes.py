"""Values in messages, and errors in input files, which are collected and reported together."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

from becalm.base.errors import Mistake, ScenarioError

MOST_TOLD = 50
"""Maximum number of errors in a message. Two files that do not match can have thousands."""
MOST_ALIKE = 10
"""Maximum number of errors in a message that have the same problem, except for names and numbers in it."""

_NAMED = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|\b\w*\d\w*\b")
"""Names and numbers in a problem."""

NO_TEXT = "not a text file in UTF-8"
NO_TOML = "not valid TOML"
"""Problems that the core and this package have with files of other kinds."""
SHOWN = 60
"""Maximum number of characters of a value in a message."""


def short(text: str) -> str:
    """Return a text for a message, on one line and truncated if long."""
    text = text.replace("\n", "\\n")
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def shown(value: object) -> str:
    """Return a value as written on a command line."""
    return printable(short(value if isinstance(value, str) else json.dumps(value, default=str)))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `, did you mean ...?` with the most similar of the known names; empty if none is similar."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean `{found[0]}`?" if found else ""


def nearest_file(path: Path) -> str:
    """Return what the user of a missing file may have meant: a similar name, or what there is.

    Names are compared without their extensions, which would make all of one kind similar.
    """
    folder = path.parent
    if not folder.is_dir():
        return f"; there is no folder `{folder}`"
    names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    stems = difflib.get_close_matches(path.stem, {Path(name).stem for name in names}, n=1)
    similar = [name for name in names if Path(name).stem in stems]
    wanted = path.name if path.suffix else f"{path.name}.toml"
    if near := difflib.get_close_matches(wanted, similar, n=1, cutoff=0):
        return f", did you mean `{folder / near[0]}`?"
    alike = [f"`{folder / name}`" for name in names if path.suffix and Path(name).suffix == path.suffix]
    more = ", ..." if len(alike) > _FILES_TOLD else ""
    return f"; the folder has {', '.join(alike[:_FILES_TOLD])}{more}" if alike else ""


_FILES_TOLD = 5
"""Maximum number of files in a message about a missing one."""
_OTHERS = {
    "scene": ("becalm compare --scene", {"compare"}),
    "sweep": ("becalm sweep", {"grid", "scenario"}),
    "tuning": ("becalm tune", {"cases", "hot_spot", "goals"}),
}
"""Other files of becalm: the command that runs them, and keys that only they have."""


def kind_of(keys: Collection[str], wanted: str = "scenario") -> tuple[str, str] | None:
    """Return the kind of a file of becalm other than the wanted one, by its keys, and the command for it."""
    for what, (command, own) in _OTHERS.items():
        if what != wanted and not own.isdisjoint(keys):
            return what, command
    return None


def other_kind(file: str, keys: Collection[str], wanted: str = "scenario") -> str | None:
    """Return in words which other kind of file a file is, by its keys; None if it may be the wanted one."""
    found = kind_of(keys, wanted)
    if found is None:
        return None
    why = "has [compare], so it " if found[0] == "scene" else ""
    return f"{why}is a {found[0]}, not a {wanted}: `{found[1]} {shlex.quote(file)}` runs it"


def printable(text: str) -> str:
    """Return a text with escaped control characters, so that an input file cannot control the terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )


def reason(error: Exception) -> str:
    """Return the reason in plain words why Python could not read a value."""
    if isinstance(error, RecursionError | MemoryError):
        return "is nested too deeply"
    if isinstance(error, OverflowError) or "integer string conversion" in str(error):
        return "has a number with too many digits"
    if isinstance(error, UnicodeError):
        return "is not UTF-8 text"
    return str(error)


class Mistakes:
    """The errors in one file.

    Args:
        file: the file's name in messages.
        lines: the line number of each key of a TOML file, by the key's path.

    """

    def __init__(self, file: str | PathLike[str], lines: Mapping[str, int] | None = None) -> None:
        self.file = str(file)
        self.list: list[Mistake] = []
        self._lines = lines

    def add(self, line: int | None, key: str, value: str, problem: str, valid: str = "") -> None:
        """Add an error: its line, the text there, the problem, and valid values.

        For a TOML file, the line may be None. The error then refers to the key's line, or to the line of the
        table that should contain the key.
        """
        if line is None and self._lines:
            line = next((self._lines[each] for each in _tables(key) if each in self._lines), None)
        self.list.append(Mistake(line=line, key=key, value=value, problem=problem, valid=valid))

    def check(self) -> None:
        """Raise the errors, if any.

        Raises:
            ScenarioError: there are errors; the message lists them in the order of their lines.

        """
        if self.list:
            raise self._error()

    def first(self) -> str:
        """Return the first error as one line. There must be one."""
        return self._told(self.list[0])

    def _error(self) -> ScenarioError:
        self.list.sort(key=lambda mistake: mistake["line"] or 0)
        alike: Counter[str] = Counter()
        told = []
        for each in self.list:
            alike[cause := _NAMED.sub("", each["problem"])] += 1
            if alike[cause] <= MOST_ALIKE:
                told.append(each)
        lines = [self._told(each) for each in told[:MOST_TOLD]]
        if len(self.list) > len(lines):
            lines.append(f"{self.file}: and {len(self.list) - len(lines)} more")
        return ScenarioError("\n".join(lines), self.file, self.list)

    def _told(self, mistake: Mistake) -> str:
        where = self.file if mistake["line"] is None else f"{self.file}:{mistake['line']}"
        between = " " if self._lines is None else " = "
        what = between.join(map(short, filter(None, (mistake["key"], mistake["value"]))))
        valid = f"; valid: {mistake['valid']}" if mistake["valid"] else ""
        return f"{where}: {f'{what}: ' if what else ''}{mistake['problem']}{valid}"


def _tables(key: str) -> Iterator[str]:
    """Yield the path of a key and its enclosing tables: `case[0].name`, `case[0]`, `case`."""
    yield key
    while cut := max(key.rfind("."), key.rfind("[")) + 1:
        key = key[: cut - 1]
        yield key


def read_lines(path: str | PathLike[str], longest: float = math.inf) -> Iterator[str]:
    """Yield the lines of a file without line ends. The file need not fit into memory.

    Args:
        path: the file, in UTF-8, with or without a byte order mark.
        longest: largest number of characters of a line, for readers that search lines by patterns.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is not a text file, or a line is too long.

    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8" if number > 1 else "utf-8-sig").rstrip("\r\n")
            except UnicodeDecodeError as error:
                problem = f"not text in UTF-8 (byte {error.start + 1} of the line)"
                raise ScenarioError(f"{path}:{number}: {problem}", str(path)) from error
            if len(text) > longest:
                problem = f"a line of {len(text)} characters; must be at most {longest:g}"
                raise ScenarioError(f"{path}:{number}: {problem}", str(path))
            yield text


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file. For a results folder, return the scenario of its run, including changes.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is not a text file.

    """
    manifest = Path(path) / "manifest.json"
    if manifest.is_file():
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            return str(json.loads(manifest.read_bytes())["scenario"]["toml"])
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: {NO_TEXT} (byte {error.start})", str(path)) from error
    except ValueError as error:
        name = printable(str(path))
        raise ScenarioError(f"{name}: not a valid file name: it contains a zero byte", name) from error
