"""Files of other simulators: those of HPCC's ns-3 and its relatives, and topologies of htsim.

From the bottom up: `graph` (nodes and cables), `topologies` (reads them), `htsim` (reads its trees), `config`
(configurations and flows), `control` (congestion control), `importing` (makes scenarios), and `fct` (writes
completion times in HPCC's columns).
"""
