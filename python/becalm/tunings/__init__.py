"""A tuner: searches parameters of congestion control for a fabric and its traffic, with confidence intervals.

From the bottom: `goals` (objectives), `space` (searched parameters), `evaluate` (runs, in a store), `study`
(the search, by Optuna), `tuned` (the result), `api` (`becalm.tune`), `spec` (a tuning as a file). Scenarios
of the trials and their measures are in `becalm.analysis`.
"""

from becalm.analysis.hot_spots import Case, HotSpot
from becalm.tunings.api import tune
from becalm.tunings.goals import Goals
from becalm.tunings.space import Space
from becalm.tunings.tuned import Tuned

__all__ = ["Case", "Goals", "HotSpot", "Space", "Tuned", "tune"]
