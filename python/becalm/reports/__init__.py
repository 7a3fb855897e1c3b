"""Reports: self-contained HTML files that show a run, a sweep or a tuning.

- `page`: the page of results. The compiled core computes the layout and packs the data.
- `points`: the page of a sweep's points or a tuning's trials.
- `source`: the type of source at a path.
- `playground`: the page that runs scenarios in the browser.

`make web` builds `template.html` from `web/`. The built file is committed, so using it does not require Node.
"""

from becalm.reports.page import frame, payload, report
from becalm.results import Results

__all__ = ["payload", "report"]

Results.notebook = staticmethod(frame)
