"""Schemes of shared libraries, with the C interface `becalm.h`."""

from __future__ import annotations

import ctypes
import hashlib
import platform
import struct
from pathlib import Path

from becalm._core import Scheme as CoreScheme
from becalm.errors import SchemeError

SUFFIXES = (".so", ".dylib", ".dll")
"""File extensions of libraries."""
_MOST = 1000
"""Maximum number of schemes in a library, more than in any real one."""
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le"}
"""Machine numbers in the header of an ELF file, from the System V ABI."""


def schemes(path: Path) -> list[CoreScheme]:
    """Return all schemes of a library.

    Raises:
        SchemeError: the library cannot be loaded, or is not built for this version of becalm.

    """
    digest = hashlib.sha256(_read(path)).hexdigest()
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
    found = []
    for number in range(_MOST):
        address = declared(number)
        if not address:
            break
        try:
            found.append(CoreScheme(address, path.name, digest, library))
        except ValueError as error:
            raise SchemeError(str(error)) from error
    return found


def _read(path: Path) -> bytes:
    """Return the bytes of a library for this machine."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SchemeError(f"{path}: {error.strerror or error}") from error
    made_for = _machine(content)
    if made_for not in (None, platform.machine()):
        raise SchemeError(f"{path}: is built for {made_for}, but this machine is {platform.machine()}")
    return content


def _machine(content: bytes) -> str | None:
    """Return the machine that an ELF file is built for; None for other files."""
    if len(content) < 20 or content[:4] != b"\x7fELF":
        return None
    (number,) = struct.unpack_from("<H" if content[5] == 1 else ">H", content, 18)
    return _MACHINES.get(number, f"machine {number}")
