"""Almost valid files: seeds with some bytes, words and lines changed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

EDGES = (
    *(b"0", b"-1", b"1", b"2", b"255", b"256", b"65535", b"65536", b"4294967296", b"18446744073709551616"),
    *(b"1e308", b"1e999", b"-0.0", b"1e-320", b"nan", b"inf", b"true", b"null", b'""', b"[]", b"{}", b"[[]]"),
    *(b"0x", b"0xffffffffffffffffff", b"9" * 400, b"1" * 5000, b"[" * 2000, b"(" * 500, b"a" * 200_000),
    *(
        b"\0",
        b"\xff\xfe",
        b"\n",
        b"\r",
        b"\t",
        b" ",
        b'"',
        b"'",
        b"#",
        b"=",
        b"\x1b[2J",
        "\u202eü".encode(),
        b"..",
        b"-",
    ),
)
"""Edge cases for readers."""
_WORD = re.compile(rb'"[^"\n]*"|[A-Za-z0-9_.+-]+')
_PLACE = st.integers(0, 10**6)


def broken(seeds: Sequence[bytes], words: Sequence[bytes] = ()) -> st.SearchStrategy[bytes]:
    """Return a strategy for one of the seeds with up to eight changes."""
    put = st.sampled_from([*EDGES, *words])
    change = st.one_of(
        st.tuples(st.just("replace"), _PLACE, put),
        st.tuples(st.just("put"), _PLACE, put),
        st.tuples(st.just("byte"), _PLACE, st.binary(min_size=1, max_size=2)),
        st.tuples(st.just("cut"), _PLACE, st.integers(1, 200)),
        st.tuples(st.just("twice"), _PLACE, st.integers(1, 200)),
        st.tuples(st.just("line"), _PLACE, _PLACE),
        st.tuples(st.just("end"), _PLACE, st.just(0)),
    )
    return st.builds(_changed, st.sampled_from(list(seeds)), st.lists(change, max_size=8))


def _changed(seed: bytes, changes: list[tuple[str, int, bytes | int]]) -> bytes:
    for kind, place, what in changes:
        at = place % (len(seed) + 1)
        if isinstance(what, bytes):
            seed = _with(seed, kind, at, what)
        elif kind == "line":
            lines = seed.splitlines(keepends=True) or [b""]
            lines[place % len(lines)] = lines[what % len(lines)]
            seed = b"".join(lines)
        elif kind == "twice":
            seed = seed[: at + what] + seed[at:]
        else:
            seed = seed[:at] + (seed[at + what :] if kind == "cut" else b"")
    return seed


def _with(seed: bytes, kind: str, at: int, what: bytes) -> bytes:
    if kind == "byte":
        return seed[:at] + what + seed[at + len(what) :]
    words = [] if kind == "put" else list(_WORD.finditer(seed))
    if not words:
        return seed[:at] + what + seed[at:]
    word = words[at % len(words)]
    return seed[: word.start()] + what + seed[word.end() :]
