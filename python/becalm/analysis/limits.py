"""Limits of the rules: the values from which a sentence applies."""

LEAST_ROOT = 0.05
"""An output is called a root if it was one for at least this share of the measured window."""
LASTING = 0.1
"""A root lasts if its longest period is at least this share of the measured window."""
STANDING = 0.25
"""Control did not hold if a root stood for more than this share of the measured window."""
OVERLOADED = 1.05
"""A link is overloaded if its flows offer more than this multiple of its capacity."""
FULL = 0.9
"""A link is full if its utilization is at least this."""
STALLED = 0.1
"""A host receives slowly if the port before it waits for credit for at least this share of the window."""
NEARLY_ALL = 0.9
"""A host is hot if it gets at least this share of the traffic offered to a link."""
PART = 0.1
"""A job is part of a collision if it offers at least this share of the link's offered traffic."""
UNMARKED = 0.001
"""Marking has no effect if switches mark less than this share of the packets of a standing root."""
SAMPLES = 20
"""Oscillation needs at least this number of non-overlapping windows of the series."""
SWING = 0.3
"""A link oscillates if the standard deviation of its rate exceeds this share of the mean."""
SWINGS = 4
"""A link oscillates if its rate swings from well below to well above its mean, or back, this many times."""
SLOWED = 0.1
"""Flows are slowed by marks alone, or a job by others, if that costs them this share or more."""
IDLE = 0.2
"""A link is almost idle if its flows offer less than this share of its capacity."""
STORM = 0.5
"""Pauses are a storm if a host pauses its switch for this share of the window or more."""
STILL = 0.25
"""A job has stopped if none of its operations began or ended in this last share of the run."""
MOST = 5
"""Maximum number of links, groups or hosts that a sentence lists; it only counts the others."""
