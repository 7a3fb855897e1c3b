"""Effects of an incast on one host: faults of the fabric, and throughput that other flows lose.

From the bottom: `network` (a scenario's cables and routes), `faults` (what is wrong with them), `incast` (the
runs, with and without congestion control), `show` (tables of all that).
"""
