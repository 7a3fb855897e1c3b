"""Schemes of shared libraries, with the C interface `becalm.h`."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import platform
import struct
from pathlib import Path

from becalm._core import Scheme as CoreScheme
from becalm._core import loading
from becalm.errors import SchemeError

SUFFIXES = (".so", ".dylib", ".dll")
"""File extensions of libraries."""
_MOST = 1000
"""Maximum number of schemes in a library, more than in any real one."""
_WIDE = 2
"""The class of ELF files whose addresses have 64 bits."""
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le"}
"""Machine numbers in the header of an ELF file, from the System V ABI."""


def schemes(path: Path) -> list[CoreScheme]:
    """Return all schemes of a library.

    Raises:
        SchemeError: the library cannot be loaded, or is not built for this version of becalm.

    """
    digest = hashlib.sha256(_read(path)).hexdigest()
    return loading(path.name, lambda: _loaded(path, digest))


def _loaded(path: Path, digest: str) -> list[CoreScheme]:
    try:
        # The library stays loaded until the program ends.
        library = ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise SchemeError(f"{path}: cannot be loaded: {error}") from error
    try:
        declared = library.becalm_scheme_at
    except AttributeError as error:
        problem = (
            "does not export `becalm_scheme_at`; see becalm.h, which `becalm new-scheme --header` prints"
        )
        raise SchemeError(f"{path}: {problem}") from error
    declared.argtypes, declared.restype = [ctypes.c_uint32], ctypes.c_void_p
    found: dict[str, CoreScheme] = {}
    for number in itertools.count():
        address = declared(number)
        if not address:
            break
        try:
            scheme = CoreScheme(address, path.name, digest, library)
        except ValueError as error:
            raise SchemeError(str(error)) from error
        if number == _MOST or scheme.name in found:
            problem = (
                f"scheme {number} is `{scheme.name}` again"
                if scheme.name in found
                else f"more than {_MOST} schemes"
            )
            raise SchemeError(f"{path}: {problem}; `becalm_scheme_at` must return NULL after the last scheme")
        found[scheme.name] = scheme
    return list(found.values())


def _read(path: Path) -> bytes:
    """Return the bytes of a library for this machine."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SchemeError(f"{path}: {error.strerror or error}") from error
    made_for = _machine(content)
    if made_for not in (None, platform.machine()):
        raise SchemeError(f"{path}: is built for {made_for}, but this machine is {platform.machine()}")
    if made_for is not None and _end(content) > len(content):
        # The system would map the missing part, and the first access to it would end the process.
        raise SchemeError(f"{path}: is truncated: it has {len(content)} of at least {_end(content)} bytes")
    return content


def _machine(content: bytes) -> str | None:
    """Return the machine that an ELF file is built for; None for other files."""
    if len(content) < 20 or content[:4] != b"\x7fELF":
        return None
    (number,) = struct.unpack_from("<H" if content[5] == 1 else ">H", content, 18)
    return _MACHINES.get(number, f"machine {number}")


def _end(content: bytes) -> int:
    """Return the number of bytes that the segments of an ELF file need."""
    wide, order = content[4] == _WIDE, "<" if content[5] == 1 else ">"
    header, size, parts = (64, 56, "8xQ16xQ") if wide else (52, 32, "4xI8xI")
    if len(content) < header:
        return header
    (start,) = struct.unpack_from(order + ("Q" if wide else "I"), content, 32 if wide else 28)
    (count,) = struct.unpack_from(order + "H", content, 56 if wide else 44)
    if start + count * size > len(content):
        return int(start + count * size)
    segments = (struct.unpack_from(order + parts, content, start + number * size) for number in range(count))
    return max((offset + length for offset, length in segments), default=header)
