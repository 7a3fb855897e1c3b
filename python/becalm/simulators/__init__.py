"""Files of other simulators: those of HPCC's ns-3 and its relatives, and topologies of htsim.

From the bottom up: `graph` (nodes and cables), `topologies` (reads them), `htsim` (reads its trees), `config`
(configurations and flows), `control` (congestion control), `importing` (makes scenarios), `connections`
(reads htsim's connection matrices), and `fct` (writes completion times in HPCC's columns).
"""

from becalm.simulators.connections import read_connection_job, read_connection_matrix

__all__ = ["read_connection_job", "read_connection_matrix"]
