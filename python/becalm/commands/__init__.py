"""Commands that are not in `becalm.cli` itself: each module adds its own to the application."""
