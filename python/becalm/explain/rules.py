"""All rules, in the order in which they speak."""

from becalm.explain import advice, control, pauses, spread
from becalm.explain.model import TOPICS
from becalm.explain.rule import RULES as _FOUND

__all__ = ["RULES", "advice", "control", "pauses", "spread"]

RULES = sorted(_FOUND, key=lambda rule: list(TOPICS).index(rule.topic))
