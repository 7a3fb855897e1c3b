"""Loads schemes by their names on the command line: `mine.py:Mine`, `libmine.so:mine`.

Libraries have the C interface `becalm.h`.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import platform
import struct
import sys
import traceback
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from becalm._core import Scheme as CoreScheme
from becalm._core import loading
from becalm.base.errors import SchemeError
from becalm.base.mistakes import nearest, nearest_file
from becalm.schemes.base import Scheme
from becalm.schemes.declare import declare
from becalm.schemes.objects import seam_of

SUFFIXES = (".so", ".dylib", ".dll")
"""File extensions of libraries."""
_MOST = 1000
"""Maximum number of schemes in a library, more than in any real one."""
_WIDE = 2
"""The class of ELF files whose addresses have 64 bits."""
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le"}
"""Machine numbers in the header of an ELF file, from the System V ABI."""


def _library(path: Path) -> list[CoreScheme]:
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


def _content(path: Path) -> bytes:
    """Return the bytes of a file."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        new = f"`becalm new-scheme {path}` writes one"
        step = new if path.suffix == ".py" else "valid: FILE:NAME, such as mine.py:Mine"
        raise SchemeError(f"{path}: no such file{nearest_file(path)}; {step}") from error
    except OSError as error:
        raise SchemeError(f"{path}: {error.strerror or error}") from error


def _read(path: Path) -> bytes:
    """Return the bytes of a library for this machine."""
    content = _content(path)
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


class Provided(NamedTuple):
    """A loaded scheme, with a reference by which another process can load it."""

    core: CoreScheme
    reference: str | None
    """FILE:NAME; None for a class that is not in a file."""

    def __reduce__(self) -> tuple[object, ...]:
        if self.reference is None:
            problem = "is not in a file, so other processes cannot load it; use threads"
            raise SchemeError(f"scheme `{self.core.name}`: {problem}")
        return _again, (self.reference, self.core.sha256)


def _again(reference: str, sha256: str) -> Provided:
    """Load a scheme from another process again in this process."""
    found = load(reference)
    if found.core.sha256 != sha256:
        raise SchemeError(f"{reference}: has changed since the runs started")
    return found


def provide(schemes: Iterable[type[Scheme] | Provided | str]) -> tuple[Provided, ...]:
    """Return schemes for a scenario, given as classes or by their names on the command line.

    Raises:
        SchemeError: a scheme cannot be loaded.

    """
    return tuple(_provided(each) for each in schemes)


def _provided(scheme: type[Scheme] | Provided | str) -> Provided:
    if isinstance(scheme, Provided):
        return scheme
    if isinstance(scheme, str):
        return load(scheme)
    if not (isinstance(scheme, type) and issubclass(scheme, Scheme) and scheme is not Scheme):
        problem = "must be a class derived from becalm.Response, becalm.Marker or becalm.Echo, or FILE:NAME"
        raise SchemeError(f"{scheme!r}: {problem}")
    return _of_class(scheme)


_DECLARED: dict[type[Scheme], Provided] = {}
"""Cache of declared classes, since Numba needs seconds for each."""


def _of_class(cls: type[Scheme], origin: str | None = None) -> Provided:
    if cls in _DECLARED:
        return _DECLARED[cls]
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    reference = (
        f"{Path(file).resolve()}:{cls.__name__}"
        if file and getattr(module, cls.__name__, None) is cls
        else None
    )
    _DECLARED[cls] = Provided(declare(cls, origin), reference)
    return _DECLARED[cls]


def load(reference: str, seam: str | None = None) -> Provided:
    """Load a scheme from FILE:NAME, or from FILE if it has only one for the seam.

    Raises:
        SchemeError: the file or scheme does not exist, belongs to another seam, or its code fails.

    """
    path, name = _split(reference)
    if path.suffix in SUFFIXES:
        known = {core.name: Provided(core, f"{path.resolve()}:{core.name}") for core in _library(path)}
        return _pick(known, name, path, seam)
    module = _module(path)
    classes = {
        own.__name__: own
        for own in vars(module).values()
        if isinstance(own, type) and issubclass(own, Scheme) and own.__module__ == module.__name__
    }
    if name is None and seam is not None:
        classes = {key: own for key, own in classes.items() if seam_of(own) == seam}
    if name is None and len(classes) == 1:
        name = next(iter(classes))
    if name is None or name not in classes:
        raise SchemeError(_not_there(path, name, list(classes)))
    found = _of_class(classes[name], f"{path.name}:{name}")
    return _pick({name: found}, name, path, seam)


