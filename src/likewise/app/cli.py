"""The ``likewise`` script."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line with the arguments of the process, and exit."""
    try:
        from likewise.app.commands import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("likewise"):
            raise
        sys.stderr.write(
            f"error: the command line needs {error.name}: pip install 'likewise[app]'\n"
        )
        raise SystemExit(1) from None
    app(prog_name="likewise")


if __name__ == "__main__":
    main()
