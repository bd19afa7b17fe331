"""What ``--compare`` says -> comparisons of rows: ``name:distance:columns``.

A name may be left out (``:chi2:h*`` or ``chi2`` are called like their distance), and so may the
columns (``shape:cosine`` compares all of them). ``*`` in a column stands for any text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likewise.app.labelled_tables import chosen_names
from likewise.app.tables import Table
from likewise.errors import DataFileError, InputError
from likewise.geometry.compare import Compare
from likewise.geometry.distances import DISTANCES


@dataclass(frozen=True)
class Comparison:
    """One ``--compare``: what to call it, its distance, and its columns; None takes all."""

    name: str
    distance: str
    columns: tuple[str, ...] | None = None

    @classmethod
    def of(cls, text: str) -> Comparison:
        """Read what was written.

        Examples
        --------
        >>> from likewise.app.comparisons import Comparison
        >>> Comparison.of("colour:chi2:red,h*")
        Comparison(name='colour', distance='chi2', columns=('red', 'h*'))
        >>> Comparison.of("cosine")
        Comparison(name='cosine', distance='cosine', columns=None)
        """
        parts = [part.strip() for part in text.split(":", 2)]
        name, distance = (parts[0], parts[0]) if len(parts) == 1 else parts[:2]
        if distance not in DISTANCES:
            raise InputError(
                f"--compare {text}: the distance must be one of {', '.join(DISTANCES)}; got "
                f"{distance!r}. Write name:distance:columns, such as "
                f"{_meant(parts) or 'colour:chi2:red,h*'}."
            )
        columns = None
        if len(parts) == 3:
            columns = tuple(column.strip() for column in parts[2].split(","))
            if not all(columns):
                raise InputError(
                    f"--compare {text}: the name of a column is missing; write columns separated "
                    "by commas, or leave the last colon out to compare all of them."
                )
        return cls(name or distance, distance, columns)


def comparisons_of(texts: Sequence[str]) -> list[Comparison]:
    """Read all of them; each needs a name of its own."""
    found = [Comparison.of(text) for text in texts]
    names = [item.name for item in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"two comparisons are called {twice[0]!r}; give each --compare a name of its own, such "
            f"as {twice[0]}2:{found[len(names) - 1 - names[::-1].index(twice[0])].distance}."
        )
    return found


def columns_to_read(
    columns: tuple[str, ...] | None, comparisons: Sequence[Comparison]
) -> tuple[str, ...] | None:
    """What to read: the columns asked for, or else those that comparisons name; None is all."""
    if columns is not None or not comparisons:
        return columns
    named: list[str] = []
    for item in comparisons:
        if item.columns is None:
            return None
        named += [column for column in item.columns if column not in named]
    return tuple(named)


def features_of(comparisons: Sequence[Comparison], table: Table) -> str | list[Compare]:
    """``features=`` of a learner: by column, or the comparisons, on the columns of a table."""
    if not comparisons:
        return "columns"
    return [_compare(item, table) for item in comparisons]


def described(features: str | Sequence[Compare]) -> list[str]:
    """What is compared, in words.

    Examples
    --------
    >>> from likewise import Compare
    >>> from likewise.app.comparisons import described
    >>> described([Compare("size", "manhattan", ["width", "height"]), Compare("all", "cosine")])
    ['size (manhattan of width, height)', 'all (cosine)']
    """
    if isinstance(features, str):
        return [features]
    texts = []
    for item in features:
        columns = item.columns if isinstance(item.columns, list) else []
        of = f" of {', '.join(map(str, columns))}" if columns else ""
        texts.append(f"{item.name} ({item.distance}{of})")
    return texts


def _meant(parts: Sequence[str]) -> str:
    """What was meant where the distance stands first: with the name behind it, or without one."""
    if len(parts) < 2 or parts[0] not in DISTANCES:
        return ""
    distance, second, *columns = parts
    return ":".join([second, distance, *columns] if columns else ["", distance, second])


def _compare(item: Comparison, table: Table) -> Compare:
    if item.columns is None:
        return Compare(item.name, item.distance)
    try:
        names = chosen_names(table.path, table.columns, item.columns)
    except DataFileError as error:
        raise InputError(f"--compare {item.name}: of the columns that are read, {error}") from error
    # A table whose file names no columns is an array to the learner.
    places = [table.columns.index(name) for name in names]
    return Compare(item.name, item.distance, names if table.named else places)
