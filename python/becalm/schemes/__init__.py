"""User-defined schemes: Python classes, the same classes compiled by Numba, libraries by a C interface.

`base` has the classes to derive from, `loading` finds schemes by FILE:NAME, `library` loads those of
shared libraries,
`declare` makes declarations of classes, with the types of `abi`; `compiled` has Numba compile them,
`objects` makes objects
of the others. `failure` says what went wrong. All end in the interface of `becalm.h`.
"""

from becalm.schemes.base import (
    MS,
    NEVER,
    NO_ACK,
    NS,
    UNLIMITED,
    US,
    Answer,
    Echo,
    Lanes,
    Marker,
    Parameter,
    Response,
    S,
    Scheme,
)
from becalm.schemes.functions import exponential, logarithm, native, power

__all__ = [
    "MS",
    "NEVER",
    "NO_ACK",
    "NS",
    "UNLIMITED",
    "US",
    "Answer",
    "Echo",
    "Lanes",
    "Marker",
    "Parameter",
    "Response",
    "S",
    "Scheme",
    "exponential",
    "logarithm",
    "native",
    "power",
]
