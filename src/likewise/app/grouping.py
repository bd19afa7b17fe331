"""What ``likewise cluster --model`` does, without a terminal: new data and a saved model -> labels.

A learner partitions every set of the data like those that it was shown. A clusterer that was fitted
gives every row the cluster of its nearest exemplar; one that was not partitions every set.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from sklearn.metrics import adjusted_rand_score

import likewise.persistence.format as model_files
from likewise.app.columns import import_polars
from likewise.app.interruption import Interruption
from likewise.app.labelled_tables import LabelledSet, Wanted, read_sets
from likewise.app.learning import said
from likewise.app.plain_partitions import plain_partition
from likewise.app.targets import as_text, check_targets, write_figure
from likewise.errors import InputError, LikewiseWarning
from likewise.estimators.exemplar import ExemplarClusterer
from likewise.estimators.exemplar_learner import ExemplarLearner
from likewise.metrics import pairwise_f1
from likewise.persistence.atomic import write_atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Labels = NDArray[np.intp]

NOT_SHOWN = -1
# Sets that a picture shows, and their rows at most: places of more take too long to find.
DRAWN, DRAWN_ROWS = 4, 3000
# What models do with new data, in the words of reports.
LIKE_SHOWN = "partitioned like the sets that were learnt from"
NEAREST = "every row in the cluster of its nearest exemplar"
ANEW = "partitioned with the settings of the model"


@dataclass(frozen=True, kw_only=True)
class GroupRequest:
    """What to group, by which model, and where to write; named as the options of the command."""

    data: Path
    model: Path
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    split: str | None = None
    label: str | None = None
    jobs: int | None = None
    out: Path | None = None
    plot: Path | None = None


@dataclass(frozen=True)
class GroupedSet:
    """One set: its clusters, and how they agree with the known ones, where there are any."""

    name: str
    rows: int
    clusters: int
    sizes: list[int]
    known_clusters: int | None = None
    pairwise_f1: float | None = None
    adjusted_rand: float | None = None


@dataclass(frozen=True, kw_only=True)
class GroupReport:
    """What was found. Rows are numbered from 0, labels start from 0 in every set."""

    data: str
    model: str
    kind: str
    way: str
    rows: int
    columns: list[str]
    sets: list[GroupedSet]
    mean_pairwise_f1: float | None
    mean_adjusted_rand: float | None
    labels: list[int]
    seconds: float
    drawn: int
    warnings: list[str]
    out: str | None
    plot: str | None


def run_group(request: GroupRequest, on_stage: Callable[[str], None]) -> GroupReport:
    """Read, group, write.

    Parameters
    ----------
    request : GroupRequest
        What to do.
    on_stage : callable
        Given the name of each stage.
    """
    targets = {"--out": request.out, "--plot": request.plot}
    check_targets(targets, {"data file": [request.data], "model file": [request.model]})
    model = _loaded(request)
    on_stage(f"reading {request.data.name}")
    sets = _read(request, model)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, Interruption() as interruption:
        warnings.simplefilter("always", LikewiseWarning)
        found = []
        for place, part in enumerate(sets):
            on_stage(_stage(place, sets))
            found.append(_labels(model, part))
            # A search that was ended is not what was asked for: nothing is written.
            interruption.check()
        seconds = time.perf_counter() - start
        on_stage("writing")
        if request.out is not None:
            lines = _lines(sets, found)
            write_atomically(request.out, lambda stream: _write(stream, lines))
        drawn = [] if request.plot is None else _drawable(sets)
        if request.plot is not None:
            _draw(request.plot, model, sets, found, drawn)
            interruption.check()
    # A clusterer that was fitted has clusters that no row of a set may be in.
    n_clusters = model.n_clusters_ if _is_fitted_clusterer(model) else 0
    judged = [_judged(part, labels, n_clusters) for part, labels in zip(sets, found, strict=True)]
    return GroupReport(
        data=str(request.data),
        model=str(request.model),
        kind=type(model).__name__,
        way=_way(model),
        rows=sum(part.rows for part in judged),
        columns=list(sets[0].table.columns),
        sets=judged,
        mean_pairwise_f1=_mean([part.pairwise_f1 for part in judged]),
        mean_adjusted_rand=_mean([part.adjusted_rand for part in judged]),
        labels=_in_file_order(sets, found).tolist(),
        seconds=seconds,
        drawn=len(drawn),
        warnings=said(caught),
        out=as_text(request.out),
        plot=as_text(request.plot),
    )


def _loaded(request: GroupRequest) -> Any:
    model = model_files.load(request.model)
    if not isinstance(model, ExemplarLearner | ExemplarClusterer):
        raise InputError(
            f"{request.model} holds {type(model).__name__}, which groups no rows; give a model "
            "that likewise learn has written, or likewise cluster --save; what was learnt of "
            "changes, and a ChangePointDetector, are for likewise segment."
        )
    if isinstance(model, ExemplarLearner) and not hasattr(model, "weights_"):
        raise InputError(
            f"{request.model} holds an ExemplarLearner that has learnt nothing yet; fit it before "
            "it is saved, or use likewise learn."
        )
    if _is_precomputed(model) and request.split is not None:
        raise InputError(
            f"{request.model} compares by precomputed distances, so a file is one set: leave out "
            "--set."
        )
    if _names(model) is not None and request.columns is not None:
        raise InputError(
            f"{request.model} knows its columns by name: leave out --columns. They are "
            f"{', '.join(_names(model) or ())}."
        )
    if request.jobs is not None:
        model.set_params(n_jobs=request.jobs)
    return model


def _read(request: GroupRequest, model: Any) -> list[LabelledSet]:
    names = _names(model)
    wanted = Wanted(
        request.label,
        request.split,
        request.columns if names is None else names,
        request.header,
        None if names is None else str(request.model),
    )
    sets = read_sets(request.data, wanted)
    needed = getattr(model, "n_features_in_", None)
    learnt_from_pairs = isinstance(model, ExemplarLearner) and _is_precomputed(model)
    found = sets[0].table.columns
    if needed is not None and len(found) != needed and not learnt_from_pairs:
        raise InputError(
            f"{request.data} has {len(found)} columns of numbers ({', '.join(found[:20])}), "
            f"{request.model} was fitted on {needed}, without names; say which they are with "
            "--columns, in the same order."
        )
    return sets


def _labels(model: Any, part: LabelledSet) -> Labels:
    rows = _rows(model, part)
    if _is_fitted_clusterer(model):
        labels: Labels = model.predict(rows)
        return labels
    return np.asarray(model.cluster([rows])[0])


def _rows(model: Any, part: LabelledSet) -> Any:
    """What the model is given: a frame where it knows names, or may need them."""
    plain = _is_precomputed(model) or (_names(model) is None and hasattr(model, "n_features_in_"))
    return part.table.values if plain else part.table.rows()


def _judged(part: LabelledSet, labels: Labels, n_clusters: int) -> GroupedSet:
    name = part.name if part.value is None else part.value
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    found = (name, len(labels), int(np.count_nonzero(sizes)), sizes.tolist())
    known = np.empty(0, dtype=bool) if part.labels is None else part.labels != NOT_SHOWN
    if part.labels is None or not known.any():
        return GroupedSet(*found)
    truth, labels = part.labels[known], labels[known]
    return GroupedSet(
        *found,
        len(np.unique(truth)),
        float(pairwise_f1(truth, labels)),
        float(adjusted_rand_score(truth, labels)),
    )


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return float(np.mean(known)) if known else None


def _in_file_order(sets: Sequence[LabelledSet], found: Sequence[Any]) -> NDArray[Any]:
    values = np.concatenate(found)
    ordered = np.empty_like(values)
    ordered[np.concatenate([part.places for part in sets])] = values
    return ordered


def _lines(sets: Sequence[LabelledSet], found: Sequence[Labels]) -> dict[str, Any]:
    """The columns of the file of labels."""
    labels = _in_file_order(sets, found)
    lines: dict[str, Any] = {"row": np.arange(len(labels))}
    if sets[0].value is not None:
        values = [np.full(len(part.places), part.value, dtype=object) for part in sets]
        lines["set"] = _in_file_order(sets, values).tolist()
    return {**lines, "label": labels}


def _write(stream: BinaryIO, lines: dict[str, Any]) -> None:
    import_polars().DataFrame(lines).write_csv(stream)


def _drawable(sets: Sequence[LabelledSet]) -> list[int]:
    """The first sets that have something to see in the plane, and not too much."""
    fit = [place for place, part in enumerate(sets) if 3 <= len(part.places) <= DRAWN_ROWS]
    if not fit:
        raise InputError(
            f"--plot shows sets of 3 to {DRAWN_ROWS:,} rows, and there is none; leave it out."
        )
    return fit[:DRAWN]


def _draw(
    path: Path, model: Any, sets: Sequence[LabelledSet], found: Sequence[Labels], drawn: list[int]
) -> None:
    from likewise.plots import BeforeAfterDisplay
    from likewise.plots.before_after import learnt_positions
    from likewise.plots.projection import project

    tables = [_rows(model, sets[place]) for place in drawn]
    labels = [found[place] for place in drawn]
    if isinstance(model, ExemplarLearner):
        positions = learnt_positions(model, tables)
        before = [
            plain_partition(model, table, len(np.unique(own)))
            for table, own in zip(tables, labels, strict=True)
        ]
        ways = {"plain distance": before, "learnt": labels}
    else:
        square = _is_precomputed(model) and not _is_fitted_clusterer(model)
        positions = [project(np.asarray(table), precomputed=square) for table in tables]
        ways = {"found": labels}
    known = [sets[place].known() for place in drawn]
    truth = None if any(own is None for own in known) else known
    names = [sets[place].value or sets[place].name for place in drawn]
    display = BeforeAfterDisplay(
        positions, ways, truth, names=names if len(sets) > 1 else None
    ).plot()
    write_figure(path, display.figure_)


def _stage(place: int, sets: Sequence[LabelledSet]) -> str:
    rows = f"{len(sets[place].places):,} rows"
    return f"clustering {rows}" if len(sets) == 1 else f"set {place + 1} of {len(sets)}, {rows}"


def _way(model: Any) -> str:
    if isinstance(model, ExemplarLearner):
        return LIKE_SHOWN
    return NEAREST if _is_fitted_clusterer(model) else ANEW


def _is_fitted_clusterer(model: Any) -> bool:
    return isinstance(model, ExemplarClusterer) and hasattr(model, "labels_")


def _is_precomputed(model: Any) -> bool:
    return isinstance(model.features, str) and model.features == "precomputed"


def _names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))
