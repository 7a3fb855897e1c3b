"""The exceptions of becalm, which the compiled core also raises."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict


class Mistake(TypedDict):
    """One error in a scenario."""

    line: int | None
    """Line in the file, from 1; None if the error has no line."""
    key: str
    """Dotted path of the key, such as `response.lipd.rmin`."""
    value: str
    """The value in the file."""
    problem: str
    """The problem with the value."""
    valid: str
    """Valid values."""


class PointFailure(NamedTuple):
    """A failed point of a sweep."""

    changes: dict[str, Any]
    """Changed values, by dotted key."""
    replication: int
    """Number of the replication, starting at 0."""
    error: str
    """Why."""


class BecalmError(Exception):
    """Base class of all exceptions that becalm raises deliberately."""


class ScenarioError(BecalmError, ValueError):
    """A scenario has mistakes. The message lists them, one per line."""

    def __init__(self, message: str, file: str = "", mistakes: list[Mistake] | None = None) -> None:
        super().__init__(message.rstrip("\n"))
        self.file = file
        self.mistakes: list[Mistake] = mistakes or []


class FabricError(BecalmError, RuntimeError):
    """A run cannot continue: a route leads nowhere, a deadlock occurred, or a rule of the model is broken."""


class StoppedError(FabricError):
    """A run was stopped before its measured window began, so it has no results."""


class SchemeError(BecalmError, RuntimeError):
    """A user-defined scheme cannot be loaded, or failed in a run."""


class DeadlockError(FabricError):
    """Buffers wait for each other in a cycle."""

    def __init__(self, message: str, cycle: list[str] | None = None, stopped: int = 0) -> None:
        super().__init__(message)
        self.cycle: list[str] = cycle or []
        """The buffers of the cycle as `switch[port]`, with the first one repeated at the end."""
        self.stopped = stopped
        """Number of flows whose packets never arrive."""


class MemoryLimitError(BecalmError, MemoryError):
    """Runs would need more memory than they may use. Nothing was built or run."""

    def __init__(self, message: str, needed: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.needed = needed
        """Approximate number of bytes that the runs would need."""
        self.limit = limit
        """Number of bytes that the runs may use."""


class ResultsError(BecalmError, OSError):
    """A folder already exists, is not a results folder, or cannot be used."""


class StoreError(BecalmError, OSError):
    """A folder is not a store, a file in it is damaged, or a run has two different results."""


class DesignError(BecalmError, ValueError):
    """A response function cannot be used. The message shows the rate at which it fails."""

    def __init__(self, message: str, rate: float | None = None) -> None:
        super().__init__(message)
        self.rate = rate
        """The rate at which the function fails; None if the failure does not depend on a rate."""
