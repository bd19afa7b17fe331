"""What ``likewise demo`` does: handwritten digits, our partition beside those of its nearest peers.

All partitions are judged by one function on one matrix of distances: the energy of their exemplars
with every row served by the nearest of them, which can only favour a peer whose own labels differ.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from likewise.datasets.load import LabelledRows, load_digits_demo
from likewise.decoders.base import Progress, relative_gap
from likewise.errors import InputError
from likewise.estimators.exemplar import ExemplarClusterer
from likewise.metrics import pairwise_f1
from likewise.persistence.atomic import write_atomically
from likewise.plots.canvas import readable, require_matplotlib
from likewise.plots.gallery import GalleryDisplay

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Integers = NDArray[np.intp]

# In units of the median distance. Chosen for a picture that one can take in: a smaller factor gives
# more clusters, a larger one fewer; the labels play no part.
COST_FACTOR = 5.0
COST_RULE = "5 x the median distance, set without looking at the labels"
# Rows of the run that only compiles, before anything is timed.
WARM_UP_ROWS = 200
PICTURE = "digits.png"


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """One line of the table; `energy` and `gap` are None where a peer gave no exemplars."""

    method: str
    clusters: int
    energy: float | None
    gap: float | None
    adjusted_rand: float
    pairwise_f1: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class DemoReport:
    """The table, and where the picture is."""

    source: str
    rows: int
    columns: int
    known_clusters: int
    opening_cost: float
    opening_cost_rule: str
    lower_bound: float
    status: str
    results: list[MethodResult]
    picture: str


@dataclass(frozen=True)
class _Judge:
    """Turns the answer of a method into a line of the table."""

    distances: Matrix
    cost: float
    truth: Integers
    lower_bound: float

    def line(
        self, method: str, exemplars: Integers, labels: Integers, seconds: float
    ) -> MethodResult:
        from sklearn.metrics import adjusted_rand_score

        energy = energy_of(self.distances, exemplars, self.cost) if len(exemplars) else None
        return MethodResult(
            method=method,
            clusters=len(np.unique(labels)),
            energy=energy,
            gap=None if energy is None else relative_gap(energy, self.lower_bound),
            adjusted_rand=float(adjusted_rand_score(self.truth, labels)),
            pairwise_f1=float(pairwise_f1(self.truth, labels)),
            seconds=seconds,
        )


def run_demo(
    out: Path, on_progress: Callable[[Progress], None], on_stage: Callable[[str], None]
) -> DemoReport:
    """Cluster the digits, compare, draw.

    Parameters
    ----------
    out : Path
        Folder for the picture; made if it does not exist.
    on_progress, on_stage : callable
        As for ``tasks.run_cluster``.

    Returns
    -------
    DemoReport
    """
    require_matplotlib()
    picture = _checked_folder(out) / PICTURE
    digits = load_digits_demo()
    X = digits.rows
    on_stage("compiling (once)")
    ExemplarClusterer().fit(X[:WARM_UP_ROWS])
    distances = squared_distances(X)
    cost = COST_FACTOR * float(np.median(distances[~np.eye(len(X), dtype=bool)]))

    model = ExemplarClusterer(opening_cost=cost, random_state=0, callbacks=on_progress)
    seconds = _timed(model, X)
    if model.status_ == "interrupted":
        raise KeyboardInterrupt
    judge = _Judge(distances, cost, digits.labels, float(model.lower_bound_))
    results = [judge.line("likewise", model.exemplars_, model.labels_, seconds)]
    for name, peer in _peers(cost, int(model.n_clusters_)):
        on_stage(f"comparing with {name}")
        seconds = _timed(peer, X)
        results.append(judge.line(name, _exemplars(peer, X, distances), peer.labels_, seconds))
    on_stage("drawing")
    _draw(picture, digits, model, results[0])
    return DemoReport(
        source=digits.source,
        rows=X.shape[0],
        columns=X.shape[1],
        known_clusters=len(np.unique(digits.labels)),
        opening_cost=cost,
        opening_cost_rule=COST_RULE,
        lower_bound=judge.lower_bound,
        status=str(model.status_),
        results=results,
        picture=str(picture),
    )


def squared_distances(X: Matrix) -> Matrix:
    """Squared Euclidean distances between all rows."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(X, X, "sqeuclidean")
    return distances


