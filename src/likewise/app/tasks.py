"""What ``likewise cluster`` does without a saved model, and without a terminal.

Like every task, it takes a request and returns a report: a small typed result.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

import likewise.persistence.format as model_files
from likewise.app.columns import import_polars
from likewise.app.link_files import read_pairs
from likewise.app.tables import Table, read_table
from likewise.app.targets import as_text, check_targets, write_figure
from likewise.decoders.base import Progress
from likewise.errors import InputError, LikewiseWarning
from likewise.estimators.exemplar import ExemplarClusterer
from likewise.geometry import resolve_features
from likewise.persistence.atomic import write_atomically
from likewise.plots.canvas import blank_figure
from likewise.plots.partitions import PartitionDisplay

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class ClusterRequest:
    """What to cluster, how, and where to write; named as the options of the command."""

    data: Path
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    distance: str = "sqeuclidean"
    weights: tuple[float, ...] | None = None
    opening_cost: float | str = "median"
    candidates: int | None = None
    solver: str = "auto"
    gap: float = 1e-6
    time_limit: float | None = None
    seed: int | None = None
    jobs: int | None = None
    must_link: Path | None = None
    cannot_link: Path | None = None
    out: Path | None = None
    plot: Path | None = None
    save: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterReport:
    """What was found. Rows are numbered from 0."""

    data: str
    rows: int
    columns: list[str]
    clusters: int
    energy: float
    lower_bound: float
    gap: float
    bound_scope: str
    status: str
    opening_cost: float
    seconds: float
    exemplars: list[int]
    sizes: list[int]
    labels: list[int]
    must_links: int
    cannot_links: int
    warnings: list[str]
    out: str | None
    plot: str | None
    save: str | None


def run_cluster(
    request: ClusterRequest,
    on_progress: Callable[[Progress], None],
    on_stage: Callable[[str], None],
) -> ClusterReport:
    """Read, cluster, write.

    Parameters
    ----------
    request : ClusterRequest
        What to do.
    on_progress : callable
        Given the progress records of the solver.
    on_stage : callable
        Given the name of each other stage.

    Returns
    -------
    ClusterReport
        With status "interrupted" where Ctrl-C stopped the solver; the files are written all the
        same.
    """
    targets = {"--out": request.out, "--plot": request.plot, "--save": request.save}
    links = {"--must-link": request.must_link, "--cannot-link": request.cannot_link}
    read = {f"file of {option}": [path] for option, path in links.items() if path is not None}
    check_targets(targets, {"data file": [request.data], **read})
    _check_links(request)
    on_stage(f"reading {request.data.name}")
    table = read_table(request.data, request.columns, header=request.header)
    must_link, cannot_link = (
        [] if path is None else read_pairs(path, len(table.values)) for path in links.values()
    )
    model = _model(request, table, on_progress)
    on_stage(f"comparing {len(table.values):,} rows")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LikewiseWarning)
        start = time.perf_counter()
        model.fit(table.rows(), must_link=must_link or None, cannot_link=cannot_link or None)
        seconds = time.perf_counter() - start
    on_stage("writing")
    _write_outputs(request, table, model)
    return ClusterReport(
        data=str(request.data),
        rows=table.values.shape[0],
        columns=list(table.columns),
        clusters=int(model.n_clusters_),
        energy=float(model.energy_),
        lower_bound=float(model.lower_bound_),
        gap=float(model.gap_),
        bound_scope=str(model.bound_scope_),
        status=str(model.status_),
        opening_cost=float(model.opening_cost_),
        seconds=seconds,
        exemplars=model.exemplars_.tolist(),
        sizes=np.bincount(model.labels_, minlength=model.n_clusters_).tolist(),
        labels=model.labels_.tolist(),
        must_links=len(must_link),
        cannot_links=len(cannot_link),
        warnings=[" ".join(str(warning.message).split()) for warning in caught],
        out=as_text(request.out),
        plot=as_text(request.plot),
        save=as_text(request.save),
    )


def _model(
    request: ClusterRequest, table: Table, on_progress: Callable[[Progress], None]
) -> ExemplarClusterer:
    features = request.distance
    if request.weights is not None:
        if request.distance != "sqeuclidean":
            raise InputError(
                "--weights weighs the columns of the squared distance; got --distance "
                f"{request.distance}: leave one of them out."
            )
        if len(request.weights) != len(table.columns):
            raise InputError(
                f"--weights needs one number for each of the {len(table.columns)} columns "
                f"{','.join(table.columns)}; got {len(request.weights)}."
            )
        features = "columns"
    return ExemplarClusterer(
        features,
        request.weights,
        request.opening_cost,
        candidates=request.candidates,
        solver=request.solver,
        gap=request.gap,
        time_limit=request.time_limit,
        n_jobs=request.jobs,
        random_state=request.seed,
        callbacks=on_progress,
    )


def _check_links(request: ClusterRequest) -> None:
    linked = request.must_link is not None or request.cannot_link is not None
    if linked and request.candidates is not None:
        raise InputError(
            "--must-link and --cannot-link need all pairs of rows: leave out --candidates."
        )


def _write_outputs(request: ClusterRequest, table: Table, model: ExemplarClusterer) -> None:
    if request.out is not None:
        distances = _distances(table, model)
        write_atomically(request.out, lambda stream: _write_labels(stream, model, distances))
    if request.plot is not None:
        figure = blank_figure(8.0, 6.5)
        PartitionDisplay.from_estimator(model, table.values, ax=figure.add_subplot())
        write_figure(request.plot, figure)
    if request.save is not None:
        # The callback belongs to this run and cannot be saved.
        model.set_params(callbacks=None)
        model_files.save(model, request.save)


def _write_labels(
    stream: BinaryIO, model: ExemplarClusterer, distances: NDArray[np.float64]
) -> None:
    exemplars = model.exemplars_[model.labels_]
    rows = np.arange(len(exemplars))
    frame = import_polars().DataFrame(
        {
            "row": rows,
            "label": model.labels_,
            "exemplar": exemplars,
            "is_exemplar": rows == exemplars,
            "distance": distances,
        }
    )
    frame.write_csv(stream)


def _distances(table: Table, model: ExemplarClusterer) -> NDArray[np.float64]:
    """Distance of each row to its exemplar; 0 for exemplars, whatever the diagonal says."""
    served_by = model.exemplars_[model.labels_]
    if model.features == "precomputed":
        distances: NDArray[np.float64] = table.values[np.arange(len(served_by)), served_by]
    else:
        features = resolve_features(model.features, len(table.columns))
        weights = features.resolve_weights(model.weights)
        distances = features.paired(table.values, table.values[served_by], weights)
    distances[model.exemplars_] = 0.0
    return distances
