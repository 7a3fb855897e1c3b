"""Reports: one HTML file that shows a run, a sweep or a tuning, and loads nothing.

- `page`: from results to the page; layout and packing are in the compiled core.
- `points`: from the points of a sweep or the trials of a tuning to the page.
- `source`: what a path refers to.
- `playground`: the page that runs scenarios itself.

`template.html` is built from `web/` by `make web`, and committed: using it does not require Node.
"""

from becalm.reports.page import frame, payload, report
from becalm.results import Results

__all__ = ["payload", "report"]

Results.notebook = staticmethod(frame)
