"""Values of OpenSM's configuration, read as OpenSM 3.3.23 reads them.

Every reader returns OpenSM's value of a text, or `REFUSED` if OpenSM keeps the earlier value. It reports
everything that an administrator would not expect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from becalm.manager import MAX_MULTIPLIER, MAX_SHIFT
from becalm.opensm.keys import KEYS, RANGES, WORDS

REFUSED: Final = object()
"""Marker for a value that OpenSM refuses."""

SERVICE_LEVELS = 16
LONGEST_TABLE = 128
"""Maximum number of entries of a table that OpenSM reads."""
MASK_DIGITS = 64

Tell = Callable[[str, str], None]
"""Receives OpenSM's treatment of a value, and the valid values."""

_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_LONGEST_NUMBER = 40
"""Maximum number of characters of a number, many more than fit into 64 bits."""


class Entry(NamedTuple):
    """An entry of a congestion control table: a delay of multiplier / 2^shift times a packet's own time."""

    shift: int
    multiplier: int

    @property
    def sent(self) -> Entry:
        """The entry that adapters receive: OpenSM packs both numbers into 16 bits unchecked."""
        bits = (self.shift << 14 | self.multiplier) & 0xFFFF
        return Entry(bits >> 14, bits & MAX_MULTIPLIER)

    @property
    def delay(self) -> float:
        """The delay in packet times that adapters apply."""
        shift, multiplier = self.sent
        return multiplier / (1 << shift)

    def __str__(self) -> str:
        return f"{self.shift}:{self.multiplier}"


def read(key: str, text: str, tell: Tell) -> Any:  # noqa: ANN401
    """Return OpenSM's value of a key; with a service level, the pair of both.

    Args:
        key: one that OpenSM knows.
        text: the value, without comment, blanks and quotes around it.
        tell: called for each finding.

    """
    kind = KEYS[key].kind
    if kind == "bool":
        return _boolean(text, tell)
    if kind == "word":
        return _word(key, text, tell)
    if kind == "mask":
        return _mask(text, tell)
    if kind == "entry":
        return _delay(text, tell)
    if kind == "table":
        return _table(text, tell)
    if kind.startswith("sl"):
        return _of_level(text, int(kind[2:]), tell)
    if kind.startswith("u"):
        return _unsigned(key, text, int(kind[1:]), tell)
    if kind.startswith("i"):
        return _signed(text, tell)
    return text


def _boolean(text: str, tell: Tell) -> bool:
    if text not in ("TRUE", "FALSE"):
        tell("reads everything except uppercase TRUE as FALSE", "TRUE or FALSE")
    return text == "TRUE"


def _word(key: str, text: str, tell: Tell) -> str:
    if text in WORDS[key]:
        return text
    tell(f"does not know this, and uses {KEYS[key].default}", ", ".join(WORDS[key]))
    return KEYS[key].default


def _unsigned(key: str, text: str, bits: int, tell: Tell) -> Any:  # noqa: ANN401
    largest = 2**bits - 1
    low, high, instead = RANGES.get(key, (0, largest, 0))
    valid = f"{low} to {high}" if high < 2**32 else f"a number of {bits} bits, such as 0x1"
    number = _number(text)
    if number is None:
        tell("accepts only whole numbers, and keeps the previous value", valid)
        return REFUSED
    if bits == 64 and -largest <= number < 0:
        tell(f"reads it as 0x{number & largest:016x}", valid)
        return number & largest
    if not 0 <= number <= largest:
        tell("rejects a number out of range, and keeps the previous value", valid)
        return REFUSED
    _tell_octal(text, number, tell)
    if not low <= number <= high:
        tell(f"uses {instead} instead", valid)
        return instead
    return number


def _signed(text: str, tell: Tell) -> int:
    found = _NUMBER.match(text)
    number = _leading(text)
    if found is None or found.end() != len(text):
        tell(f"reads it as {number}", "-1 to 255")
    elif not -1 <= number <= 255:
        tell("uses its default instead of a number out of range", "-1 to 255")
    return number


