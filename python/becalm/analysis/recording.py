"""What a run must record for its page."""

from __future__ import annotations

from becalm.scenario import Scenario

MOST_PROGRAMS = 10_000_000
"""Size of the jobs' programs, at 57 bytes per operation, above which a page records no operations."""


def recording(scenario: Scenario) -> Scenario:
    """Return a scenario that also records the data for its page. The run stays the same."""
    observe = scenario.resolved["observe"]
    changes: dict[str, object] = {}
    if observe["frames"] is None:
        changes["observe.frames"] = "auto"
    if not observe["spans"]:
        changes["observe.spans"] = True
    if scenario.core.memory_estimate["programs"] <= MOST_PROGRAMS:
        jobs = [job for job in scenario.resolved["jobs"] if not job["record_ops"]]
        changes |= {f"jobs.{job['name']}.record_ops": True for job in jobs}
    return scenario.replace(changes) if changes else scenario
