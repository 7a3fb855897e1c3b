"""Copies of built-in schemes, written in Python like a user's schemes; `becalm.native` compiles them.

Each performs the same operations in the same order as the built-in scheme, so that results are bit-identical.
"""

import becalm
from becalm import NEVER


class Rate(becalm.Response):
    """Common code of LIPD and AIMD."""

    rmin = becalm.Parameter(1 / 256, "least rate", least=1e-6, most=1.0, unit="of the link rate")
    rmax = becalm.Parameter(1.0, "largest rate", least=1e-6, most=1.0, unit="of the link rate")
    limit = becalm.Parameter(1, "packets under way", least=1, most=2**32 - 1, unit="packets")
    rate: float

    def start(self, flow):
        self.rate = self.rmax
        self.window = self.limit
        self.pace()

    def pace(self):
        self.gap = max(1.0 / self.rate - 1.0, 0.0)

    def on_ack(self, now, ack):
        if ack.marked > 0:
            self.slower()
        else:
            self.faster()

    def on_becn(self, now):
        self.slower()


class Lipd(Rate):
    """A mark lengthens the delay by one packet time."""

    def slower(self):
        self.rate = max(self.rmax / (self.rmax / self.rate + 1.0), self.rmin)
        self.pace()

    def faster(self):
        self.rate = min(self.rate / (1.0 - self.rmin / self.rmax), self.rmax)
        self.pace()


class Aimd(Rate):
    """A mark divides the rate."""

    m = becalm.Parameter(2.0, "factor of a decrease", least=1.0, most=100.0)

    def slower(self):
        self.rate = max(self.rate / self.m, self.rmin)
        self.pace()

    def faster(self):
        self.rate = min(self.rate + (self.m - 1.0) * self.rmin * self.rmin / self.rate, self.rmax)
        self.pace()


class Dctcp(becalm.Response):
    """The window shrinks with its share of marked packets, and grows by one packet per round trip."""

    g = becalm.Parameter(0.0625, "weight of a window in alpha", least=1e-6, most=1.0)
    moves_window = True
    counts_marks = True
    packets: float
    first: float
    alpha: float
    acked: int
    marked: int
    count_at: int
    cut_from: int
    latest: int
    next: int

    def start(self, flow):
        packet = float(flow.mtu + flow.header)
        self.first = flow.rate * (flow.base_rtt / 1e12) / packet
        self.on_restart(0)

    def on_restart(self, now):
        self.packets = min(max(self.first, 1.0), 4294967295.0)
        self.alpha = 1.0
        self.acked = self.marked = self.count_at = self.cut_from = self.latest = self.next = 0
        self.window = int(self.packets)

    def on_ack(self, now, ack):
        self.acked += ack.covers
        self.marked += ack.marked
        self.latest, self.next = ack.sequence, ack.next
        if ack.sequence >= self.count_at:
            share = float(self.marked) / float(max(self.acked, 1))
            self.alpha += self.g * (min(share, 1.0) - self.alpha)
            self.acked, self.marked, self.count_at = 0, 0, ack.next
        if ack.marked > 0:
            self.cut()
        elif ack.sequence >= self.cut_from:
            self.packets = min(self.packets + float(ack.covers) / self.packets, 4294967295.0)
        self.window = int(self.packets)

    def on_becn(self, now):
        self.marked += 1
        self.cut()
        self.window = int(self.packets)

    def cut(self):
        if self.latest >= self.cut_from:
            self.packets = max(self.packets * (1.0 - self.alpha / 2.0), 1.0)
            self.cut_from = self.next


