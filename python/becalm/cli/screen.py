"""Progress of commands with many runs while these are computed."""

from __future__ import annotations

import time
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn

from becalm.analysis import formats
from becalm.base.progress import SweepProgress
from becalm.cli import console
from becalm.runs.task import Done

EVERY = 30.0
"""Seconds between lines if the output is not a terminal."""


class Screen:
    """A bar with runs found, done and failed, runs per second and time left, or lines without a terminal."""

    def __init__(self, total: int = 0, found: int = 0, work: float = 0.0, *, quiet: bool) -> None:
        self.total = total
        """Number of runs to compute; 0 while it is not known."""
        self.work = work
        """Estimated number of their packet-hops; 0 if it is not known."""
        self.found = found
        self.done = self.failed = 0
        self.left: float | None = None
        """Estimated seconds left."""
        self._over = 0.0
        self._start = self._last = time.monotonic()
        self._quiet = quiet
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
        over = self.done + self.failed
        if done.found:
            self.total = max(0, self.total - 1)
            self.work -= done.work
        elif self.work > 0.0:
            # The longest runs come first, so that finished runs would say too much.
            self._over += done.work
            self.left = self.seconds * (self.work / self._over - 1.0)
        elif self.total:
            self.left = self.seconds * (max(self.total, over) / over - 1.0)
        self._update()

    def on_progress(self, now: SweepProgress) -> None:
        """Record the progress of experiments."""
        self.found, self.done = now.found, now.finished - now.found
        self.total, self.left = now.points - now.found, now.left
        self._update()

    def tell_found(self, store: Path | None) -> None:
        """Print how many runs were in the store."""
        if store is not None and not self._quiet:
            every = self.found + self.done
            console.err.print(f"{self.found} of {every} runs found in {store}", soft_wrap=True, markup=False)

    def _update(self) -> None:
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
        computed = f"{over} of {self.total}" if self.total else str(over)
        parts = [f"{self.found} found", f"{computed} computed", f"{self.failed} failed"]
        if over:
            parts.append(f"{rate:.1f} runs/s")
        if self.left is not None:
            parts.append(f"{formats.seconds(self.left)} left")
        return ", ".join(parts)