def chosen(data: dict[str, Any], own: Iterable[Provided]) -> dict[str, Any] | None:
    """Return a scenario changed to use schemes that it does not name yet; None if it names all.

    Raises:
        SchemeError: two schemes are for the same table.

    """
    places: dict[str, list[str]] = {}
    for scheme in own:
        if scheme.core.name not in _named(data, scheme.core.seam):
            places.setdefault(scheme.core.seam, []).append(scheme.core.name)
    for seam, names in places.items():
        if len(names) > 1:
            problem = f"several are given, and [{seam}] of the scenario names none of: {', '.join(names)}"
            raise SchemeError(f"--{seam}: {problem}")
    return (
        {**data, **{seam: {"external": {"name": names[0]}} for seam, names in places.items()}}
        if places
        else None
    )


def _named(data: dict[str, Any], seam: str) -> set[str]:
    """Return the names of a scenario's user-defined schemes at a seam."""
    tables = [data, *(each for key in ("flows", "jobs") for each in data.get(key, ()) if seam == "response")]
    found = (each.get(seam) for each in tables if isinstance(each, dict))
    external = (each.get("external") for each in found if isinstance(each, dict))
    return {str(each.get("name")) for each in external if isinstance(each, dict)}


def is_code(reference: str) -> bool:
    """Return whether a text names a scheme as FILE or FILE:NAME, judging by the file extension."""
    return _split(reference)[0].suffix in (".py", *SUFFIXES)


def _pick(known: dict[str, Provided], name: str | None, path: Path, seam: str | None) -> Provided:
    if name is None and seam is not None:
        known = {key: own for key, own in known.items() if own.core.seam == seam}
    if name is None and len(known) == 1:
        name = next(iter(known))
    if name is None or name not in known:
        raise SchemeError(_not_there(path, name, list(known)))
    found = known[name]
    if seam is not None and found.core.seam != seam:
        raise SchemeError(f"--{seam} {path}:{name}: is not a {seam} scheme; use --{found.core.seam}")
    return found


def _not_there(path: Path, name: str | None, known: list[str]) -> str:
    if not known:
        which = "" if name is None else f" `{name}`"
        return f"{path}: has no scheme{which}; `becalm new-scheme FILE` writes one"
    names = ", ".join(known)
    if name is None:
        return f"{path}: which scheme? Write {path}:NAME; it has: {names}"
    return f"{path}: has no scheme `{name}`{nearest(name, known)}; valid: {names}"


def _split(reference: str) -> tuple[Path, str | None]:
    file, colon, name = reference.rpartition(":")
    if not colon or Path(reference).is_file():
        return Path(reference), None
    return Path(file), name or None


_MODULES: dict[Path, tuple[bytes, ModuleType]] = {}
"""Cache of executed files with their content."""


class _Loader(SourceFileLoader):
    """Compiles the content of a file that has been hashed.

    Python would take the bytecode of an earlier content of the same length and second.
    """

    def __init__(self, name: str, path: str, content: bytes) -> None:
        super().__init__(name, path)
        self.content = content

    def get_code(self, fullname: str) -> CodeType:
        """Return the compiled content."""
        return self.source_to_code(self.content, self.get_filename(fullname))


def _module(path: Path) -> ModuleType:
    """Run a Python file."""
    content = _content(path)
    place = Path(os.path.realpath(path))
    if place in _MODULES and _MODULES[place][0] == content:
        return _MODULES[place][1]
    if path.suffix != ".py":
        raise SchemeError(f"{path}: must be a Python file (.py) or a library ({', '.join(SUFFIXES)})")
    name = f"becalm_scheme_{path.stem}_{abs(hash(place)):x}"
    loader = _Loader(name, str(place), content)
    spec = ModuleSpec(name, loader, origin=str(place))
    spec.has_location = True
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(place.parent))
    try:
        loader.exec_module(module)
    except Exception as error:
        sys.modules.pop(name, None)
        raise SchemeError(f"{path}{_line(error, place)}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(place.parent))
    _MODULES[place] = (content, module)
    return module


def _line(error: BaseException, place: Path) -> str:
    if isinstance(error, SyntaxError):
        return f":{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(place)]
    return f":{frames[-1].lineno}" if frames else ""