class Dcqcn(becalm.Response):
    """A CNP cuts the rate; a timer and a byte counter raise it. Defaults are the preset `paper`."""

    g = becalm.Parameter(1 / 256, "weight of a CNP in alpha", least=1e-6, most=1.0)
    alpha_timer = becalm.Parameter("55 us", "time without a CNP after which alpha falls", least="100 ns")
    increase_timer = becalm.Parameter("55 us", "time of a stage of the timer", least="100 ns")
    byte_counter = becalm.Parameter(10_000_000, "bytes of a stage of the byte counter", least=1000, unit="B")
    fast_recovery = becalm.Parameter(5, "stages before the target grows", least=1, most=1000, unit="stages")
    min_rate = becalm.Parameter(100.0, "least rate", least=1e-3, unit="Mb/s")
    rate: float
    target: float
    alpha: float
    least: float
    alpha_since: int
    timer_stage: int
    byte_stage: int
    bytes: int

    def start(self, flow):
        self.least = min(self.min_rate * 1e6 / (flow.rate * 8.0), 1.0)
        self.on_restart(0)

    def on_restart(self, now):
        self.rate = self.target = self.alpha = 1.0
        self.alpha_since = NEVER
        self.timer_stage = self.byte_stage = self.bytes = 0
        self.timer = NEVER
        self.pace()

    def pace(self):
        self.gap = 1.0 / self.rate - 1.0

    def on_ack(self, now, ack):
        self.expire(now)
        if ack.marked > 0:
            self.cut(now)
        self.pace()

    def on_becn(self, now):
        self.expire(now)
        self.cut(now)
        self.pace()

    def on_timer(self, now):
        self.timer = now
        self.expire(now)
        self.pace()

    def on_sent(self, now, sent):
        if self.rate >= 1.0:
            return
        self.bytes += sent.bytes
        while self.bytes >= self.byte_counter and self.rate < 1.0:
            self.bytes -= self.byte_counter
            self.byte_stage += 1
            self.rise()
        self.pace()

    def expire(self, now):
        while self.timer is not None and self.timer <= now:
            self.timer = self.timer + self.increase_timer
            self.timer_stage += 1
            self.rise()

    def cut(self, now):
        if self.alpha_since < now:
            periods = (now - self.alpha_since) // self.alpha_timer
            if periods > 0:
                self.alpha *= becalm.power(1.0 - self.g, float(periods))
        self.target = self.rate
        self.rate = max(self.rate * max(1.0 - self.alpha / 2.0, 0.5), self.least)
        self.alpha = (1.0 - self.g) * self.alpha + self.g
        self.timer_stage = self.byte_stage = self.bytes = 0
        self.alpha_since = now
        self.timer = now + self.increase_timer

    def rise(self):
        least, most = min(self.timer_stage, self.byte_stage), max(self.timer_stage, self.byte_stage)
        if most >= self.fast_recovery:
            step = 0.01 if least > self.fast_recovery else 0.001
            self.target = min(self.target + step, 1.0)
        self.rate = (self.rate + self.target) / 2.0
        if 1.0 - self.rate < 1e-6:
            self.rate = self.target = 1.0
            self.timer = NEVER


class InputTriggered(becalm.Marker):
    """When an input buffer becomes full, all packets waiting for its packets' outputs are marked."""

    attention = "tails"
    sees_passing = False
    needs_buffer = True
    headroom = becalm.Parameter(0, "free slots with which a buffer counts as full", least=0, unit="packets")
    left: becalm.Lanes[int]

    def arrived(self, packet, switch):
        if not packet.waits or switch.room(packet.input, packet.vl) > self.headroom:
            return
        for output in range(switch.ports):
            if switch.present_from(packet.input, output, packet.vl) > 0:
                self.left[output, packet.vl] = switch.waiting(output, packet.vl)

    def departing(self, packet, switch):
        left = self.left[packet.output, packet.vl]
        if left == 0:
            return False
        self.left[packet.output, packet.vl] = left - 1
        return True


class Ramp(becalm.Marker):
    """The marking probability rises between two thresholds of an output's queue length."""

    attention = "packets"
    kmin = becalm.Parameter(5.0, "queue up to which no packet is marked", least=0.0, most=1e6, unit="kB")
    kmax = becalm.Parameter(200.0, "queue above which every packet is marked", least=0.0, most=1e6, unit="kB")
    pmax = becalm.Parameter(0.01, "probability of a mark at kmax", least=0.0, most=1.0)

    def departing(self, packet, switch):
        if packet.kind != 0:
            return False
        queue = float(switch.waiting_bytes(packet.output, packet.vl) - packet.size)
        low, high = self.kmin * 1000.0, self.kmax * 1000.0
        if queue <= low:
            return False
        if queue > high:
            return True
        probability = self.pmax * (queue - low) / (high - low)
        return probability > 0.0 and (probability >= 1.0 or switch.draw(packet) < probability)


class RoceV2(becalm.Echo):
    """Answers a mark with a CNP, at most one per interval; ACKs carry no mark."""

    cnp_interval = becalm.Parameter("50 us", "least time between two CNPs of a flow")
    ack_every = becalm.Parameter(1, "most packets that one ACK covers", least=1, most=65535, unit="packets")

    def answer(self, packet):
        due = packet.notified < 0 or packet.now >= packet.notified + self.cnp_interval
        acknowledged = packet.last or packet.packets >= self.ack_every
        return becalm.Answer(0 if acknowledged else becalm.NO_ACK, bool(packet.marked and due))
