"""A tuner of congestion control parameters for a fabric and its traffic, with confidence intervals.

From the bottom up: `population` (random cases), `goals` (objectives), `space` (searched parameters),
`evaluate` (runs in a store), `study` (the race with Optuna), `verdict` (comparison of all rows and the
recommendation), `tuned` (the result), `api` (`becalm.tune`), `guidelines` (effects of guidelines), `spec` (a
tuning as a file). Measures of runs are in `becalm.analysis`.
"""

from becalm.analysis.hot_spots import Case
from becalm.tunings.api import tune
from becalm.tunings.goals import Goals
from becalm.tunings.population import HotSpot, Population
from becalm.tunings.space import Space
from becalm.tunings.tuned import Tuned

__all__ = ["Case", "Goals", "HotSpot", "Population", "Space", "Tuned", "tune"]
