"""Panel "InfiniBand fabric": import a fabric, set and check its parameters, predict an incast."""
