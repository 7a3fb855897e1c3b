"""The compiled core."""

from collections.abc import Callable
from typing import Any, TypedDict, final

__all__ = [
    "Scenario",
    "__version__",
    "bytes",
    "catalogue",
    "compiler",
    "json_schema",
    "model",
    "parse",
    "run",
    "seconds",
]

__version__: str
model: str
compiler: str

class _Outcome(TypedDict):
    fingerprint: int
    events: int
    packet_hops: int
    end: float
    guards: list[str]
    tables: dict[str, list[tuple[str, str, Any]]]

@final
class Scenario:
    @property
    def resolved(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def memory_estimate(self) -> dict[str, int]: ...
    @property
    def replications(self) -> int: ...
    def routing(self) -> dict[str, list[tuple[str, str, Any]]]: ...
    def useful_threads(self, cores: int) -> int: ...
    def allowed_threads(self, asked: int) -> int: ...

def parse(text: str, file: str, *, lines: bool = True, origins: list[tuple[str, str]] = ...) -> Scenario: ...
def run(
    scenario: Scenario,
    replication: int = 0,
    threads: int = 1,
    progress: Callable[[float, float, int, int], object] | None = None,
) -> _Outcome: ...
def catalogue() -> str: ...
def json_schema() -> str: ...
def seconds(text: str) -> float | None: ...
def bytes(text: str) -> float | None: ...
