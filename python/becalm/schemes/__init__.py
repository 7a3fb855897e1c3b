"""User-defined schemes: Python classes, the same classes compiled by Numba, libraries with a C interface.

`base` has the classes to derive from, `loading` finds schemes by FILE:NAME, `library` loads those of shared
libraries, `declare` makes declarations from classes, with the types of `abi`; `compiled` has Numba compile
them, `objects` makes objects of the others. `failure` explains exceptions. All use the interface `becalm.h`.
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
