"""Folders and files that becalm writes: complete or absent, and never replaced without the user's request.

A process reserves a name before its work starts. It locks `.lock.NAME` during its lifetime, and writes to
`.partial.NAME`, which it renames at the end. The next process that reserves the name removes any such files
of a killed process. On a file system without locks, `.held.NAME` exists during that time instead. During a
replacement, the old folder is named `.old.NAME`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm.base.disk import REPLACE, cannot, check_room, sync
from becalm.base.errors import BecalmError, ResultsError
from becalm.base.parallel import NO_LOCKS, has_locks, run_all

if TYPE_CHECKING:
    from filelock import BaseFileLock

Fill = Callable[[Path, Callable[[], None]], None]
"""Writes files to an empty folder. It often calls its second argument, which raises to stop the work."""

_TRIES = 20
"""Attempts to reserve a name in a folder that other processes create and remove at the same time."""


class Taken(ResultsError):
    """The name already exists, or another process is about to write it."""


@dataclass(frozen=True)
class Kind:
    """A kind of folder."""

    index: str
    """Name of the JSON file that identifies a folder of this kind, with becalm's version as `becalm`."""
    name: str
    """Name in messages, with an article."""
    files: Callable[[dict[str, Any]], set[str]]
    """Names of all other files, as a function of the index's content."""

    def check_target(self, folder: Path, *, overwrite: bool) -> None:
        """Check that a folder may be written here.

        Raises:
            Taken: the name exists and `overwrite` is not set.
            ResultsError: the existing folder contains files that becalm did not write.

        """
        if not os.path.lexists(folder):
            return
        if not overwrite:
            raise Taken(f"{folder}: already exists; choose another folder, or {REPLACE}")
        foreign = self._foreign(folder)
        if foreign:
            raise ResultsError(f"{folder}: {foreign}; not overwritten")

    def _foreign(self, folder: Path) -> str:
        """Return the reason why becalm must not remove a folder; empty if it may."""
        if folder.is_symlink():
            return "is a symbolic link"
        index = folder / self.index
        if index.is_symlink() or not index.is_file():
            return f"is not {self.name}"
        try:
            content = json.loads(index.read_bytes())
            own = {self.index, *self.files(content)} if "becalm" in content else set()
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            own = set()
        if not own:
            return f"is not {self.name}: becalm did not write {self.index}"
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name not in own or not entry.is_file(follow_symlinks=False):
                return f"contains {entry.name}, which becalm did not write"
        return ""

    @contextlib.contextmanager
    def reserve(self, folder: str | PathLike[str], *, overwrite: bool = False) -> Iterator[Reservation]:
        """Reserve a folder's name, and check that it can be written.

        Raises:
            Taken: the name exists and `overwrite` is not set, or another process reserved it.
            ResultsError: the folder cannot be written, or contains files that becalm did not write.

        """
        folder = Path(folder)
        self.check_target(folder, overwrite=overwrite)
        with _reserved(folder) as partial:
            self.check_target(folder, overwrite=overwrite)
            with _written(folder):
                partial.mkdir()
                check_room(partial / "room")
            yield Reservation(folder, partial, overwrite)

    @contextlib.contextmanager
    def reserve_free(self, folder: Path) -> Iterator[Reservation]:
        """Reserve the folder, or the first free name of `folder-2`, `folder-3` ..."""
        with contextlib.ExitStack() as stack:
            for name in _numbered(folder, ""):
                with contextlib.suppress(Taken):
                    found = stack.enter_context(self.reserve(name))
                    break
            yield found

    def write(self, folder: str | PathLike[str], fill: Fill, *, overwrite: bool = False) -> Path:
        """Reserve a folder and write it at once.

        Raises:
            Taken: the name exists and `overwrite` is not set, or another process reserved it.
            ResultsError: the folder cannot be written, or contains files that becalm did not write.

        """
        with self.reserve(folder, overwrite=overwrite) as place:
            return place.write(fill)


