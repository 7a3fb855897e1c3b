"""What the columns of the result tables mean; their units are with the tables, in `Results.units`.

All tables but those over time cover the measured window, from `run.warmup` to `run.duration`, or, where
a run ends with its messages, from the start of the first flow to the last acknowledgement. Rates are bytes on
the wire per second, with headers.
"""

from __future__ import annotations

from collections.abc import Mapping

REPLICATION = "Number of the replication, from 0."
_LATENCY = "time from the posting of a packet's message to the arrival of its last byte; NaN without packets"

_COMPLETION = "time from the posting of a message to the arrival of its last byte"
_IDEAL = (
    "time that it would take on an empty network by its route: links, switches and adapters count, credit, "
    "windows and delays of responses do not"
)
_PERCENTILES = {
    "p50": "Median",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "p999": "99.9th percentile",
}
_SPREADS = {
    "completion_mean": f"Mean completion time: the {_COMPLETION}; NaN without messages.",
    **{f"completion_{key}": f"{name} of completion times." for key, name in _PERCENTILES.items()},
    "completion_max": "Largest completion time.",
    "slowdown_mean": f"Mean slowdown: completion time over the {_IDEAL}.",
    **{f"slowdown_{key}": f"{name} of slowdowns." for key, name in _PERCENTILES.items()},
    "slowdown_max": "Largest slowdown.",
}

