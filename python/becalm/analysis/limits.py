"""Limits of the rules: from which value on a sentence is said."""

LEAST_ROOT = 0.05
"""An output is called a root if it was one for at least this share of the measured window."""
LASTING = 0.1
"""A root lasts if its longest period is at least this share of the measured window."""
STANDING = 0.25
"""Control did not hold if a root stood for more than this share of the measured window."""
OVERLOADED = 1.05
"""A link is overloaded if its flows offer more than this multiple of its capacity."""
FULL = 0.9
"""A link is full if it was used for at least this share of the measured window."""
STALLED = 0.1
"""A host receives slowly if the port before it waits for credit for at least this share of the window."""
NEARLY_ALL = 0.9
"""A host is hot if it gets at least this share of what is offered to a link."""
PART = 0.1
"""A job has a part in a collision if it offers at least this share of what the link is offered."""
UNMARKED = 0.001
"""Marking is off if switches mark less than this share of the packets of a standing root."""
SAMPLES = 20
"""Oscillation is judged from at least this many windows of the series that do not overlap."""
SWING = 0.3
"""A link oscillates if its rate varies by more than this share of its mean: standard deviation over mean."""
SWINGS = 4
"""A link oscillates if its rate crosses from well below its mean to well above it, or back, this often."""
SLOWED = 0.1
"""Flows are slowed by marks alone, or a job by others, if that costs them this share or more."""
IDLE = 0.2
"""A link is next to idle if its flows offer less than this share of its capacity."""
STORM = 0.5
"""Pauses are a storm if a host pauses its switch for this share of the window or more."""
STILL = 0.25
"""A job stands still if nothing of it began or ended in this last share of the run."""
MOST = 5
"""Links, groups or hosts that are named one by one; the others are counted."""
