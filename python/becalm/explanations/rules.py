"""All rules, in the order in which their sentences appear."""

from becalm.explanations import advice, control, endings, faults, holding, jobs, lanes, pauses, spread
from becalm.explanations.model import TOPICS
from becalm.explanations.rule import RULES as _FOUND

__all__ = ["RULES", "advice", "control", "endings", "faults", "holding", "jobs", "lanes", "pauses", "spread"]

RULES = sorted(_FOUND, key=lambda rule: list(TOPICS).index(rule.topic))
