"""InfiniBand fabrics: readers of the tools' output, and a writer of OpenSM's options.

From the bottom: `rates` (speeds of links), `names` (of nodes, and ranges of them), `fabric` (nodes and
cables), `ibnetdiscover` (reads them), `lfts` (reads forwarding tables), `importing` (all of it as a
scenario), `masks` (of ports), `options` (parameters of congestion control for OpenSM's configuration).
"""
