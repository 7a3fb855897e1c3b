"""Panel "Many runs": sweeps, tunings, comparisons, and the stores that keep their runs."""
