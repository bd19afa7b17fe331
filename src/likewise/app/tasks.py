"""What ``likewise cluster`` and ``likewise inspect`` do, without a terminal.

Each task takes a request and returns a report: a small typed result that knows how to become JSON.
"""

from __future__ import annotations

import json
import math
import time
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

import likewise.persistence.format as model_files
from likewise.app.columns import import_polars
from likewise.app.tables import Table, read_table
from likewise.decoders.base import Progress
from likewise.errors import InputError, LikewiseWarning
from likewise.estimators.exemplar import ExemplarClusterer
from likewise.geometry import resolve_features
from likewise.persistence.atomic import write_atomically
from likewise.plots.canvas import blank_figure, require_matplotlib
from likewise.plots.partitions import PartitionDisplay

if TYPE_CHECKING:
    from numpy.typing import NDArray

PICTURES = (".png", ".pdf", ".svg")


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
    warnings: list[str]
    out: str | None
    plot: str | None
    save: str | None


@dataclass(frozen=True, kw_only=True)
class ModelReport:
    """What a model file holds."""

    file: str
    model: str
    parameters: dict[str, Any]
    fitted: bool
    clusters: int | None
    energy: float | None
    lower_bound: float | None
    gap: float | None
    bound_scope: str | None
    status: str | None
    opening_cost: float | list[float] | None
    rows: int | None
    columns: list[str] | int | None
    library_version: str
    file_format: int


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
    _check_targets(request)
    on_stage(f"reading {request.data.name}")
    table = read_table(request.data, request.columns, header=request.header)
    model = _model(request, table, on_progress)
    on_stage(f"comparing {len(table.values):,} rows")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LikewiseWarning)
        start = time.perf_counter()
        model.fit(table.rows())
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
        warnings=[" ".join(str(warning.message).split()) for warning in caught],
        out=_text(request.out),
        plot=_text(request.plot),
        save=_text(request.save),
    )


def run_inspect(path: Path) -> ModelReport:
    """Load a model file and describe it.

    Parameters
    ----------
    path : Path
        A ``.likewise`` file.

    Returns
    -------
    ModelReport
        Fields of what was fitted are None where the model was saved before it was fitted.
    """
    model = model_files.load(path)
    # Read after the audit of `load`: what the file says about itself is in order.
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    fitted = vars(model)
    names = fitted.get("feature_names_in_")
    labels = fitted.get("labels_")
    return ModelReport(
        file=str(path),
        model=type(model).__name__,
        parameters={name: plain(value) for name, value in model.get_params(deep=False).items()},
        fitted=labels is not None,
        clusters=plain(fitted.get("n_clusters_")),
        energy=plain(fitted.get("energy_")),
        lower_bound=plain(fitted.get("lower_bound_")),
        gap=plain(fitted.get("gap_")),
        bound_scope=plain(fitted.get("bound_scope_")),
        status=plain(fitted.get("status_")),
        opening_cost=plain(fitted.get("opening_cost_")),
        rows=None if labels is None else len(labels),
        columns=plain(fitted.get("n_features_in_") if names is None else names),
        library_version=manifest["version"],
        file_format=manifest["format"],
    )


def as_json(report: Any) -> str:
    """Write a report as one line of JSON; numbers that JSON does not know become null."""
    return json.dumps(plain(asdict(report)), allow_nan=False)


def plain(value: Any) -> Any:
    """Turn what an estimator holds into what JSON knows."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)


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


def _check_targets(request: ClusterRequest) -> None:
    """Refuse what could not be written before a long run, not after it."""
    targets = (("--out", request.out), ("--plot", request.plot), ("--save", request.save))
    for option, path in targets:
        if path is None:
            continue
        if path.is_dir():
            raise InputError(f"{option} {path} is a directory; name a file in it.")
        if not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {path.parent}; create it first.")
        if path.exists() and path.samefile(request.data):
            raise InputError(f"{option} {path} is the data file; choose another name.")
    names = [path.resolve() for _, path in targets if path is not None]
    if len(set(names)) < len(names):
        raise InputError("--out, --plot and --save name the same file; give each its own.")
    if request.plot is not None:
        if request.plot.suffix.lower() not in PICTURES:
            raise InputError(
                f"--plot {request.plot}: pictures end in {', '.join(PICTURES)}; "
                f"got {request.plot.suffix!r}."
            )
        require_matplotlib()


def _write_outputs(request: ClusterRequest, table: Table, model: ExemplarClusterer) -> None:
    if request.out is not None:
        distances = _distances(table, model)
        write_atomically(request.out, lambda stream: _write_labels(stream, model, distances))
    if request.plot is not None:
        figure = blank_figure(8.0, 6.5)
        PartitionDisplay.from_estimator(model, table.values, ax=figure.add_subplot())
        kind = request.plot.suffix.lower()[1:]
        write_atomically(request.plot, lambda stream: figure.savefig(stream, format=kind, dpi=150))
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


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
