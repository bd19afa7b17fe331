"""The command line: ``likewise demo | learn | cluster | inspect | reproduce``.

::

    cli.py              entry point: the ``likewise`` script
    commands.py         the commands and their exit codes; loads nothing heavy early (typer)
    options.py          their options (typer)
    terminal.py         reports on stdout, progress on stderr (rich)
    layout.py           how tables look; learner_tables.py, demo_tables.py: the longer ones (rich)
    reports.py          reports as JSON

    learning.py         what ``learn`` does, without a terminal; comparisons.py: what --compare says
    tasks.py            what ``cluster`` does without a model; link_files.py: pairs of rows
    grouping.py         what ``cluster --model`` does; plain_partitions.py: without what was learnt
    inspection.py       what ``inspect`` does
    demo.py             what ``demo`` does; demo_methods.py: what it compares
    reproduce.py        what ``reproduce`` does
    interruption.py     Ctrl-C during many searches
    targets.py          the files to write

    tables.py           reading data files; csv_tables.py: CSV; columns.py: which columns and cells
    labelled_tables.py  reading sets: rows, their clusters, the set that they are in
"""
