"""InfiniBand fabrics: readers of the tools' output, and a writer of OpenSM's options.

From the bottom up: `rates` (speeds of links), `names` (of nodes, and ranges of them), `fabric` (nodes and
cables), `ibnetdiscover` (reads them), `lfts` (reads forwarding tables), `path_records` and `lanes` (read
service levels of paths and their virtual lanes), `importing` (makes a scenario of them), `inputs` (tells
files apart), `masks` (of ports), `service_levels` (to set up), `options` (parameters of congestion control
for OpenSM's configuration).
"""
