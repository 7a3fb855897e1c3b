"""Tables as Parquet files that are either intact or refused with one message."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from becalm.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def read_table(file: Path, digest: str | None) -> pl.DataFrame:
    """Read a table. Its digest is checked first: some damage makes Polars end the whole process."""
    import polars as pl

    if file.is_symlink():
        raise ResultsError(f"{file}: is a symbolic link; the tables are files of the folder itself")
    try:
        # An open file: Polars takes names as patterns, and only those in UTF-8.
        if digest is not None and digest_of(file) != digest:
            raise ResultsError(f"{file}: damaged: it has changed since it was written")
        with file.open("rb") as content:
            return pl.read_parquet(content)
    except FileNotFoundError as error:
        raise ResultsError(f"{file}: is missing") from error
    # Some damage crashes the reader of Polars itself.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ResultsError(f"{file}: damaged: {error}") from error


class _Writer:
    """A file that can be told to stop, and that remembers why it could not be written.

    Polars writes from its own threads, which receive no Ctrl-C, and turns every error into one of its own.
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
    """Write a table; `check` is called often, and raises to stop the work."""
    import polars as pl

    writer = _Writer(file, check)
    try:
        table.write_parquet(writer, metadata=metadata)  # type: ignore[arg-type]
    except pl.exceptions.PolarsError:
        if writer.error is None:
            raise
        raise writer.error from None
