"""Thresholds of the marking ramp (Kmin, Kmax, Pmax) for RoCE fabrics: becalm's own, and published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from becalm.base.quantities import seconds
from becalm.manager.ramp import KB, LEAST, pauses, ports, round_trip, shares_memory
from becalm.manager.settings import Fabric, Recommendation, Setting

READERS = ("dcqcn", "dctcp")
"""Responses that guidelines set thresholds for."""
OTHERS = ("hpcc", "nscc", "swift", "timely")
"""Other responses of Ethernet fabrics: they follow delays or telemetry, or marks and delays."""
IDLE = ("none", "fixed")
STAGES = {"connectx": 300e-6}
"""Stage in s of DCQCN's timer, by preset, where a stage brings half of the lost rate back. With the preset
`paper`, every cut lowers the target, too, and the way back is long."""
SHARE = 0.25
"""Kmin of becalm's guideline, as a share of Kmax."""
PMAX = 0.01
"""Pmax of becalm's guideline."""
INPUTS = 4
"""Number of inputs with full memory of their own at Kmax, if a cut takes many stages to recover from."""
MOST = 100.0
"""Kmax of becalm's guideline in round trips, if nothing else limits it."""


def is_roce(scenario: Fabric) -> bool:
    """Whether a ramp controls a fabric, or could: sources react to its marks, or nothing reacts."""
    if scenario.response.name in READERS:
        return True
    own = "ibta" in (scenario.marking.name, scenario.echo.name)
    return scenario.response.name in IDLE and scenario.flow_control.name == "pfc" and not own


def recommend(scenario: Fabric, contributors: int, guideline: str) -> Recommendation:
    """Return the thresholds of a guideline, and DCQCN if no response of the scenario reads marks."""
    settings = [*GUIDELINES[guideline](scenario, contributors), *_kept(scenario)]
    if scenario.response.name not in READERS:
        settings.append(Setting("echo.rocev2", {}, "receivers send notification packets (CNP)"))
        why = "DCQCN with the values of ConnectX adapters"
        settings.append(Setting("response.dcqcn.preset", "connectx", why))
    return Recommendation(guideline, settings)


def _kept(scenario: Fabric) -> Iterator[Setting]:
    """Return the other keys of the scenario's own ramp, where they are not the defaults."""
    own = scenario.marking.get("ramp") or {}
    for key, default in (("judged", "departure"), ("root_only", False)):
        if own.get(key, default) != default:
            yield Setting(f"marking.ramp.{key}", own[key], "as it is")


def _ramp(
    kmin: float, kmax: float, pmax: float, per: float | None, why: tuple[str, str, str]
) -> Iterator[Setting]:
    yield Setting("marking.ramp.kmin", kmin, why[0])
    yield Setting("marking.ramp.kmax", kmax, why[1])
    yield Setting("marking.ramp.pmax", pmax, why[2])
    if per is not None:
        yield Setting("marking.ramp.per", per, "the rate in Gb/s for which they hold; others in proportion")


def _becalm(scenario: Fabric, contributors: int) -> Iterator[Setting]:
    """Derive thresholds: a queue that feeds the link while sources recover, and PFC spares."""
    rates = sorted({float(rate) for rate in scenario.network().links["capacity"].to_list()})
    fastest, packet = rates[-1], float(scenario.summary["packet_bytes"])
    per = fastest * 8e-9 if len(rates) > 1 else None
    trip = round_trip(scenario)
    least = max(LEAST * packet, trip * fastest)
    loop = f"the data of a round trip, {trip * 1e6:.3g} us at {fastest * 8e-9:.4g} Gb/s"
    if scenario.response.name == "dctcp":
        step = "the same: DCTCP needs a step"
        yield from _ramp(_rounded(least), _rounded(least), 1.0, per, (loop, step, step))
        return
    inputs = min(contributors, max(1, ports(scenario) - 1))
    alone, shared = pauses(scenario, 1), pauses(scenario, inputs)
    stage = _stage(scenario)
    bridge = float("inf") if stage is None else fastest * stage
    kmax, most = min((bridge, "stage"), (alone, "pfc"))
    if kmax == float("inf"):
        kmax, most = MOST * least, "trip"
    own = most == "pfc" and stage is None and not shares_memory(scenario)
    if own:
        kmax, most = INPUTS * alone, "inputs"
    kmin = least if own else max(least, min(SHARE * kmax, shared))
    kmax = max(kmin, kmax)
    bounds = {
        "stage": f"feeds the link for {(stage or 0) * 1e6:g} us, in which sources that were cut recover",
        "pfc": "where PFC pauses an input that feeds only this queue",
        "inputs": f"where PFC pauses {INPUTS} inputs that feed only this queue, each with its own memory",
        "trip": f"{MOST:g} times {loop}: neither PFC nor the response limits it",
    }
    low = (
        f"{SHARE:.0%} of Kmax"
        if kmin == SHARE * kmax
        else loop
        if kmin == least
        else f"where PFC pauses each of {inputs} inputs that feed only this queue"
    )
    rare = "few marks between Kmin and Kmax: a mark may cost a source half of its rate"
    yield from _ramp(_rounded(kmin), _rounded(kmax), PMAX, per, (low, bounds[most], rare))


def _stage(scenario: Fabric) -> float | None:
    """Return the time in s of a stage that brings half of a lost rate back; None if there is none."""
    own = scenario.response.get("dcqcn") or {"preset": "connectx"}
    keeps = own.get("clamp_target")
    if own["preset"] not in STAGES if keeps is None else keeps:
        return None
    timer = own.get("increase_timer")
    return STAGES.get(own["preset"], STAGES["connectx"]) if timer is None else seconds(timer)


def _rounded(size: float) -> float:
    return float(f"{size / KB:.3g}")


def _published(
    kmin: float, kmax: float, pmax: float, source: str, per: float | None = None
) -> Callable[[Fabric, int], Iterator[Setting]]:
    def settings(scenario: Fabric, contributors: int) -> Iterator[Setting]:
        del scenario, contributors
        yield from _ramp(kmin, kmax, pmax, per, (source, source, source))

    return settings


OWN = "becalm_roce"
"""becalm's guideline for RoCE."""
GUIDELINES: dict[str, Callable[[Fabric, int], Iterator[Setting]]] = {
    OWN: _becalm,
    "zhu2015": _published(5.0, 200.0, 0.01, "Zhu et al. 2015, for 40 Gb/s", 40.0),
    "li2019": _published(100.0, 400.0, 0.2, "simulator of Li et al. 2019 (HPCC), for 25 Gb/s", 25.0),
    "sonic": _published(1048.576, 2097.152, 0.05, "SONiC's common template"),
    "mellanox": _published(2000.0, 10000.0, 0.05, "SONiC on Mellanox SN4600C"),
    "arista": _published(166.912, 282.624, 0.05, "SONiC on Arista 7060"),
}
"""Guidelines for RoCE, by name."""
STANDING = (OWN, "sonic")
"""Those that a tuning compares its result with: few, because each costs time of its search."""
