"""User-defined schemes: Python classes, classes compiled by Numba, and libraries with a C interface.

`base` contains the base classes, and `loading` finds schemes by FILE:NAME, also in shared libraries.
`declare` creates declarations from classes, with the types of `abi`. `compiled` compiles classes with Numba,
and `objects` instantiates the others. `failure` explains exceptions. All use the interface `becalm.h`.
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
