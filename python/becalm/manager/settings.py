"""Output of guidelines: settings with reasons, and concerns about settings that cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from becalm._core import MAX_MULTIPLIER, MAX_SHIFT, TIMER_UNIT, cct_entry
from becalm.base.errors import DesignError

if TYPE_CHECKING:
    from becalm.network import Network

__all__ = ["MAX_MULTIPLIER", "MAX_SHIFT", "TIMER_UNIT"]

CREDIT_BYTES = 64
"""Bytes per unit of Packet_Size."""
LONGEST_TABLE = 16384
"""Maximum number of entries of a congestion control table."""
ENTRIES = 128
"""Number of table entries in both guidelines, unless more are needed."""
DEFAULT = "becalm"
"""The default guideline, with the smallest loss on cases that no search used (docs/advice.md)."""
AS_IT_IS = "none"
"""Name for the scenario's own parameters instead of a guideline's."""
SW_TH = 0.9
"""`sw_th` of pfister2005, as a share of an input buffer."""
TIMER = 10
"""`rec_time` of pfister2005, in units of CCTI_Timer."""


def nearest(gap: float) -> tuple[int, int]:
    """Return the table entry nearest to a delay in packet times: the smallest shift, and its multiplier.

    Raises:
        DesignError: a delay that no entry expresses.

    """
    entry = cct_entry(gap)
    if entry is None:
        raise DesignError(f"a delay of {gap:.6g} packet times: an entry holds at most {MAX_MULTIPLIER}")
    return entry


class Choice(NamedTuple):
    """A table that a scenario chooses, such as `marking.ibta`."""

    name: str
    keys: dict[str, Any]

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> Choice:
        """Return the only one of some tables."""
        ((name, keys),) = tables.items()
        return cls(name, keys or {})

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the keys if the choice has this name, or else None."""
        return self.keys if self.name == name else None


class Fabric(Protocol):
    """The parts of a scenario that a guideline reads and changes."""

    @property
    def marking(self) -> Choice:
        """The switches' marking."""

    @property
    def response(self) -> Choice:
        """The sources' response."""

    @property
    def echo(self) -> Choice:
        """The receivers' echo of marks."""

    @property
    def flow_control(self) -> Choice:
        """The links' flow control."""

    @property
    def resolved(self) -> dict[str, Any]:
        """Every value, including defaults."""

    @property
    def summary(self) -> dict[str, Any]:
        """Properties that are known without a run."""

    def network(self) -> Network:
        """Return the scenario's network."""

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """Return a changed copy."""


Managed = TypeVar("Managed", bound=Fabric)


@dataclass(frozen=True)
class Setting:
    """One parameter: its dotted key in a scenario, its value, and the reason for the value."""

    key: str
    value: Any
    why: str

    @property
    def shown(self) -> str:
        """The value as text; of a list of delays, their number and the last one."""
        if not self.key.endswith("cct.list.entries"):
            return str(self.value)
        shift, multiplier = self.value[-1]
        return f"{len(self.value)} delays, to {multiplier / (1 << shift):g} packet times"


@dataclass(frozen=True)
class Concern:
    """A setting that cannot work: its dotted key, its value, and the problem.

    `becalm manage`, `validate`, `explain` and `tune` share these findings.
    """

    key: str
    value: Any
    problem: str
    rule: str = ""
    """Name of the finding, as the cause that `becalm explain` names."""
    cure: str = ""
    """What to set instead, as an instruction."""

    @property
    def sentence(self) -> str:
        """The finding with its setting and its cure."""
        cure = f"; valid: {self.cure}" if self.cure else ""
        return f"{self.key} = {self.value}: {self.problem}{cure}"


@dataclass(frozen=True)
class Recommendation:
    """A guideline's settings for one fabric."""

    guideline: str
    settings: list[Setting]

    def apply(self, scenario: Managed, also: Mapping[str, Any] | None = None) -> Managed:
        """Return the scenario with these settings instead of its marking, echo and response.

        The result also names the switches' arbiter, because the effect of the settings depends on it. `also`
        contains further changes.

        Raises:
            ScenarioError: the result is invalid, for example because a group of flows has its own response.

        """
        tables: dict[str, Any] = {}
        for setting in self.settings:
            _put(tables, setting.key.split("."), setting.value)
        arbiter = scenario.resolved["switch"]["arbiter"]
        return scenario.replace({"switch.arbiter": arbiter, **tables, **(also or {})})


def _put(tables: dict[str, Any], path: list[str], value: Any) -> None:  # noqa: ANN401
    *parents, last = path
    for part in parents:
        tables = tables.setdefault(part, {})
    tables[last] = value
