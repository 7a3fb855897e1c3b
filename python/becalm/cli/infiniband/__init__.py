"""Panel "InfiniBand fabric": import it, set its parameters, check them, foresee an incast."""
