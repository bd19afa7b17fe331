"""How facts, tables, numbers and bars look on a terminal (rich)."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from likewise.plots.canvas import readable

# Column names that a line lists.
LISTED = 8
# Characters of the longest bar.
BAR = 30
# Blocks of 1/8 to 8/8 of a character; whole ones of another sign where there is only ASCII.
BLOCKS, ASCII = "▏▎▍▌▋▊▉█", "#"


def facts(lines: dict[str, str]) -> Table:
    """Names and values, one pair per line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in lines.items():
        grid.add_row(name, Text(value))
    return grid


def table(*names: str, title: str | None = None, right: bool = True) -> Table:
    """An empty table; its first column is on the left, the others are on the right by default."""
    made = Table(
        title=title,
        title_justify="left",
        title_style="italic",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    made.add_column(names[0], no_wrap=True)
    for name in names[1:]:
        made.add_column(name, justify="right" if right else "left")
    return made


def percent(share: float | None) -> str:
    """Write a share as a percentage, with the digits that matter."""
    if share is None or share != share or share == float("inf"):
        return "-"
    return f"{100 * share:.3f} %" if share >= 1e-5 else f"{100 * share:.1g} %"


def number(value: float | None) -> str:
    """Write a number, or that there is none."""
    return "-" if value is None else readable(value)


def columns(names: Sequence[str] | int | None) -> str:
    """How many columns there are, and what the first ones are called."""
    if names is None or isinstance(names, int):
        return "-" if names is None else str(names)
    shown = ", ".join(names[:LISTED])
    more = f", and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{len(names)} ({shown}{more})"


def counted(count: int, noun: str) -> str:
    """A count and its noun.

    Examples
    --------
    >>> from likewise.app.layout import counted
    >>> counted(1, "set"), counted(1200, "row")
    ('1 set', '1,200 rows')
    """
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def bar(value: float, largest: float, console: Console) -> str:
    """A bar whose length is the size of a value; negative ones are marked by a minus sign."""
    length = BAR * abs(value) / largest if largest > 0 else 0.0
    if console.options.ascii_only:
        drawn = ASCII * round(length)
    else:
        # What is not zero can be seen.
        eighths = max(round(8 * length), int(length > 0))
        drawn = BLOCKS[-1] * (eighths // 8) + BLOCKS[: eighths % 8][-1:]
    return f"-{drawn}" if value < 0 and drawn else drawn


def printed_files(console: Console, files: dict[str, str | None]) -> None:
    """Say what was written where."""
    for name, path in files.items():
        if path is not None:
            console.print(Text(f"{name} written to {path}"), soft_wrap=True)


def printed_notes(warnings: Sequence[str]) -> None:
    """Write warnings to standard error, one line each."""
    for warning in warnings:
        Console(stderr=True).print(Text(f"note: {warning}"), soft_wrap=True)
