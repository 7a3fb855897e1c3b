"""Effects of an incast on one host: faults of the fabric, and throughput that other flows lose.

From the bottom up: `incast` (the runs, with and without congestion control), `measured` (port counters),
`case` (arguments of the commands), `kept` (a folder of the runs). Cables, routes and their faults are in
`becalm.analysis`.
"""
