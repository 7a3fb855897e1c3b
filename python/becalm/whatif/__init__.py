"""Effects of an incast on one host: faults of the fabric, and throughput that other flows lose.

From the bottom: `incast` (the runs, with and without congestion control), `measured` (counters of ports),
`case` (what the commands ask). Cables, routes and their faults are in `becalm.analysis`.
"""