TABLES: Mapping[str, str] = {
    "flows": "One row per flow.",
    "groups": "One row per group of flows, `[[flows]]` of the scenario; each job is one, too.",
    "latencies": "Histogram of latencies: one row per group and range of latencies that has packets.",
    "jobs": "One row per job, `[[jobs]]` of the scenario; over the whole run.",
    "ranks": "One row per rank of each job; over the whole run.",
    "ops": "One row per operation of each rank; for jobs with `record_ops`.",
    "links": "One row per direction of a cable.",
    "buffers": "One row per input buffer of a switch and virtual lane.",
    "hosts": "One row per host: packets of all kinds, ACKs and congestion notification packets included.",
    "tree": "One row per output and virtual lane: its role in congestion trees.",
    "victims": "One row per group and source host: offered and delivered traffic.",
    "series": "Rates over time, one row per sample of each group, followed link and followed flow.",
    "paces": "Gaps and windows set by responses, one row per sample and group; with `observe.paces`.",
    "snapshots": "One row per time in `observe.snapshots`, link and virtual lane.",
    "queues": "One row per output of a switch and virtual lane: the bytes that wait for it, over time; with "
    "`observe.queues`.",
    "completion": "One row per group of flows: its messages; with `observe.messages`.",
    "completion_by_size": "Up to 20 rows per group, each with a twentieth of its messages in the order of "
    "their sizes; messages of one size are in one row. With `observe.messages`.",
    "messages": "One row per message, in the order of delivery; with `observe.messages`, unless there are "
    "more than `observe.message_rows`.",
    "completion_times": "Histogram of completion times: one row per group and range of times that has "
    "messages; with `observe.messages`.",
    "frames": "One row per step of `observe.frames` and lane; one byte per link, in the order of `links`.",
    "frames_groups": "One row per step of `observe.frames` and group.",
    "pauses": "One row per link and virtual lane whose buffer can pause the sender; with PFC.",
    "spans": "One row per period in which an output was root or branch; with `observe.spans`.",
}
"""Meaning of the rows of each table."""

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "flows": {
        "flow": "Number of the flow, from 0, in the order of the groups.",
        "group": "Name of its group.",
        "source": "Host that sends.",
        "destination": "Host that receives.",
        "sent_packets": "Data packets that left the source.",
        "delivered_packets": "Data packets that arrived.",
        "delivered_bytes": "Their bytes on the wire.",
        "messages": "Messages that were delivered whole.",
        "rate": "Delivered bytes over the length of the measured window.",
        "share": "`rate` over the rate of the source's link.",
        "marked": "Delivered packets that carried a congestion mark.",
        "out_of_order": "Delivered packets that arrived before an earlier one; see `switch.paths`.",
        "dropped": "Messages that found the host's send queue full and were dropped.",
        "latency_mean": f"Mean latency of delivered data packets: the {_LATENCY}.",
        "latency_p50": "Median latency.",
        "latency_p99": "99th percentile of latency.",
        "latency_max": "Largest latency.",
    },
    "groups": {
        "group": "Name of the group.",
        "flows": "Number of its flows.",
        "rate": "Sum of the rates of its flows.",
        "share": "`rate` over the mean rate of the sources' links: 1 is one link full.",
        "jain": "Jain's fairness index of the flows' shares: 1 is fair, 1/n is one of n flows alone.",
        "marked_share": "Marked over delivered packets; NaN if none was delivered.",
        "latency_mean": f"Mean latency of delivered data packets: the {_LATENCY}.",
        "latency_p50": "Median latency.",
        "latency_p99": "99th percentile of latency.",
        "latency_max": "Largest latency.",
    },
    "latencies": {
        "group": "Name of the group.",
        "from": "Smallest latency of the range, in steps of 1 ns.",
        "to": "Latency at which the next range begins; there are 16 between a power of two and the next.",
        "packets": "Delivered data packets with a latency in the range.",
    },
    "jobs": {
        "job": "Name of the job.",
        "ranks": "Number of its ranks.",
        "start": "Its start.",
        "end": "End of its last rank; NaN if it has not ended.",
        "time": "Time from its start to its end.",
        "time_alone": "Its time without other traffic; NaN if there is none, or with `alone = false`.",
        "slowdown": "`time` over `time_alone`.",
        "compute_share": "Mean share of `time` in which a rank computes.",
        "wait_share": "Mean share of `time` in which a rank neither computes nor works on a message.",
        "bus_bandwidth": "Bus bandwidth of its collective operation, as nccl-tests define it: bytes over "
        "time without computation, times 2(p-1)/p for an all-reduce, (p-1)/p where each has a part.",
    },
    "ranks": {
        "job": "Name of the job.",
        "rank": "Number of the rank, from 0.",
        "host": "Host that it runs on.",
        "end": "End of its last operation; NaN if it has not ended.",
        "compute": "Time in which it computes.",
        "overhead": "Time in which it works on messages and does not compute.",
        "wait": "Time from the job's start to `end` in which it does neither.",
    },
    "ops": {
        "job": "Name of the job.",
        "rank": "Number of the rank, from 0.",
        "op": "Number of the operation among those of the rank, from 0; by rendezvous, a message has three.",
        "kind": "`calc`, `send` or `recv`.",
        "peer": "The other rank; NaN for a computation and a receive from any.",
        "bytes": "Payload of the message; 0 for a computation.",
        "start": "Its start; of a receive, when it was posted.",
        "end": "Its end; of a send, when the last byte has left.",
    },
    "links": {
        "from": "Node that sends on the link.",
        "from_port": "Its port.",
        "to": "Node that receives.",
        "rate": "Bytes sent over the length of the measured window.",
        "utilization": "`rate` over the rate of the link.",
        "packets": "Packets sent, of all kinds, as PortXmitPkts counts.",
        "bytes": "Bytes sent.",
        "marked": "Packets that the switch marked as they left by this port, as PortMarkFECN counts.",
        "stalled_share": "Share of the time in which a packet waited and there was no credit for it; with "
        "PFC, in which it waited for the end of a pause.",
        "xmit_wait": "The same as a time, as PortXmitWait counts.",
        "xmit_time_cong": "Time in which some VL was in the congestion state, as PortXmitTimeCong counts.",
    },
    "buffers": {
        "switch": "Switch of the buffer.",
        "port": "Its port.",
        "peer": "Node at the other end of the port's link.",
        "vl": "Virtual lane.",
        "mean_packets": "Mean number of packets in the buffer over time.",
        "max_packets": "Largest number of packets at any time.",
    },
    "hosts": {
        "host": "Name of the host.",
        "sent_packets": "Packets that left the adapter.",
        "sent_bytes": "Their bytes.",
        "received_packets": "Packets that arrived.",
        "received_bytes": "Their bytes.",
        "rcv_fecn": "Packets that arrived with a mark, as PortRcvFECN counts.",
        "rcv_becn": "ACKs and notification packets with the echo of a mark, as PortRcvBECN counts.",
    },
    "tree": {
        "from": "Node of the output.",
        "from_port": "Its port.",
        "to": "Node at the other end of its link.",
        "vl": "Virtual lane.",
        "role": "`root` or `branch`, whichever it was for longer; `calm` if both are below 1% of the window.",
        "since": "When its first period in this role began; NaN for `calm`.",
        "until": "When its last period in this role ended.",
        "longest": "Length of the longest period.",
        "longest_since": "When the longest period began.",
        "root_share": "Share of the window in which it was a root.",
        "branch_share": "Share of the window in which it was a branch.",
    },
    "victims": {
        "host": "Source host.",
        "group": "Name of the group.",
        "flows": "Number of the group's flows from this host.",
        "contributors": "Those whose path meets a root of congestion.",
        "victims": "Those whose path meets a branch and no root.",
        "offered": "Bytes of posted messages, and what flows with endless data could have sent, per time.",
        "delivered": "Bytes that arrived, per time.",
        "delivered_share": "`delivered` over `offered`; NaN where nothing was offered.",
    },
    "series": {
        "time": "Time of the sample.",
        "kind": "`group`, `link` or `flow`.",
        "name": "Name of the group or link, number of the flow.",
        "rate": "Mean rate in a window of `observe.window` around the time, cut at the ends of the run.",
        "share": "`rate` over the rate of the link, or of the sources' links.",
    },
    "paces": {
        "time": "Time of the sample.",
        "group": "Name of the group.",
        "gap_mean": "Gap that a flow has to keep after a packet, mean over the flows.",
        "gap_max": "Largest of these gaps.",
        "delay_mean": "The gap after a packet of the largest size, mean over the flows.",
        "delay_max": "Largest of these delays.",
        "window_mean": "Packets that a flow may have under way, mean over the flows; infinite without limit.",
        "window_sum": "Sum over the flows.",
    },
    "snapshots": {
        "time": "Time of the snapshot.",
        "from": "Node that sends on the link.",
        "from_port": "Its port.",
        "to": "Node that receives.",
        "vl": "Virtual lane.",
        "occupancy": "Share of the input buffer at the link's end that is taken.",
        "waiting": "Bytes that wait for the link at its beginning.",
        "role": "Role of the output at its beginning: `root`, `branch` or `calm`.",
    },
    "queues": {
        "from": "Switch of the output.",
        "from_port": "Its port.",
        "to": "Node at the other end of its link.",
        "vl": "Virtual lane.",
        "mean": "Mean number of bytes that wait; a packet in transmission does not.",
        "min": "Smallest number at any time.",
        "p50": "Number that is not exceeded for half of the time, to 2%.",
        "p95": "Number that is not exceeded for 95% of the time, to 2%.",
        "p99": "Number that is not exceeded for 99% of the time, to 2%.",
        "max": "Largest number at any time.",
    },
    "completion": {
        "group": "Name of the group.",
        "messages": "Messages delivered in the measured window.",
        "unfinished": "Messages that were posted and not delivered by the end.",
        "bytes": "Payload of the delivered messages.",
        **_SPREADS,
    },
    "completion_by_size": {
        "group": "Name of the group.",
        "smallest": "Payload of the smallest of these messages.",
        "largest": "Payload of the largest.",
        "messages": "Number of these messages.",
        **_SPREADS,
    },
    "messages": {
        "group": "Name of the group.",
        "flow": "Number of the flow.",
        "bytes": "Payload of the message.",
        "posted": "When it was posted; with flows that always send, when its first byte left.",
        "first_byte": "When its first byte left the source.",
        "delivered": "When its last byte arrived.",
        "acknowledged": "When the ACK of its last packet came back; NaN if none did.",
        "completion": f"The {_COMPLETION}.",
        "ideal": f"The {_IDEAL}.",
        "slowdown": "`completion` over `ideal`.",
    },
    "completion_times": {
        "group": "Name of the group.",
        "from": "Smallest completion time of the range, in steps of 1 ns.",
        "to": "Time from which on the next range begins; there are 16 between a power of two and the next.",
        "messages": "Messages with a completion time in the range.",
    },
    "frames": {
        "time": "Time of the frame.",
        "vl": "Virtual lane.",
        "occupancy": "Share of the input buffer at each link's end that is taken, of 255.",
        "role": "Role of the output at its beginning: 0 calm, 1 root, 2 branch.",
        "busy": "Share of the time since the frame before in which the link sent, of 255; on any lane.",
        "stalled": "Share of that time in which a packet waited for credit, of 255; on any lane.",
        "marked": "Share of the packets sent in that time that the switch marked, of 255; on any lane.",
    },
    "frames_groups": {
        "time": "Time of the frame.",
        "group": "Name of the group.",
        "rate": "Delivered bytes since the frame before, per time.",
        "marked_share": "Marked over delivered packets in that time; NaN if none was delivered.",
    },
    "pauses": {
        "from": "Node that sends on the link, and is paused.",
        "from_port": "Its port.",
        "to": "Node of the buffer that pauses it.",
        "vl": "Virtual lane.",
        "pauses": "Pauses that began in the measured window.",
        "paused": "Time between a pause and the frame that ends it; `xmit_wait` of `links` is the part in "
        "which packets waited.",
        "paused_share": "The same as a share of the measured window.",
        "headroom": "Bytes that the buffer has above XOFF.",
        "headroom_used": "Most of them that were in use; over the whole run.",
    },
    "spans": {
        "from": "Node of the output.",
        "from_port": "Its port.",
        "to": "Node at the other end of its link.",
        "vl": "Virtual lane.",
        "role": "`root` or `branch`.",
        "begin": "Start of the period; it may lie before the measured window.",
        "end": "Its end, or that of the run.",
    },
}
"""Meaning of each column by table; every table has `replication` besides."""
