"""Tables to figures. Nothing here runs a simulation or knows a paper.

`style` makes and saves figures that all look alike; `lines` draws curves out of a table.
"""

from becalm.plot.lines import curves
from becalm.plot.style import COLOURS, MARKERS, figure, panels, save

__all__ = ["COLOURS", "MARKERS", "curves", "figure", "panels", "save"]
