"""Code shared by santos2002 and santos2003: marking policies, measures and figures on one dumbbell.

Points that the papers leave open are decided here:

- arbitration is oldest first over all inputs of a switch, and an input buffer may feed several outputs
  simultaneously;
- if the text states no interval for the victim, it starts at 40 ms, as in the other scenes, and never stops.
"""
