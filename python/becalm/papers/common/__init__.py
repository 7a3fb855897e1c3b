"""What santos2002 and santos2003 share: marking policies, measures and figures on one dumbbell.

What the papers leave open is decided here, once:

- arbitration is oldest first over all inputs of a switch; an input buffer may feed several outputs at once;
- where the text states no interval for the victim, it starts at 40 ms, as where it states one, and stays.
"""
