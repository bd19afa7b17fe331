"""Write ``cli.md`` from the command line's own definitions: ``python docs/generate_cli.py``.

``tests/test_docs.py`` fails when the page on disk is not what this writes.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

import typer

from likewise.app.commands import app

PAGE = Path(__file__).with_name("cli.md")
INTRODUCTION = """\
# Command line

<!-- Written by generate_cli.py from the program itself; do not edit. -->

The program `likewise` comes with the [extra `app`](install.md). Below, every command with its
options; `likewise COMMAND --help` shows the same.
"""
EXIT_CODES = """
## Exit codes

| code | meaning |
| --- | --- |
| 0 | done |
| 1 | the data, a file or the machine is at fault: one line on standard error says how |
| 2 | the command line was not understood |
| 130 | interrupted with Ctrl-C |

An error shows no traceback, unless `--debug` comes before the command:
`likewise --debug cluster DATA`.
"""


def program() -> Any:
    """The whole program: its own options in ``params``, its commands in ``commands``."""
    return typer.main.get_command(app)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _value(item: Any) -> str:
    """What to put for the value of an argument or option."""
    if item.metavar:
        return f"{item.metavar}..." if item.nargs == -1 else str(item.metavar)
    if isinstance(item.default, Enum):
        return "|".join(choice.value for choice in type(item.default))
    return str(item.name.upper())


def _spelling(item: Any) -> str:
    if item.param_type_name == "argument":
        return f"`{_value(item)}`"
    value = "" if item.is_flag else f" {_value(item)}"
    return ", ".join(f"`{text}{value}`" for text in [*item.opts, *item.secondary_opts])


def _default(item: Any) -> str:
    if item.required:
        return "required"
    default = item.default.value if isinstance(item.default, Enum) else item.default
    shown = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    return f"`{default}`" if shown else ""


def _rows(command: Any) -> list[str]:
    shown = [item for item in command.params if not getattr(item, "hidden", False)]
    if not shown:
        return []
    rows = [
        " | ".join(["", _cell(_spelling(item)), _cell(item.help or ""), _default(item), ""]).strip()
        for item in shown
    ]
    return ["", "| | meaning | default |", "| --- | --- | --- |", *rows]


def _usage(name: str, command: Any) -> str:
    arguments = [_value(item) for item in command.params if item.param_type_name == "argument"]
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
    return "\n".join([*lines, EXIT_CODES])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
