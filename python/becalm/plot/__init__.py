"""Figures from tables. Nothing here runs a simulation or depends on a paper.

`style` creates and saves figures in a common style, with curves from a table, and `fabric` draws a network
with its congestion.
"""

from becalm.plot.fabric import draw_fabric
from becalm.plot.style import (
    COLOURS,
    FORMATS,
    MARKERS,
    ROLES,
    SCHEMES,
    curves,
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