@dataclass(frozen=True)
class Reservation:
    """The name of a folder that no other process of becalm writes."""

    folder: Path
    """The folder."""
    _partial: Path
    _overwrite: bool

    def write(self, fill: Fill) -> Path:
        """Write the folder: `fill` writes files to an empty folder, which is renamed at the end.

        A separate thread writes and the caller's thread waits, so that Ctrl-C takes effect at once.

        Raises:
            ResultsError: the folder cannot be written, or another process has created a folder of this name.

        """

        def work(_: int, cancel: Any) -> None:  # noqa: ANN401
            fill(self._partial, cancel.check)
            for file in self._partial.iterdir():
                cancel.check()
                sync(file)
            sync(self._partial)

        with _written(self.folder):
            run_all(work, 1, 1)
            if os.path.lexists(self.folder):
                if not self._overwrite:
                    raise Taken(
                        f"{self.folder}: was created by another process; the results do not replace it"
                    )
                self.folder.rename(_beside(self.folder, "old"))
            self._partial.rename(self.folder)
            sync(_place(self.folder).parent)
        return self.folder


@dataclass(frozen=True)
class FileKind:
    """A kind of file that becalm recognizes, so that it replaces no other file."""

    suffixes: tuple[str, ...]
    """Endings of its names."""
    name: str
    """Name in messages, with an article."""
    mark: bytes
    """Bytes that every file of this kind contains."""

    def check_target(self, file: Path) -> None:
        """Check that a file of this kind may be written here.

        Raises:
            ResultsError: the name has another ending, or the existing file is of another kind.

        """
        if file.suffix.lower() not in self.suffixes:
            raise ResultsError(f"{file}: must end in {self.suffixes[0]}, because it will be {self.name}")
        if file.is_file() and self.mark not in file.read_bytes():
            raise ResultsError(f"{file}: is not {self.name} of becalm; not overwritten; choose another name")


