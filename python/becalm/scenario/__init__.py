"""Scenarios: reads, changes and writes them. Only the compiled core decides what is valid in a scenario.

From the bottom up: `contents` (the lists of what one may contain), `changes`, this file, and `examples`.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from becalm import manager
from becalm._core import parse
from becalm.base.errors import ScenarioError
from becalm.base.machine import limit_of
from becalm.base.mistakes import other_kind, printable, read_text, reason, shown
from becalm.base.quantities import seconds
from becalm.network import Network
from becalm.scenario.changes import put

if TYPE_CHECKING:
    from becalm.schemes.base import Scheme
    from becalm.schemes.loading import Provided


class Scenario:
    """An immutable, checked scenario.

    Args:
        source: the text of a scenario file, or its content as nested dictionaries and lists.
        name: the scenario's name in messages and manifests.
        origins: options that set values, by key as in messages (`flows[0].stop`). Messages about these keys
            name the option instead of the scenario.
        max_memory: memory for the scenario's traces and schedules, in bytes or as a size such as `4 GB`.
            None: 80% of the machine's memory.
        schemes: user-defined schemes that the scenario may name, as classes or as FILE:NAME. A scenario
            contains no code, so it is a mistake to name another scheme. None: the scenario may name any
            scheme, but cannot be run, which suits the results of others.

    Raises:
        ScenarioError: the scenario is invalid; the error lists all mistakes.
        SchemeError: a scheme cannot be loaded.

    """

    def __init__(
        self,
        source: str | Mapping[str, Any],
        *,
        name: str = "scenario",
        origins: Mapping[str, str] | None = None,
        max_memory: int | str | None = None,
        schemes: Iterable[type[Scheme] | Provided | str] | None = (),
    ) -> None:
        self.name = name
        self.schemes = _provide(schemes)
        self._limit = limit_of(max_memory)
        written = isinstance(source, str)
        self._text = source if isinstance(source, str) else _to_toml(source, name)
        try:
            cores = None if self.schemes is None else [each.core for each in self.schemes]
            options = list((origins or {}).items())
            self.core = parse(
                self._text, name, lines=written, origins=options, memory=self._limit, schemes=cores
            )
        except UnicodeEncodeError as error:
            raise ScenarioError(f"{name}: not text in UTF-8", name) from error

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as data: the text, and the schemes by file and hash, which the reader loads again."""
        return _again, (self._text, self.name, self._limit, self.schemes)

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """Every value, including defaults."""
        resolved: dict[str, Any] = json.loads(self.core.resolved)
        return resolved

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Values known without a run: hosts, switches, host_rate [B/s], packet_bytes, packet_time [s] ..."""
        summary: dict[str, Any] = json.loads(self.core.summary)
        return summary

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings about valid but probably unintended settings, each in one sentence."""
        return [*self.core.warnings, *(each.sentence for each in manager.certain(self))]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the resolved scenario, the same for all files that resolve to the same scenario."""
        canonical = json.dumps(self.resolved, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def marking(self) -> manager.Choice:
        """The switches' marking: its name and its keys."""
        return manager.Choice.of(self.resolved["marking"])

    @property
    def response(self) -> manager.Choice:
        """The sources' response, for groups without their own: its name and its keys."""
        return manager.Choice.of(self.resolved["response"])

    @property
    def echo(self) -> manager.Choice:
        """What receivers tell sources of marks: its name and its keys."""
        return manager.Choice.of(self.resolved["echo"])

    @property
    def flow_control(self) -> manager.Choice:
        """The links' flow control: its name and its keys."""
        return manager.Choice.of(self.resolved["switch"]["flow_control"])

    @property
    def paths(self) -> manager.Choice:
        """The switches' choice among equal paths: its name and its keys."""
        return manager.Choice.of(self.resolved["switch"]["paths"])

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The values of each group of flows, and then of each job."""
        return [*self.resolved["flows"], *self.resolved["jobs"]]

    @property
    def topology(self) -> manager.Choice:
        """The topology: its name and its keys."""
        return manager.Choice.of(self.resolved["topology"])

    @property
    def replications(self) -> int:
        """Number of replications of a run."""
        return self.core.replications

    @property
    def duration(self) -> float:
        """Largest simulated time of a run [s]."""
        return seconds(self.resolved["run"]["duration"])

    @property
    def warmup(self) -> float:
        """Simulated time at which the measured window begins [s]."""
        return seconds(self.resolved["run"]["warmup"])

    def network(self) -> Network:
        """Return the network, without a simulation: nodes, links, groups of hosts and paths."""
        return self._network

    @cached_property
    def _network(self) -> Network:
        return Network(self.core, self.name)

    def hosts(self, *patterns: str) -> list[str]:
        """Return the hosts that match patterns, as in `from` and `to` of a group.

        Args:
            patterns: names, ranges such as `H0..H7`, or `*` for all; default: all.

        Raises:
            ScenarioError: some patterns match no host; the error lists them.

        """
        return self.core.hosts(list(patterns or ("*",)), self.name)

    def without_control(self) -> Scenario:
        """Return the scenario without congestion control: switches mark nothing, and sources do not react.

        The response's window stays, since it belongs to the transport. Responses of groups are removed.

        Raises:
            ScenarioError: the scenario's text is not TOML 1.0.

        """
        keys = self.response.keys
        window = {"window": keys["window"]} if "window" in keys else {}
        off: dict[str, Any] = {"marking": {"none": {}}, "echo": None, "response": {"none": window}}
        if "adapter" in self.data():
            off["adapter.port_control"] = None
        return self.replace(off | self._own_responses("response", "restart"))

    def exact(self) -> Scenario:
        """Return the scenario with every packet simulated; see `run.fidelity`."""
        is_exact = self.resolved["run"]["fidelity"] == "packets"
        return self if is_exact else self.replace({"run.fidelity": None})

    def with_guideline(self, name: str = manager.DEFAULT, *, hot_spot_degree: int | None = None) -> Scenario:
        """Return the scenario with a guideline's congestion control for its fabric, for all groups.

        Args:
            name: `becalm`, `pfister2005` or `gran2010`.
            hot_spot_degree: largest number of sources that send to one hot spot; default: all hosts.

        Raises:
            BecalmError: the guideline is unknown, or the degree is below 2 or above the number of hosts.
            ScenarioError: the scenario does not support the guideline's settings.

        """
        recommended = manager.recommend(self, hot_spot_degree=hot_spot_degree, guideline=name)
        return recommended.apply(self, self._own_responses("response"))

    def _own_responses(self, *keys: str) -> dict[str, Any]:
        """Return the changes that remove keys from single groups and jobs."""
        data = self.data()
        return {
            f"{kind}.{place}.{key}": None
            for kind in ("flows", "jobs")
            for place, group in enumerate(data.get(kind, []))
            for key in keys
            if key in group
        }

    def to_toml(self) -> str:
        """Return the scenario's text as TOML: the original text, or text generated from dictionaries."""
        return self._text

    def replace(self, changes: Mapping[str, Any], *, option: str | None = None) -> Scenario:
        """Return a changed copy.

        Args:
            changes: values by dotted key. A table replaces the entire table, and another scheme replaces the
                scheme, so both `{"response": {"fimd": {}}}` and `{"response.fimd": {}}` replace the response.
                None removes the key. Items of a list are named by their index or by their `name`:
                `{"flows.victim.stop": "60 ms"}`.
            option: the command-line option that requests the changes, such as `--set`. Messages about a
                value then name the option, key and value instead of the scenario.

        Raises:
            ScenarioError: the result is invalid.

        """
        data = self.data()
        origins = {}
        try:
            for key, value in changes.items():
                path = put(data, key, value, self.name)
                if option is not None:
                    origins[path] = f"{option} {key}={shown(value)}"
            return Scenario(
                data, name=self.name, origins=origins, max_memory=self._limit, schemes=self.schemes
            )
        except RecursionError as error:
            raise ScenarioError(f"{self.name}: a change {reason(error)}", self.name) from error

    def using(self, schemes: Iterable[type[Scheme] | Provided | str]) -> Scenario:
        """Return a copy that uses user-defined schemes.

        A scheme that the scenario does not name replaces its `[response]`, `[marking]` or `[echo]`. Responses
        of single groups stay.

        Args:
            schemes: classes derived from `becalm.Response`, `becalm.Marker` or `becalm.Echo`, or FILE:NAME.

        Raises:
            SchemeError: a scheme cannot be loaded, or two schemes are for the same table.
            ScenarioError: the result is invalid.

        """
        schemes = tuple(schemes)
        if not schemes:
            return self
        from becalm.schemes.loading import chosen, provide

        own = provide(schemes)
        data = chosen(self.data(), own)
        schemes = (*(self.schemes or ()), *own)
        return Scenario(data or self._text, name=self.name, max_memory=self._limit, schemes=schemes)

    def pinned(self) -> Scenario:
        """Return the scenario with explicit parameters and file hashes of user-defined schemes."""
        if not self.schemes:
            return self
        data, resolved = self.data(), self.resolved
        groups = [zip(data.get(key, ()), resolved[key], strict=False) for key in ("flows", "jobs")]
        for written, whole in [(data, resolved), *groups[0], *groups[1]]:
            for seam in ("marking", "echo", "response"):
                if "external" in written.get(seam, ()):
                    written[seam] = {"external": whole[seam]["external"]}
        return Scenario(data, name=self.name, schemes=self.schemes)

    def data(self) -> dict[str, Any]:
        """Return the scenario's text as dictionaries and lists.

        Raises:
            ScenarioError: the text is not TOML 1.0. The core accepts newer TOML.

        """
        try:
            return tomllib.loads(self._text)
        except (RecursionError, ValueError) as error:
            problem = f"only TOML 1.0 can be changed from Python: {reason(error)}"
            raise ScenarioError(f"{self.name}: {problem}", self.name) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __deepcopy__(self, _: dict[int, Any]) -> Scenario:
        # Scenarios are immutable.
        return self

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r} {self.hash[:16]}>"


