"""Tables to figures. Nothing here runs a simulation or knows a paper.

`style` makes and saves figures that all look alike; `lines` draws curves out of a table, `fabric` a network
with its congestion.
"""

from becalm.plot.fabric import draw_fabric
from becalm.plot.lines import curves
from becalm.plot.style import (
    COLOURS,
    FORMATS,
    MARKERS,
    ROLES,
    SCHEMES,
    figure,
    legend,
    panels,
    save,
    scheme_colours,
)

__all__ = [
    "COLOURS",
    "FORMATS",
    "MARKERS",
    "ROLES",
    "SCHEMES",
    "curves",
    "draw_fabric",
    "figure",
    "legend",
    "panels",
    "save",
    "scheme_colours",
]
