"""Tables of the command line. Numbers are never cut: a table wider than the screen continues below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from becalm.base.mistakes import printable

MOST_NAME = 28
"""Screen columns that a name may occupy before it wraps."""
_FRAME = 3
"""Screen columns of a cell's border and padding."""


def safe(text: str) -> str:
    """Return a text with rich's markup and control characters escaped."""
    return escape(printable(text))


class Whole(Table):
    """A table whose first `text` columns are names, which wrap. The others are numbers, which do not wrap.

    If the numbers do not fit next to the names, the last columns follow in further tables that repeat the
    names.
    """

    def __init__(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], text: int) -> None:
        super().__init__()
        self.head, self.names, self.given = title, text, (tuple(columns), [tuple(row) for row in rows])
        self._fill(range(len(columns)))

    def _fill(self, chosen: Iterable[int]) -> None:
        columns, rows = self.given
        places = list(chosen)
        for place in places:
            name = place < self.names
            justify, overflow = ("left", "fold") if name else ("right", "ellipsis")
            least = self._name(place) if name else self._least(place)
            self.add_column(columns[place], justify=justify, overflow=overflow, min_width=least)  # type: ignore[arg-type]
        for row in rows:
            self.add_row(*[safe(row[place]) for place in places])

    def _name(self, place: int) -> int:
        """Width of the names of a column, up to which they do not wrap."""
        columns, rows = self.given
        return min(MOST_NAME, max(cell_len(text) for text in (columns[place], *(row[place] for row in rows))))

    def _least(self, place: int) -> int:
        """Width of the numbers of a column and the longest word of its heading."""
        columns, rows = self.given
        words = [*columns[place].split(), *(row[place] for row in rows)]
        return max((cell_len(word) for word in words), default=1)

    def parts(self, width: int) -> Iterator[Whole]:
        """Split the table into tables of at most this width, if the names and any one column fit."""
        columns, _ = self.given
        names = [self._name(place) for place in range(min(self.names, len(self.given[0])))]
        first, chosen = True, list[int]()
        numbers = range(len(names), len(columns))
        room = used = width - 1 - sum(names) - _FRAME * len(names)
        for place in numbers:
            needed = self._least(place) + _FRAME
            if chosen and needed > used:
                yield self._part([*range(len(names)), *chosen], last=False)
                first, chosen, used = False, [], room
            chosen.append(place)
            used -= needed
        yield self if first else self._part([*range(len(names)), *chosen], last=True)

    def _part(self, places: Sequence[int], *, last: bool) -> Whole:
        made = Whole("", (), (), self.names)
        made.given = self.given
        made._fill(places)
        made.caption, made.caption_justify = self.caption if last else None, self.caption_justify
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table, in parts if it is too wide."""
        # Rich would wrap the title to the width of the table.
        yield Text(self.head, style="bold")
        for part in self.parts(options.max_width):
            yield from Table.__rich_console__(part, console, options)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, text: int = 1) -> Whole:
    """Return a table whose first `text` columns are left-aligned and the others right-aligned."""
    return Whole(title, columns, rows, text)
