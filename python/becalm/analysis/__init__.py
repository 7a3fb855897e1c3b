"""Shared by everything that reads a run: its links and flows, bottlenecks and victims, hot spots, measures.

From the bottom up: `formats` (numbers as text), `limits` (thresholds of the rules), `reference`
(rows that a statement comes from), `network` (cables and routes), `faults` (what is wrong with them),
`facts` (the tables of a run as arrays), `blame` (bottlenecks and their causes), `case` (bottlenecks and
victims of a run), `hot_spots` (scenarios with a hot host), `measures` (their results as numbers).
"""
