"""Commands outside of `becalm.cli`: each module adds its own to the application."""
