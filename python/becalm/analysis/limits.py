"""Thresholds of the rules."""

LEAST_ROOT = 0.05
"""An output counts as a root if it was one for at least this share of the measured window."""
LASTING = 0.1
"""A root is persistent if its longest period is at least this share of the measured window."""
STANDING = 0.25
"""Control does not hold an output that was a root for at least this share of the measured window."""
OVERLOADED = 1.05
"""A link is overloaded if its flows offer more than this multiple of its capacity."""
FULL = 0.9
"""A link is full if its utilization is at least this value."""
STALLED = 0.1
"""A host is a slow receiver if the port to it waits for credit for at least this share of the window."""
NEARLY_ALL = 0.9
"""A host is hot if at least this share of the traffic offered to a link is destined for this host."""
MOSTLY = 0.5
"""A wrongly cabled switch is to blame for a bottleneck if this share of the offered traffic crosses it."""
PART = 0.1
"""A group of flows is part of a collision if it offers at least this share of the link's offered traffic."""
UNMARKED = 0.001
"""Marking has no effect if switches mark less than this share of the packets at a persistent root."""
SAMPLES = 20
"""Minimum number of non-overlapping windows of a series from which oscillation can be detected."""
SWING = 0.3
"""A link oscillates if the standard deviation of its rate exceeds this share of the mean."""
SWINGS = 4
"""Minimum number of swings of an oscillating link's rate from well below to well above its mean, or back."""
SLOWED = 0.1
"""A job is slowed if its duration grows by this share, and flows are slowed if marks cost them this share."""
UNEVEN = 1.1
"""Paths collide on a link if it is offered this multiple of what evenly spread flows would offer it."""
STORM = 0.5
"""Pauses may be a storm if a host pauses its switch for at least this share of the window."""
REACHED = 0.95
"""A buffer or window limits a flow if it allows less than this share, of which the flow gets about all."""
STILL = 0.25
"""A job has stopped if none of its operations began or ended in this last share of the run."""
SLOWER = 0.9
"""A host is slower than the others of its job if it has less than this share of their usual rate."""
SATURATED = 0.8
"""A slower host delays its job if it used this share of its rate while the job ran."""
HELD = 0.1
"""Control costs a job too much if the job gains this share of its time without control."""
STARVED = 0.5
"""A lane starves if it gets less than this share of what it would get with equal weights."""
MOST = 5
"""Maximum number of links, groups or hosts that a sentence names; the others are only counted."""
