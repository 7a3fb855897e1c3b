"""The exceptions of becalm; the compiled core raises them, too."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict


class Mistake(TypedDict):
    """One error in a scenario."""

    line: int | None
    """Line in the file, from 1; None if no line is to blame."""
    key: str
    """Dotted path of the key, such as `response.lipd.rmin`."""
    value: str
    """The value in the file."""
    problem: str
    """What is wrong with it."""
    valid: str
    """Valid values."""


class PointFailure(NamedTuple):
    """A point of a sweep that could not continue."""

    changes: dict[str, Any]
    """Changed values, by dotted key."""
    replication: int
    """Number of the replication, from 0."""
    error: str
    """Why."""


class BecalmError(Exception):
    """Base of everything that becalm raises on purpose."""


class ScenarioError(BecalmError, ValueError):
    """A scenario with mistakes; the message has one line for each."""

    def __init__(self, message: str, file: str = "", mistakes: list[Mistake] | None = None) -> None:
        super().__init__(message.rstrip("\n"))
        self.file = file
        self.mistakes: list[Mistake] = mistakes or []


class FabricError(BecalmError, RuntimeError):
    """A run that cannot continue: a route that leads nowhere, a deadlock, a rule of the model broken."""


class SchemeError(BecalmError, RuntimeError):
    """A user-defined scheme that cannot be loaded, or that failed in a run."""


class DeadlockError(FabricError):
    """Buffers that wait for each other in a cycle."""

    def __init__(self, message: str, cycle: list[str] | None = None) -> None:
        super().__init__(message)
        self.cycle: list[str] = cycle or []
        """The buffers of the cycle as `switch[port]`, the first one again at the end."""


class MemoryLimitError(BecalmError, MemoryError):
    """Runs that would need more memory than they may use; nothing was built or run."""

    def __init__(self, message: str, needed: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.needed = needed
        """Approximate number of bytes that they would need."""
        self.limit = limit
        """Number of bytes that they may use."""


class ResultsError(BecalmError, OSError):
    """A folder that already exists, or is not a results folder."""


class StoreError(BecalmError, OSError):
    """A folder that is not a store, a damaged file in a store, or two different results of the same run."""


class DesignError(BecalmError, ValueError):
    """A response function that cannot be used; the message shows the rate at which it fails."""

    def __init__(self, message: str, rate: float | None = None) -> None:
        super().__init__(message)
        self.rate = rate
        """The rate at which it fails; None if no rate is to blame."""
