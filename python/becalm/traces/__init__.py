"""Traces of single packets, messages, waits, roles and gaps, for existing tools.

`becalm.trace` runs a scenario again and records the chosen flows, links and times. A `Trace` holds the
tables, and writes them as Parquet, as a Chrome trace for Perfetto, and as captures for Wireshark.

From the bottom up: `recording` (tables), `capture` (pcap files of InfiniBand frames), `chrome` (JSON for
Perfetto), `record` (the run).
"""

from becalm.traces.record import Trace, trace

__all__ = ["Trace", "trace"]
