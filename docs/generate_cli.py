"""Write ``cli.md`` from the command line's own definitions: ``python docs/generate_cli.py``.

``tests/test_docs.py`` fails when the page on disk is not what this writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from likewise.app.cli import app

PAGE = Path(__file__).with_name("cli.md")
INTRODUCTION = """\
# Command line

<!-- Written by generate_cli.py from the program itself; do not edit. -->

Installed with the extra `app`: `pip install "likewise[app]"`.
"""


def program() -> Any:
    """The whole program: its own options in ``params``, its commands in ``commands``."""
    return typer.main.get_command(app)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _spelling(item: Any) -> str:
    if item.param_type_name == "argument":
        return f"`{item.metavar or item.name.upper()}`"
    value = "" if item.is_flag else f" {item.metavar or item.name.upper()}"
    return ", ".join(f"`{text}{value}`" for text in [*item.opts, *item.secondary_opts])


def _default(item: Any) -> str:
    if item.required:
        return "required"
    shown = isinstance(item.default, str | int | float) and not isinstance(item.default, bool)
    return f"`{item.default}`" if shown else ""


def _rows(command: Any) -> list[str]:
    shown = [item for item in command.params if not getattr(item, "hidden", False)]
    if not shown:
        return []
    rows = [
        f"| {_spelling(item)} | {_cell(item.help or '')} | {_default(item)} |" for item in shown
    ]
    return ["", "| | meaning | default |", "| --- | --- | --- |", *rows]


def _usage(name: str, command: Any) -> str:
    arguments = [
        item.metavar or item.name.upper()
        for item in command.params
        if item.param_type_name == "argument"
    ]
    return " ".join(["likewise", name, *arguments, "[OPTIONS]"])


def page() -> str:
    """The text of the page."""
    whole = program()
    lines = [INTRODUCTION, (whole.help or "").strip(), *_rows(whole)]
    for name, command in whole.commands.items():
        if command.hidden:
            continue
        lines += ["", f"## {name}", "", f"    {_usage(name, command)}", ""]
        lines += [(command.help or "").strip(), *_rows(command)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
