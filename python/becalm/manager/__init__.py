"""The congestion control manager: sets parameters of congestion control and warns of those that fail.

Two guidelines are from papers. `pfister2005` (section VI-C) derives the parameters from the network size and
the largest number of contributors. `gran2010` (Table I, section VII) uses the values that worked on the first
hardware. becalm's own use the values that searches on several fabrics have in common (docs/advice.md).
`roce` sets the marking thresholds of Ethernet switches.
"""

from becalm.manager.concerns import Balance, balance, certain, longest_unwind, review, starving, unwind
from becalm.manager.guidelines import GUIDELINES, OWN, PUBLISHED, check_guideline, guidelines_for, recommend
from becalm.manager.own import SHAPES, fine, table
from becalm.manager.ramp import pauses, ports
from becalm.manager.roce import GUIDELINES as ROCE
from becalm.manager.roce import STANDING, is_roce
from becalm.manager.settings import (
    AS_IT_IS,
    DEFAULT,
    ENTRIES,
    MAX_MULTIPLIER,
    MAX_SHIFT,
    TIMER,
    TIMER_UNIT,
    Choice,
    Concern,
    Recommendation,
    Setting,
    nearest,
)

__all__ = [
    "AS_IT_IS",
    "DEFAULT",
    "ENTRIES",
    "GUIDELINES",
    "MAX_MULTIPLIER",
    "MAX_SHIFT",
    "OWN",
    "PUBLISHED",
    "ROCE",
    "SHAPES",
    "STANDING",
    "TIMER",
    "TIMER_UNIT",
    "Balance",
    "Choice",
    "Concern",
    "Recommendation",
    "Setting",
    "balance",
    "certain",
    "check_guideline",
    "fine",
    "guidelines_for",
    "is_roce",
    "longest_unwind",
    "nearest",
    "pauses",
    "ports",
    "recommend",
    "review",
    "starving",
    "table",
    "unwind",
]
