"""RoCE fabrics of SONiC switches: readers of their configuration, and checks of it.

From the bottom up: `lines` (positions in JSON), `tables` (rows of a switch's databases), `headroom` (what a
cable needs), `switch` (ports, queues and priority groups), `hosts` (classes of adapters), `fabric` (cables
between switches), `classes` (what a switch does with a DSCP), and the checks: `buffers`, `marks`, `queues`,
`watchdog`, `cables`, `check`. `counters` reads counters of pauses, and `storms` finds the roots of pauses.
`importing` makes a scenario, `patches` and `vendors` write settings of a scenario for switches.
"""