def _of_level(text: str, bits: int, tell: Tell) -> Any:  # noqa: ANN401
    valid = f"a service level, 0 to {SERVICE_LEVELS - 1}, and a value, 0 to {2**bits - 1}, such as `0 10`"
    first, _, rest = text.replace("\t", " ").partition(" ")
    if not rest.strip():
        tell("skips a line without a service level before the value", valid)
        return REFUSED
    level, number = _leading(first), _number(rest.strip())
    if not 0 <= level < SERVICE_LEVELS:
        tell("skips a line with this service level", valid)
        return REFUSED
    if _number(first) is None:
        tell(f"reads the service level as {level}", valid)
    if number is None or not 0 <= number < 2**bits:
        tell("rejects this value, and keeps the previous value", valid)
        return REFUSED
    _tell_octal(rest.strip(), number, tell)
    return level, number


def _mask(text: str, tell: Tell) -> Any:  # noqa: ANN401
    valid = f"0x and up to {MASK_DIGITS} hexadecimal digits, bit n for port n, such as 0x3FE for ports 1 to 9"
    prefixed = text[:2] in ("0x", "0X")
    digits = text[2:] if prefixed else text
    if not re.fullmatch("[0-9a-fA-F]+", digits):
        tell("rejects this as a mask, and keeps the previous value", valid)
        return REFUSED
    if not prefixed:
        tell(f"reads it as hexadecimal: 0x{digits}", valid)
    if len(digits) > MASK_DIGITS:
        digits = digits[:MASK_DIGITS]
        tell(f"uses only the first {MASK_DIGITS} digits, so every bit refers to a different port", valid)
    mask = int(digits, 16)
    if mask >> 255:
        tell("sends bit 255, which is not a port: it is reserved", "bits 0 to 254")
    return mask


def _delay(text: str, tell: Tell) -> Any:  # noqa: ANN401
    valid = "shift:multiplier, 0 to 3 and 0 to 16383, such as 0:4"
    if ":" not in text:
        tell("rejects this as a delay, and keeps the previous value", valid)
        return REFUSED
    entry = _entry(text)
    for problem in _odd(text, entry):
        tell(problem, valid)
    return entry


def _table(text: str, tell: Tell) -> Any:  # noqa: ANN401
    valid = "comma-separated entries shift:multiplier, 0 to 3 and 0 to 16383"
    if text in ("", "(null)"):
        return []
    items = [item for item in text.split(",") if item]
    strange = next((item for item in items if ":" not in item), None)
    if strange is not None:
        tell(f"rejects a table with `{strange[:20]}` in it, and keeps the previous value", valid)
        return REFUSED
    entries = [_entry(item) for item in items]
    problems = [
        f"{problem} (entry {place})"
        for place, (item, entry) in enumerate(zip(items, entries, strict=True))
        for problem in _odd(item, entry)
    ]
    for problem in problems[:3]:
        tell(problem, valid)
    if len(problems) > 3:
        tell(f"and {len(problems) - 3} more such entries", valid)
    if len(entries) > LONGEST_TABLE:
        left = len(entries) - LONGEST_TABLE
        tell(f"uses {LONGEST_TABLE} entries and ignores the other {left}", f"at most {LONGEST_TABLE} entries")
    return entries[:LONGEST_TABLE]


def _entry(text: str) -> Entry:
    shift, _, multiplier = text.partition(":")
    return Entry(_leading(shift) & 0xFF, _leading(multiplier) & 0xFFFF)


def _odd(text: str, entry: Entry) -> Iterator[str]:
    """Yield findings about the text of an entry."""
    shift, _, multiplier = text.partition(":")
    for part in (shift.strip(), multiplier.strip()):
        if _number(part) is None:
            yield f"reads `{part[:20]}` as {_leading(part)}"
    numbers = _leading(shift), _leading(multiplier)
    if not (0 <= numbers[0] <= MAX_SHIFT and 0 <= numbers[1] <= MAX_MULTIPLIER):
        yield f"sends {text.strip()[:20]} as {entry.sent}: a shift has 2 bits, a multiplier 14"


def _number(text: str) -> int | None:
    """Return a number in C notation: decimal, 0x or, after a 0, octal; None if the text is not a number."""
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    return _leading(text)


def _leading(text: str) -> int:
    """Return the number at the beginning of a text; 0 if there is none."""
    found = _NUMBER.match(text.strip()[:_LONGEST_NUMBER])
    if found is None:
        return 0
    digits = found[1].lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if found[0].startswith("-") else 1)


def _tell_octal(text: str, number: int, tell: Tell) -> None:
    if re.match(r"[+-]?0[0-9]", text):
        tell(f"reads a number that begins with 0 as octal: {number}", f"{number}, or 0x{number:X}")
