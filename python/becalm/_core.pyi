"""The compiled core."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Scenario",
    "__version__",
    "bytes",
    "catalogue",
    "compiler",
    "fabric",
    "json_schema",
    "layout",
    "model",
    "pack",
    "parse",
    "paths",
    "report",
    "run",
    "seconds",
    "trace",
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

class _Trace(TypedDict):
    fingerprint: int
    end: int
    tables: dict[str, list[tuple[str, str, Any]]]

@final
class Scenario:
    @property
    def resolved(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
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
def trace(
    scenario: Scenario,
    replication: int,
    flows: list[int] | None,
    links: list[int] | None,
    start: int,
    stop: int,
    most: int,
    progress: Callable[[float, float, int, int], object] | None = None,
) -> _Trace: ...
def report(
    scenario: Scenario,
    runs: Sequence[tuple[int, str, int, dict[str, list[tuple[str, str, Any]]]]],
    about: str,
    most_bytes: int = 0,
    all: bool = False,
) -> tuple[builtins.bytes, int, list[str]]: ...
def pack(header: str) -> builtins.bytes: ...
def fabric(scenario: Scenario) -> dict[str, list[tuple[str, str, Any]]]: ...
def layout(scenario: Scenario) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]: ...
def paths(scenario: Scenario) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
def catalogue() -> str: ...
def json_schema() -> str: ...
def seconds(text: str) -> float | None: ...
def bytes(text: str) -> float | None: ...
