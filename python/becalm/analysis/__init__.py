"""Shared analysis of runs: links and flows, bottlenecks and victims, hot spots, measures.

From the bottom up: `formats` (numbers as text), `limits` (thresholds of the rules), `reference`
(sources of statements), `faults` (faults of cables and routes), `facts` (the tables of a run as arrays),
`blame` (bottlenecks and their causes), `case` (bottlenecks and victims of a run), `hot_spots` (scenarios
with a hot host), `measures` (measures of their results).
"""
