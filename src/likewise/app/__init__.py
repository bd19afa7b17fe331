"""The command line: ``likewise demo | cluster | inspect``.

::

    cli.py         entry point: the ``likewise`` script
    commands.py    the commands and their exit codes; loads nothing heavy before one runs (typer)
    options.py     their options (typer)
    terminal.py    tables, progress bar, JSON (rich)
    tasks.py       what ``cluster`` and ``inspect`` do, without a terminal
    demo.py        what ``demo`` does: our result beside its nearest peers
    tables.py      reading data files; csv_tables.py: CSV; columns.py: which columns, which cells
"""
