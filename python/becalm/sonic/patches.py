"""Settings of a scenario as changes of SONiC switches: JSON patches (RFC 6902) and their inverses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from becalm.base.errors import BecalmError
from becalm.base.mistakes import Mistakes
from becalm.scenario import Scenario
from becalm.sonic.classes import lossless, queue_of, served, way
from becalm.sonic.switch import NULL, Switch

Operation = dict[str, Any]

COLOURS = ("green", "yellow", "red")


class Thresholds(NamedTuple):
    """The settings of a scenario that switches have."""

    kmin: float
    """Bytes, at the rate `per` or any."""
    kmax: float
    pmax: float
    """A share."""
    per: float | None
    """Rate in Mb/s for which kmin and kmax hold; None for any."""
    exponent: int | None
    """Power of two of alpha; None without dynamic thresholds."""

    def at(self, speed: int | None) -> tuple[int, int]:
        """Return Kmin and Kmax of a port in bytes."""
        scale = 1.0 if self.per is None or speed is None else speed / self.per
        return round(self.kmin * scale), round(self.kmax * scale)

    @property
    def percent(self) -> int:
        """Pmax in whole percent, at least 1."""
        return max(1, round(100 * self.pmax))


def thresholds(scenario: Scenario) -> Thresholds:
    """Return the settings of a scenario that switches have.

    Raises:
        BecalmError: the scenario does not mark by a ramp.
        ScenarioError: an alpha that is no power of two from 2^-8 to 2^7.

    """
    ramp = scenario.marking.get("ramp")
    if ramp is None:
        raise BecalmError(
            f"{scenario.name}: marks by {scenario.marking.name}, which Ethernet switches do not have; "
            "valid: [marking.ramp]"
        )
    mistakes = Mistakes(scenario.name or "scenario")
    per = ramp.get("per")
    return Thresholds(
        1000 * ramp["kmin"],
        1000 * ramp["kmax"],
        ramp["pmax"],
        None if per is None else 1000 * per,
        _exponent(scenario, mistakes),
    )


def _exponent(scenario: Scenario, mistakes: Mistakes) -> int | None:
    dynamic = (scenario.flow_control.get("pfc") or {}).get("thresholds", {}).get("dynamic")
    if dynamic is None:
        return None
    power = math.log2(dynamic["alpha"])
    if power != round(power) or not -8 <= power <= 7:
        key = "switch.flow_control.pfc.thresholds.dynamic.alpha"
        mistakes.add(None, key, f"{dynamic['alpha']:g}", "is not a dynamic_th", "a power of two, 2^-8 to 2^7")
    mistakes.check()
    return round(power)


class Change(NamedTuple):
    """A new value of a field."""

    table: str
    key: str
    name: str
    value: str


def patch(
    switch: Switch, wanted: Thresholds, dscp: int | None = None
) -> tuple[list[Operation], list[Operation]]:
    """Return a JSON patch for `config apply-patch`, and its inverse.

    Args:
        switch: the switch.
        wanted: settings for all profiles of its lossless classes.
        dscp: the DSCP of the hosts' data, which gets a lossless class where it has none.

    Raises:
        BecalmError: a profile serves ports of different rates, for which the settings differ; or the switch
            has no lossless class.

    """
    changes = dict.fromkeys([*_marks(switch, wanted), *_buffers(switch, wanted), *_classes(switch, dscp)])
    forth, back = [], []
    for change in changes:
        row = switch.tables.row(change.table, change.key)
        path = "/" + "/".join(map(_escaped, (change.table, change.key, change.name)))
        old = row.get(change.name)
        if old == change.value:
            continue
        if old is None:
            forth.append({"op": "add", "path": path, "value": change.value})
            back.append({"op": "remove", "path": path})
        else:
            forth.append({"op": "replace", "path": path, "value": change.value})
            # The value as the file has it: `tables` leaves out blanks around it.
            back.append(
                {
                    "op": "replace",
                    "path": path,
                    "value": switch.tables.raw[change.table, change.key, change.name],
                }
            )
    return forth, back[::-1]


def _escaped(text: str) -> str:
    return text.replace("~", "~0").replace("/", "~1")


def _marks(switch: Switch, wanted: Thresholds) -> Iterator[Change]:
    values: dict[str, set[tuple[int, int]]] = {}
    for name in served(switch):
        for traffic in lossless(switch, name):
            profile = switch.wred(queue_of(switch, name, traffic))
            if profile in switch.tables.table("WRED_PROFILE"):
                values.setdefault(profile, set()).add(wanted.at(switch.ports[name].speed))
    if not values:
        raise BecalmError(
            f"{switch.file}: no lossless queue has a WRED profile; `becalm check` names the queues"
        )
    for profile, needed in values.items():
        if len(needed) > 1:
            raise BecalmError(
                f"{switch.file}: WRED_PROFILE|{profile}: serves ports whose rates need different thresholds; "
                "valid: a profile for each rate, or a ramp without `per`"
            )
        ((low, high),) = needed
        row = switch.tables.row("WRED_PROFILE", profile)
        for colour in COLOURS:
            if colour != "green" and f"{colour}_max_threshold" not in row:
                continue
            yield Change("WRED_PROFILE", profile, f"{colour}_min_threshold", str(low))
            yield Change("WRED_PROFILE", profile, f"{colour}_max_threshold", str(high))
            yield Change("WRED_PROFILE", profile, f"{colour}_drop_probability", str(wanted.percent))
        yield Change("WRED_PROFILE", profile, "wred_green_enable", "true")
        yield Change("WRED_PROFILE", profile, "ecn", "ecn_all")


def _buffers(switch: Switch, wanted: Thresholds) -> Iterator[Change]:
    if wanted.exponent is None:
        return
    for profile in dict.fromkeys(switch.profile(group) for group in switch.lossless):
        if profile == NULL:
            for key in switch.tables.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER"):
                table = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
                yield Change(table, key, "default_dynamic_th", str(wanted.exponent))
        elif switch.number("BUFFER_PROFILE", profile, "static_th") is None:
            yield Change("BUFFER_PROFILE", profile, "dynamic_th", str(wanted.exponent))


def _classes(switch: Switch, dscp: int | None) -> Iterator[Change]:
    if dscp is None:
        return
    for name in served(switch):
        key, own = switch.qos(name, "dscp_to_tc_map"), lossless(switch, name)
        if not key or not own or way(switch, name, dscp).priority is not None:
            continue
        # The priority that adapters give to the DSCP, if the switch has it.
        traffic = dscp >> 3 if dscp >> 3 in own else own[0]
        yield Change("DSCP_TO_TC_MAP", key, str(dscp), str(traffic))
