"""What all that looks at a run shares: its links and flows, bottlenecks and victims, hot spots, measures.

From the bottom: `formats` (numbers as text), `limits` (from which value on something counts), `reference`
(rows that a statement comes from), `network` (cables and routes), `faults` (what is wrong with them),
`facts` (the tables of a run as arrays), `blame` (bottlenecks and their causes), `case` (bottlenecks and
victims of a run), `hot_spots` (scenarios with a hot host), `measures` (their results as numbers).
"""
