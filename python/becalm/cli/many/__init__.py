"""Panel "Many runs": sweeps, tunings, comparisons, and the stores of their runs."""
