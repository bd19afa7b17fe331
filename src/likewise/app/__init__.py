"""The command line: ``likewise demo | cluster | inspect``.

::

    cli.py         entry point: the ``likewise`` script
    commands.py    arguments, options, exit codes (typer); loads nothing heavy before a command runs
    terminal.py    tables, progress bar, JSON (rich)
    tasks.py       what ``cluster`` and ``inspect`` do, without a terminal
    demo.py        what ``demo`` does: our result beside its nearest peers
    tables.py      reading data files; csv_tables.py: CSV; columns.py: which columns, which cells
"""