@contextlib.contextmanager
def new_file(file: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path for a new file, which is renamed to `file` at the end of the block.

    Raises:
        Taken: the name exists and `overwrite` is not set, or another process is about to write it.
        ResultsError: the file cannot be written.

    """
    with _reserved(file) as partial:
        check_new(file, overwrite=overwrite)
        with _written(file):
            yield partial
            sync(partial)
            if overwrite:
                partial.replace(file)
            else:
                _link(partial, file)


def write_new(file: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a new file, with the same exceptions as `new_file`."""
    with new_file(file, overwrite=overwrite) as partial:
        partial.write_text(text, encoding="utf-8")


def check_new(*files: Path | None, overwrite: bool = False) -> None:
    """Check before the work starts that files can be written, and that `overwrite` allows it.

    Raises:
        ResultsError: a file exists and `overwrite` is not set, its folder is missing, or two names are equal.

    """
    given = [file for file in files if file is not None]
    for place, file in enumerate(given):
        if file in given[:place]:
            raise ResultsError(f"{file}: given for two outputs; each needs its own file")
        if os.path.lexists(file) and not overwrite:
            raise Taken(f"{file}: already exists; choose another file, or {REPLACE}")
        if file.is_dir():
            raise ResultsError(f"{file}: is a folder; choose another file")
        if not file.parent.is_dir():
            raise ResultsError(f"{file}: no such folder: {file.parent}")


def check_writable(*files: Path | None, overwrite: bool = False) -> None:
    """Check that files can be written, as `check_new` does, by writing to their folders.

    Raises:
        ResultsError: a file cannot be written.

    """
    check_new(*files, overwrite=overwrite)
    for file in files:
        if file is not None:
            with reserve_file(file):
                pass


@contextlib.contextmanager
def reserve_file(file: Path) -> Iterator[None]:
    """Keep other processes of becalm from writing a file, and check that its folder can be written.

    Raises:
        Taken: another process is about to write the file.
        ResultsError: the file cannot be written.

    """
    with _reserved(file) as partial:
        with _written(file):
            check_room(partial)
        yield


def free_file(file: Path) -> Path:
    """Return the file, or the first free name of `file-2`, `file-3` ..."""
    return next(each for each in _numbered(file, file.suffix) if not os.path.lexists(each))


def _numbered(path: Path, suffix: str) -> Iterator[Path]:
    yield path
    stem = path.name.removesuffix(suffix)
    yield from (path.with_name(f"{stem}-{number}{suffix}") for number in itertools.count(2))


def _place(path: Path) -> Path:
    """Return the path with a file name, also for `.` and `..`."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow symbolic links


def _beside(path: Path, role: str) -> Path:
    place = _place(path)
    return place.with_name(f".{role}.{place.name}")


@contextlib.contextmanager
def _reserved(path: Path) -> Iterator[Path]:
    """Lock a name, remove the remains of a killed process, and yield the path to write to."""
    made = _parents_missing(path)
    try:
        lock = _lock(path)
        try:
            _clear(path)
            yield _beside(path, "partial")
        finally:
            try:
                with contextlib.suppress(OSError):
                    _clear(path)
            finally:
                _unlock(lock)
    finally:
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()


def _parents_missing(path: Path) -> list[Path]:
    """Return the missing parents, innermost first."""
    return list(itertools.takewhile(lambda parent: not parent.exists(), _place(path).parents))


def _lock(path: Path) -> BaseFileLock:
    from filelock import FileLock, Timeout

    file = _beside(path, "lock")
    for _ in range(_TRIES):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(file, blocking=False)
            lock.acquire()
        except Timeout:
            if file.exists():
                if not has_locks(file):
                    return _soft_lock(path)
                raise Taken(f"{path}: another becalm process is writing it; choose another name") from None
        except FileExistsError:
            wrong = next(parent for parent in file.parents if parent.exists())
            raise ResultsError(f"{path}: cannot be written: {wrong} is not a folder") from None
        except FileNotFoundError:
            # Another process has just failed and removed the parents that it had created.
            pass
        except OSError as error:
            if error.errno in NO_LOCKS:
                return _soft_lock(path)
            raise cannot(path, error) from error
        else:
            return lock
    raise ResultsError(f"{path}: cannot be written: no file can be created in {file.parent}")


def _soft_lock(path: Path) -> BaseFileLock:
    """Lock a name through the existence of a file, for file systems without locks."""
    from filelock import SoftFileLock, Timeout

    # Use another name, because another process may also have opened the lock file.
    _beside(path, "lock").unlink(missing_ok=True)
    lock = SoftFileLock(_beside(path, "held"), blocking=False)
    try:
        lock.acquire()
    except Timeout:
        why = "another becalm process is writing it, or was killed and left a file"
        raise Taken(f"{path}: {why}: in that case, remove {lock.lock_file}") from None
    return lock


def _unlock(lock: BaseFileLock) -> None:
    if os.name == "posix":
        # Remove the file before releasing the lock, because another process may lock it right after.
        Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()
    if os.name != "posix":
        with contextlib.suppress(OSError):
            Path(lock.lock_file).unlink()


def _clear(path: Path) -> None:
    """Remove half-written files, and restore a folder whose replacement failed."""
    old, partial = _beside(path, "old"), _beside(path, "partial")
    if os.path.lexists(old) and not os.path.lexists(path):
        old.rename(path)
    for each in (old, partial):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink(missing_ok=True)


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    """Turn system errors into messages about the user's path, except errors of other files."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BecalmError) or path.name not in str(error.filename or path):
            raise
        raise cannot(path, error) from error


def _link(partial: Path, file: Path) -> None:
    """Rename a file, unless the new name exists by now."""
    try:
        os.link(partial, file)
    except FileExistsError:
        raise Taken(f"{file}: was created by another process; choose another file") from None
    except OSError:
        # This disk has no hard links: create the name first, then fill the file.
        try:
            with file.open("xb"):
                pass
        except FileExistsError:
            raise Taken(f"{file}: was created by another process; choose another file") from None
        partial.replace(file)
