"""Congestion control of HPCC's ns-3 as TOML, as becalm's comparisons with that simulator have it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from becalm.simulators.config import CONTROLS, Config
from becalm.simulators.graph import Graph

HEADER = {"TIMELY": 56}
"""Bytes of headers; 48 for others."""
ACK = {"HPCC": 108, "TIMELY": 68}
"""Bytes of an ACK; 60 for others."""
TELEMETRY = 42
"""Bytes of HPCC's records in each packet."""


class Control:
    """The congestion control of a configuration on a network."""

    def __init__(self, config: Config, graph: Graph) -> None:
        mode = int(config.values["CC_MODE"])
        if mode not in CONTROLS:
            valid = ", ".join(f"{number} ({name})" for number, name in CONTROLS.items())
            raise config.wrong("CC_MODE", str(mode), "is a scheme that becalm does not have", valid)
        self.config, self.graph, self.name = config, graph, CONTROLS[mode]
        self.payload = int(config.values["PACKET_PAYLOAD_SIZE"])
        if not 64 <= self.payload <= 65_536:
            raise config.wrong("PACKET_PAYLOAD_SIZE", str(self.payload), "is no payload", "64 to 65536")
        self.rate = graph.fastest_host()
        self.notes: list[str] = []
        self.round_trip = graph.longest_round_trip(self.payload)

    @property
    def header(self) -> int:
        """Bytes of headers of a data packet, without telemetry."""
        return HEADER.get(self.name, 48)

    @property
    def ack(self) -> int:
        """Bytes of an ACK."""
        return ACK.get(self.name, 60)

    @property
    def whole(self) -> int:
        """Bytes of a full packet."""
        return self.payload + self.header + (TELEMETRY if self.name == "HPCC" else 0)

    def window(self) -> int:
        """Return the window in packets: the payload that fits into the longest base round trip."""
        return math.ceil(self.rate * self.round_trip / 8 / self.payload)

    def toml(self) -> Iterator[str]:
        """Yield marking, echo and response."""
        yield from self._marking()
        yield ""
        writers: dict[str, Callable[[], Iterator[str]]] = {
            "DCQCN": self._dcqcn,
            "HPCC": self._hpcc,
            "TIMELY": self._timely,
            "DCTCP": self._dctcp,
            "none": self._none,
        }
        yield from writers[self.name]()

    def _marking(self) -> Iterator[str]:
        config = self.config
        if not config.values["ENABLE_QCN"] or self.name in ("HPCC", "TIMELY", "none"):
            yield "[marking.none]"
            return
        maps = {key: config.maps.get(key, {}) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")}
        rates = sorted({cable.rate for cable in self.graph.cables})
        for key, values in maps.items():
            for rate in rates:
                if rate not in values:
                    raise config.wrong(key, f"{rate:.0f}", "lacks a rate of the topology", "all its rates")
        first = rates[-1]
        low, high, share = (maps[key][first] for key in maps)
        for rate in rates:
            scaled = [values[rate] * first / rate for values in (maps["KMIN_MAP"], maps["KMAX_MAP"])]
            same = math.isclose(scaled[0], low) and math.isclose(scaled[1], high)
            if not same or maps["PMAX_MAP"][rate] != share:
                valid = "thresholds in proportion to the rate, and one Pmax"
                raise config.wrong(
                    "KMIN_MAP", f"{rate:.0f}", "is not in proportion to the other rates", valid
                )
        yield "[marking.ramp]"
        yield f"kmin = {low:g}"
        yield f"kmax = {high:g}"
        yield f"pmax = {share:g}"
        if len(rates) > 1:
            yield f"per = {first / 1e9:g}"

    def _dcqcn(self) -> Iterator[str]:
        values = self.config.values
        yield "[echo.rocev2] # every ACK of a marked packet is a notification"
        yield 'cnp_interval = "0 s"'
        yield f"ack_every = {max(1, int(values['L2_ACK_INTERVAL']))}"
        yield ""
        yield "[response.dcqcn]"
        yield 'preset = "paper"'
        yield f"g = {values['EWMA_GAIN']:.12g}"
        yield "initial_alpha = 1.0"
        yield f'alpha_timer = "{values["ALPHA_RESUME_INTERVAL"]:g} us"'
        yield "periodic = true"
        yield f'cut_interval = "{values["RATE_DECREASE_INTERVAL"]:g} us"'
        yield "min_decrease_factor = 0.0"
        yield f"clamp_target = {'true' if values['CLAMP_TARGET_RATE'] else 'false'}"
        yield f'increase_timer = "{values["RP_TIMER"]:g} us"'
        yield "byte_counter = 0"
        # ns-3 counts from 0, becalm from 1.
        yield f"fast_recovery = {int(values['FAST_RECOVERY_TIMES']) + 1}"
        yield f"additive_increase = {values['RATE_AI'] / 1e6:g}"
        yield f"hyper_increase = {values['RATE_HAI'] / 1e6:g}"
        yield f"min_rate = {values['MIN_RATE'] / 1e6:g}"
        yield f"max_rate = {self.rate / 1e6:g}"
        if values["HAS_WIN"]:
            yield f"window = {self.window()}"
            if values["VAR_WIN"]:
                self.notes.append("VAR_WIN: the window keeps its size, whatever the rate")

    def _hpcc(self) -> Iterator[str]:
        values = self.config.values
        # ns-3 counts payload in the window, becalm whole packets.
        longer = self.window() * self.whole * 8 / self.rate
        yield "[response.hpcc]"
        yield f"eta = {values['U_TARGET']:g}"
        yield f"max_stage = {int(values['MI_THRESH'])}"
        yield f"wai = {values['RATE_AI'] * longer / 8:.6g}"
        yield f'rtt = "{longer * 1e9:.6g} ns"'
        yield f"int_bytes = {TELEMETRY}"
        yield f"rmin = {values['MIN_RATE'] / self.rate:g}"
        if not values["FAST_REACT"]:
            self.notes.append("FAST_REACT 0: becalm's HPCC reacts to every ACK")

    def _timely(self) -> Iterator[str]:
        values = self.config.values
        yield "[response.timely]"
        yield f"delta = {values['RATE_AI'] / self.rate:g}"
        yield f"hai = {max(1.0, values['RATE_HAI'] / values['RATE_AI'] if values['RATE_AI'] else 1.0):g}"
        yield f"rmin = {values['MIN_RATE'] / self.rate:g}"
        yield "rmax = 1.0"
        if values["HAS_WIN"]:
            self.notes.append("HAS_WIN: becalm's TIMELY has no window")

    def _none(self) -> Iterator[str]:
        yield "[response.none]"
        yield f"window = {self.window()}" if self.config.values["HAS_WIN"] else 'window = "unlimited"'

    def _dctcp(self) -> Iterator[str]:
        yield "[response.dctcp] # a packet more per round trip, as DCTCP_RATE_AI is meant"
        yield f"g = {self.config.values['EWMA_GAIN']:.12g}"
        yield "initial_alpha = 1.0"
        yield f"initial = {self.window()}"
        yield f"largest = {self.window()}"
