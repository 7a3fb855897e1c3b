"""Tables as Parquet files. Damaged files are refused with one message."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, TYPE_CHECKING

from becalm.base.columns import with_names
from becalm.base.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def read_table(file: Path, digest: str, rows: int, columns: Collection[str]) -> pl.DataFrame:
    """Read a table of a manifest. Check its digest first, because some damage makes Polars end the process.

    Raises:
        ResultsError: the file is missing or damaged, or has other rows or columns.

    """
    if file.is_symlink():
        raise ResultsError(f"{file}: is a symbolic link; tables must be regular files in the folder")
    try:
        if digest_of(file) != digest:
            raise ResultsError(f"{file}: damaged: its content has changed since it was written")
    except FileNotFoundError as error:
        raise ResultsError(f"{file}: is missing") from error
    table = read_unlisted(file)
    if problem := mismatch(table, rows, columns):
        raise ResultsError(f"{file}: damaged: {problem}")
    return table


def read_unlisted(file: Path) -> pl.DataFrame:
    """Read a table that no manifest lists.

    Raises:
        ResultsError: the file is missing or damaged.

    """
    import polars as pl

    try:
        # Pass an open file, because Polars interprets names as patterns and supports only UTF-8 names.
        with file.open("rb") as content:
            return pl.read_parquet(content)
    except FileNotFoundError as error:
        raise ResultsError(f"{file}: is missing") from error
    # Some damage crashes the reader of Polars itself.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ResultsError(f"{file}: damaged: {error}") from error


def mismatch(table: pl.DataFrame, rows: int, columns: Collection[str]) -> str:
    """Return how a table differs from its entry in the manifest; empty if it does not."""
    if table.height != rows:
        return f"its number of rows is not that in the manifest, {rows}"
    if odd := set(table.columns) ^ set(columns):
        return f"its columns and the units in the manifest differ: {', '.join(sorted(odd))}"
    return ""


class _Writer:
    """A file object that can stop writing on request and that keeps the original write error.

    Polars writes from its own threads, which receive no Ctrl-C, and replaces every error with its own.
    """

    def __init__(self, file: IO[bytes], check: Callable[[], None]) -> None:
        self.file = file
        self.check = check
        self.error: Exception | None = None

    def write(self, data: bytes) -> int:
        try:
            self.check()
            return self.file.write(data)
        except Exception as error:
            self.error = error
            raise

    def flush(self) -> None:
        self.file.flush()


def write_table(
    table: pl.DataFrame, file: IO[bytes], metadata: dict[str, str], check: Callable[[], None]
) -> None:
    """Write a table; columns of the type Enum are written as names.

    `check` is called often, and raises an exception to stop the work.
    """
    import polars as pl

    writer = _Writer(file, check)
    try:
        # The names of a large table take much memory, and are made while they are written.
        with_names(table.lazy()).sink_parquet(writer, metadata=metadata)  # type: ignore[call-overload]
    except pl.exceptions.PolarsError:
        if writer.error is None:
            raise
        raise writer.error from None
