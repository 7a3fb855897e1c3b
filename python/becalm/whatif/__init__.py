"""What if many send to one host: faults of a fabric, and what an incast on it takes from others.

From the bottom: `network` (a scenario's cables and routes), `faults` (what is wrong with them), `incast` (the
runs, with and without congestion control), `show` (tables of all that).
"""
