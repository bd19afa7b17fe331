"""Markdown tables of benchmark figures, printed line by line and kept in files."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

# A row holds figures by name; a table shows some of them: heading -> (figure, format).
Row = dict[str, Any]
Columns = Mapping[str, tuple[str, str]]


def heading(columns: Columns) -> str:
    """The first two lines of a table."""
    return f"{_line(list(columns))}\n{_line(['---'] * len(columns))}"


def line(columns: Columns, row: Row) -> str:
    """A row of a table; a figure that is None is shown as "none"."""
    shown = ((row[figure], form) for figure, form in columns.values())
    return _line(["none" if value is None else format(value, form) for value, form in shown])


def write(
    path: Path,
    columns: Columns,
    rows: Sequence[Row],
    summary: Sequence[str],
    packages: Sequence[str],
) -> None:
    """Table, summary and versions to ``path`` with suffix .md, all figures to .json."""
    versions = {"python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in packages}
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    table = [heading(columns), *(line(columns, row) for row in rows)]
    text = "\n".join([*table, "", *summary, "", f"One thread; {used}.", ""])
    figures = json.dumps({"versions": versions, "rows": rows}, indent=1, allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    path.with_suffix(".json").write_text(figures + "\n", encoding="utf-8")


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
