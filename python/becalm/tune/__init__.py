"""A tuner: searches parameters of congestion control for a fabric and its traffic, with confidence intervals.

From the bottom: `cases` (scenarios of the trials), `measures` and `goals` (objectives), `space` (searched
parameters), `evaluate` (runs, in a store), `study` (the search, by Optuna), `tuned` (the result), `api`
(`becalm.tune`), `spec` and `cli` (`becalm tune`).
"""

from becalm.tune.api import tune
from becalm.tune.cases import Case, HotSpot
from becalm.tune.goals import Goals
from becalm.tune.space import Space
from becalm.tune.tuned import Tuned

__all__ = ["Case", "Goals", "HotSpot", "Space", "Tuned", "tune"]
