"""Progress of `becalm sweep` and `becalm tune` while runs are computed."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn

from becalm.analysis import formats
from becalm.cli import console
from becalm.runs.task import Done

EVERY = 30.0
"""Seconds between lines if the output is not a terminal."""


class Screen:
    """A bar with runs found, done and failed, runs per second and time left, or lines without a terminal."""

    def __init__(self, total: int, found: int, width: int, *, quiet: bool) -> None:
        self.total = total
        """Number of runs to compute."""
        self.found = found
        self.done = self.failed = 0
        self.wall = 0.0
        """Total seconds of the computed runs."""
        self._width = width
        self._start = self._last = time.monotonic()
        self._lines = not quiet and not console.err.is_terminal
        self._bar = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[state]}"),
            console=console.err,
            transient=True,
            disable=quiet or self._lines,
        )
        self._task = self._bar.add_task("", total=max(total, 1), state=self.state())

    def __enter__(self) -> Screen:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def plan(self, total: int) -> None:
        """Set the number of runs to compute once it is known."""
        self.total = total

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def on_done(self, done: Done) -> None:
        """Record the outcome of a run."""
        if done.error is not None:
            self.failed += 1
        elif done.found:
            self.found += 1
        else:
            self.done += 1
            self.wall += done.wall
        if done.found:
            self.total -= 1
        self._bar.update(
            self._task, total=max(self.total, 1), completed=self.done + self.failed, state=self.state()
        )
        if self._lines and time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            console.err.print(self.state(), soft_wrap=True)

    def state(self) -> str:
        """Return the progress in one line."""
        over = self.done + self.failed
        rate = over / max(self.seconds, 1e-3)
        parts = [f"{self.found} found", f"{over} of {self.total} computed", f"{self.failed} failed"]
        if over:
            parts.append(f"{rate:.1f} runs/s")
        if self.done:
            # Finished work gives a better estimate than finished runs if long runs come first or last.
            left = max(self.wall / self.done / self._width, 1 / rate) * (self.total - over)
            parts.append(f"{formats.seconds(left)} left")
        return ", ".join(parts)
