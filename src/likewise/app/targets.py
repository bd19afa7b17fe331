"""The files that a command is to write: refused before a long run, not after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from likewise.errors import InputError
from likewise.experiments.base import Picture
from likewise.persistence.atomic import write_atomically
from likewise.plots.canvas import require_matplotlib

PICTURES = (".png", ".pdf", ".svg")
DOTS_PER_INCH = 150


def check_targets(
    targets: Mapping[str, Path | None], inputs: Mapping[str, Sequence[Path]], plot: str = "--plot"
) -> None:
    """Refuse what could not be written.

    Parameters
    ----------
    targets : mapping of str to Path or None
        By option, the files to write.
    inputs : mapping of str to sequence of Path
        The files that are read, by what to call them; none of them may be written over.
    plot : str
        The option that names a picture.
    """
    given = {option: path for option, path in targets.items() if path is not None}
    for option, path in given.items():
        if path.is_dir():
            raise InputError(f"{option} {path} is a directory; name a file in it.")
        if not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {path.parent}; create it first.")
        for name, files in inputs.items():
            if path.exists() and any(f.exists() and path.samefile(f) for f in files):
                raise InputError(f"{option} {path} is the {name}; choose another name.")
    names = [path.resolve() for path in given.values()]
    if len(set(names)) < len(names):
        *first, last = given
        raise InputError(f"{', '.join(first)} and {last} name the same file; give each its own.")
    if plot in given:
        if given[plot].suffix.lower() not in PICTURES:
            raise InputError(
                f"{plot} {given[plot]}: pictures end in {', '.join(PICTURES)}; "
                f"got {given[plot].suffix!r}."
            )
        require_matplotlib()


def write_figure(path: Path, figure: Picture) -> None:
    """Write a picture, in the format that its name ends in."""
    kind = path.suffix.lower()[1:]
    write_atomically(path, lambda stream: figure.savefig(stream, format=kind, dpi=DOTS_PER_INCH))


def as_text(path: Path | None) -> str | None:
    """The path as a report names it."""
    return None if path is None else str(path)
