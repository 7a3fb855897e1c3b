"""InfiniBand fabrics: readers of the tools' output, and a writer of OpenSM's options.

From the bottom up: `rates` (speeds of links), `names` (of nodes, and ranges of them), `fabric` (nodes and
cables), `ibnetdiscover` (reads them), `lfts` (reads forwarding tables), `importing` (makes a scenario of
them), `masks` (of ports), `options` (parameters of congestion control for OpenSM's configuration).
"""