def energy_of(distances: Matrix, exemplars: Integers, cost: float) -> float:
    """Energy of a set of exemplars: each row pays the nearest, each exemplar pays `cost`."""
    return float(distances[:, exemplars].min(axis=1).sum() + cost * len(exemplars))


def _peers(cost: float, n_clusters: int) -> list[tuple[str, Any]]:
    """Nearest relatives in scikit-learn; those that cannot choose K are told the K we found."""
    from sklearn.cluster import AffinityPropagation, AgglomerativeClustering, KMeans

    peers: list[tuple[str, Any]] = [
        (
            f"AffinityPropagation {damping}",
            AffinityPropagation(damping=damping, preference=-cost, random_state=0),
        )
        for damping in (0.5, 0.9)
    ]
    return [
        *peers,
        ("KMeans", KMeans(n_clusters, n_init=10, random_state=0)),
        ("Agglomerative (Ward)", AgglomerativeClustering(n_clusters)),
    ]


def _timed(method: Any, X: Matrix) -> float:
    """Seconds that a fit takes, on one thread for every method."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), threadpool_limits(1):
        # Reported in the table: a peer without exemplars has no energy, our own gap is shown.
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        method.fit(X)
        return time.perf_counter() - start


def _exemplars(peer: Any, X: Matrix, distances: Matrix) -> Integers:
    """A peer's own exemplars, the rows nearest to its centres, or the medoids of its clusters."""
    if hasattr(peer, "cluster_centers_indices_"):
        return np.asarray(peer.cluster_centers_indices_, dtype=np.intp)
    if hasattr(peer, "cluster_centers_"):
        away = np.square(peer.cluster_centers_[:, None] - X[None]).sum(axis=2)
        return np.unique(away.argmin(axis=1))
    medoids = []
    for label in range(peer.n_clusters_):
        rows = np.flatnonzero(peer.labels_ == label)
        medoids.append(rows[distances[np.ix_(rows, rows)].sum(axis=0).argmin()])
    return np.array(medoids)


def _draw(path: Path, digits: LabelledRows, model: ExemplarClusterer, ours: MethodResult) -> None:
    from sklearn.manifold import TSNE

    n = len(digits.rows)
    # More threads wait for each other longer than they work, at this size.
    with threadpool_limits(1):
        positions = TSNE(init="pca", random_state=0, max_iter=750).fit_transform(digits.rows)
    served_by = digits.rows[model.exemplars_[model.labels_]]
    display = GalleryDisplay.from_partition(
        digits.rows.reshape(n, *(digits.image_shape or ())),
        model.labels_,
        model.exemplars_,
        positions=positions,
        distances=np.square(digits.rows - served_by).sum(axis=1),
        title=f"{n:,} handwritten digits in {ours.clusters} clusters, each around one of them",
        subtitle=f"Energy {readable(float(model.energy_))}, {_certificate(float(model.gap_))}. "
        "The number of clusters was found, not given.",
        note="Each dot is an image, near to similar ones (t-SNE); six colours, reused so that "
        "neighbouring clusters differ.\nFramed: the exemplars, at their places; a line leads to "
        "the place of one that was moved aside.",
    )
    write_atomically(path, lambda stream: display.figure_.savefig(stream, format="png", dpi=130))


def _certificate(gap: float) -> str:
    if gap <= 1e-6:
        return "certified gap 0 %: no partition has less"
    return f"certified gap {100 * gap:.2g} %: no partition has less by more than that"


def _checked_folder(out: Path) -> Path:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder for the picture.")
    out.mkdir(parents=True, exist_ok=True)
    return out
