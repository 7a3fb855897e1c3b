"""The types of the C interface `becalm.h` for ctypes. A test compares them with the header."""

from __future__ import annotations

import ctypes as c
from typing import Any

ABI = 1
SEAMS = ("response", "marking", "echo")
KINDS = ("number", "integer", "truth", "time", "word")


class Value(c.Union):
    """`becalm_value`."""

    _fields_ = (("number", c.c_double), ("integer", c.c_int64))


class Parameter(c.Structure):
    """`becalm_parameter`."""

    _fields_ = (
        ("name", c.c_char_p),
        ("unit", c.c_char_p),
        ("doc", c.c_char_p),
        ("words", c.POINTER(c.c_char_p)),
        ("kind", c.c_uint32),
        ("word_count", c.c_uint32),
        ("fallback", Value),
        ("least", Value),
        ("most", Value),
    )


class Context(c.Structure):
    """`becalm_context`."""

    _fields_ = (
        ("parameters", c.c_void_p),
        ("power", c.c_void_p),
        ("exponential", c.c_void_p),
        ("logarithm", c.c_void_p),
    )


class Flow(c.Structure):
    """`becalm_flow`."""

    _fields_ = (
        ("rate", c.c_double),
        ("base_rtt", c.c_uint64),
        ("longest_rtt", c.c_uint64),
        ("mtu", c.c_uint32),
        ("header", c.c_uint32),
        ("hops", c.c_uint32),
        ("reserved", c.c_uint32),
    )


class Hop(c.Structure):
    """`becalm_hop`."""

    _fields_ = (
        ("at", c.c_uint64),
        ("sent", c.c_uint64),
        ("waiting", c.c_uint64),
        ("rate", c.c_double),
        ("node", c.c_uint32),
        ("port", c.c_uint32),
    )


class Ack(c.Structure):
    """`becalm_ack`."""

    _fields_ = (
        ("rtt", c.c_uint64),
        ("held", c.c_uint64),
        ("marked", c.c_uint32),
        ("covers", c.c_uint32),
        ("sequence", c.c_uint32),
        ("next", c.c_uint32),
        ("trail", c.c_void_p),
        ("hops", c.c_uint64),
    )


class Sent(c.Structure):
    """`becalm_sent`."""

    _fields_ = (("now", c.c_uint64), ("bytes", c.c_uint32), ("in_flight", c.c_uint32))


class Pace(c.Structure):
    """`becalm_pace`."""

    _fields_ = (
        ("gap", c.c_double),
        ("timer", c.c_uint64),
        ("window", c.c_uint32),
        ("failed", c.c_uint32),
    )


class Response(c.Structure):
    """`becalm_response`."""

    _fields_ = (
        ("state_bytes", c.c_uint64),
        ("trail_bytes", c.c_uint32),
        ("flags", c.c_uint32),
        ("start", c.c_void_p),
        ("ack", c.c_void_p),
        ("becn", c.c_void_p),
        ("timer", c.c_void_p),
        ("restart", c.c_void_p),
        ("sent", c.c_void_p),
    )


class Switch(c.Structure):
    """`becalm_switch`."""

    _fields_ = (
        ("name", c.c_void_p),
        ("host_ports", c.c_void_p),
        ("capacity", c.c_uint32),
        ("ports", c.c_uint16),
        ("vls", c.c_uint16),
    )


class Packet(c.Structure):
    """`becalm_packet`."""

    _fields_ = (
        ("now", c.c_uint64),
        ("order", c.c_uint64),
        ("size", c.c_uint32),
        ("tie", c.c_uint32),
        ("switch_rank", c.c_uint32),
        ("input", c.c_uint16),
        ("output", c.c_uint16),
        ("vl", c.c_uint16),
        ("kind", c.c_uint8),
        ("waits", c.c_uint8),
        ("reserved", c.c_uint32),
    )


class Questions(c.Structure):
    """`becalm_questions`."""

    _fields_ = (
        ("room", c.c_void_p),
        ("waiting", c.c_void_p),
        ("waiting_bytes", c.c_void_p),
        ("present", c.c_void_p),
        ("present_from", c.c_void_p),
        ("credit", c.c_void_p),
        ("blocked_until", c.c_void_p),
        ("packet_time", c.c_void_p),
        ("draw", c.c_void_p),
    )


class View(c.Structure):
    """`becalm_view`."""

    _fields_ = (
        ("ask", c.c_void_p),
        ("switch_", c.c_void_p),
        ("ports", c.c_uint16),
        ("vls", c.c_uint16),
        ("failed", c.c_uint32),
    )


class Marker(c.Structure):
    """`becalm_marker`."""

    _fields_ = (
        ("state_bytes", c.c_uint64),
        ("lane_bytes", c.c_uint64),
        ("attention", c.c_uint32),
        ("flags", c.c_uint32),
        ("start", c.c_void_p),
        ("arrived", c.c_void_p),
        ("stored", c.c_void_p),
        ("departing", c.c_void_p),
    )


class Received(c.Structure):
    """`becalm_received`."""

    _fields_ = (
        ("now", c.c_uint64),
        ("notified", c.c_uint64),
        ("injected", c.c_uint64),
        ("size", c.c_uint32),
        ("sequence", c.c_uint32),
        ("packets", c.c_uint32),
        ("marks", c.c_uint32),
        ("flow", c.c_uint32),
        ("vl", c.c_uint16),
        ("marked", c.c_uint8),
        ("last", c.c_uint8),
    )


class Answer(c.Structure):
    """`becalm_answer`."""

    _fields_ = (
        ("ack", c.c_uint32),
        ("marks", c.c_uint32),
        ("cnp", c.c_uint32),
        ("failed", c.c_uint32),
    )


class Echo(c.Structure):
    """`becalm_echo`."""

    _fields_ = (("ack_every", c.c_uint32), ("reserved", c.c_uint32), ("answer", c.c_void_p))


class Scheme(c.Structure):
    """`becalm_scheme`."""

    _fields_ = (
        ("abi", c.c_uint32),
        ("seam", c.c_uint32),
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("parameters", c.POINTER(Parameter)),
        ("parameter_count", c.c_uint64),
        ("functions", c.c_void_p),
    )


STRUCTURES: dict[str, type[Any]] = {
    f"becalm_{kind.__name__.lower()}": kind
    for kind in (
        Value,
        Parameter,
        Context,
        Flow,
        Hop,
        Ack,
        Sent,
        Pace,
        Response,
        Switch,
        Packet,
        Questions,
        View,
        Marker,
        Received,
        Answer,
        Echo,
        Scheme,
    )
}
"""All types by name in the header."""