def _again(text: str, name: str, limit: int, schemes: tuple[Provided, ...] | None) -> Scenario:
    """Return a scenario from a pickle."""
    return Scenario(text, name=name, max_memory=limit, schemes=schemes)


def load(
    path: str | PathLike[str],
    *,
    max_memory: int | str | None = None,
    schemes: Iterable[type[Scheme] | Provided | str] = (),
) -> Scenario:
    """Read a scenario file.

    Args:
        path: the file.
        max_memory: memory for the scenario's traces and schedules; see `Scenario`.
        schemes: user-defined schemes that the scenario may name; see `Scenario`.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the scenario is invalid; the error lists all mistakes.
        SchemeError: a scheme cannot be loaded.

    """
    name = printable(str(path)).replace("\n", "\\n")
    text = read_text(path)
    if not text.strip():
        empty = "is empty; `becalm list examples NAME` prints a scenario to start with"
        raise ScenarioError(f"{name}: {empty}", name)
    try:
        return Scenario(text, name=name, max_memory=max_memory, schemes=schemes)
    except ScenarioError as error:
        if problem := other_kind(name, {mistake["key"] for mistake in error.mistakes}):
            raise ScenarioError(f"{name}: {problem}", name, error.mistakes) from error
        raise


def _provide(schemes: Iterable[type[Scheme] | Provided | str] | None) -> tuple[Provided, ...] | None:
    if schemes is None:
        return None
    schemes = tuple(schemes)
    if not schemes:
        return ()
    from becalm.schemes.loading import provide

    return provide(schemes)


def _to_toml(data: Mapping[str, Any], name: str) -> str:
    import tomli_w

    try:
        return tomli_w.dumps(data)
    except (RecursionError, TypeError, ValueError) as error:
        problem = f"{reason(error)}: a scenario can contain only text, numbers, lists and tables"
        raise ScenarioError(f"{name}: {problem}", name) from error
