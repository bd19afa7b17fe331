"""How `ChangePointLearner` looks at sequences: features of rows, in blocks, in comparable units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from likewise.errors import InputError, InputTypeError
from likewise.estimators.series_input import ShownSeries, regions_of
from likewise.geometry.noise import noise_scales
from likewise.supervision import RegionLabels
from likewise.transformers import HermiteFeatures, WindowFeatures

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

FEATURES = ("auto", "windows", "hermite")
# A window has a typical segment / WINDOWS rows, and a block a fourth of a window: chosen on six
# families of movement, where both hardly mattered.
WINDOWS, BLOCKS, LEAST_WINDOW = 16, 4, 5
# Longer sequences are averaged in blocks, to about half as many.
LONG = 2000
# A column that varies less than this within segments, as a share of all it varies, counts as much.
SMALLEST_SPREAD = 1e-3


@dataclass(frozen=True, eq=False)
class Look:
    """One way to look at sequences.

    Attributes
    ----------
    name : str
        What it is called.
    transformer : transformer or None
        Fitted to every sequence anew; None takes the columns as they are.
    step : int
        Rows of a block.
    """

    name: str
    transformer: Any
    step: int

    def of(self, rows: Floats) -> Floats:
        """The averages of features over the blocks of one sequence."""
        if self.transformer is not None:
            n = len(rows)
            rows = np.asarray(clone(self.transformer).fit_transform(rows), dtype=np.float64)
            if rows.ndim != 2 or len(rows) != n:
                raise InputError(
                    f"features must give one row for each of the {n} rows of a sequence, ({n}, f); "
                    f"{self.name} gave shape {rows.shape}."
                )
            if not np.isfinite(rows).all():
                place = np.argwhere(~np.isfinite(rows))[0].tolist()
                raise InputError(
                    f"features must be finite; {self.name} gave {rows[tuple(place)]} at {place}."
                )
        # Sums of large numbers lose digits.
        middle = rows[:1]
        if self.step == 1:
            return rows
        starts = np.arange(0, len(rows), self.step)
        counts = np.diff(np.append(starts, len(rows)))[:, None]
        averages: Floats = np.add.reduceat(rows - middle, starts, axis=0) / counts + middle
        return averages

    def names(self, columns: Sequence[str]) -> list[str]:
        """The names of the features."""
        if self.transformer is None:
            return list(columns)
        fitted = clone(self.transformer).fit(np.zeros((3, len(columns))))
        if not hasattr(fitted, "get_feature_names_out"):
            n = np.asarray(fitted.transform(np.zeros((3, len(columns))))).shape[1]
            return [f"feature {k}" for k in range(n)]
        return [str(name) for name in fitted.get_feature_names_out(list(columns))]

    def kinds(self, columns: Sequence[str]) -> Indices | None:
        """The kind of every feature, where there are kinds: names without those of the columns."""
        kinds = []
        for name in self.names(columns):
            of = [column for column in columns if name.startswith(f"{column} ")]
            if not of:
                return None
            kinds.append(name[len(max(of, key=len)) :])
        found = np.unique(kinds, return_inverse=True)[1]
        return found if 1 < int(found.max()) + 1 < len(kinds) else None


def looks_for(features: Any, shown: Sequence[ShownSeries]) -> list[Look]:
    """The ways to look at sequences that are to be tried, the preferred one first."""
    sizes = np.array([part.n_rows for part in shown])
    annotated = any(part.annotated for part in shown)
    step = 1 if annotated or np.median(sizes) <= LONG else int(np.ceil(np.median(sizes) / LONG * 2))
    plain = Look("columns", None, step)
    if features is None:
        return [plain]
    if not isinstance(features, str):
        if not hasattr(features, "fit_transform"):
            raise InputTypeError(
                "features must be None, 'windows', 'hermite', 'auto' or a transformer with "
                f"fit_transform; got {features!r}."
            )
        return [Look(type(features).__name__, features, step)]
    if features not in FEATURES:
        raise InputError(
            f"features must be None, 'windows', 'hermite', 'auto' or a transformer; got "
            f"{features!r}."
        )
    hermite = [
        Look(f"hermite, scale={scale}", HermiteFeatures(scale=scale), step)
        for scale in ("noise", "spread")
    ]
    if features == "hermite":
        return hermite
    width = max(LEAST_WINDOW, round(_typical_segment(shown) / WINDOWS))
    block = 1 if annotated else max(1, width // BLOCKS)
    windows = Look(f"windows of {width} rows", WindowFeatures(width), block)
    return [windows] if features == "windows" else [windows, plain, *hermite]


def _typical_segment(shown: Sequence[ShownSeries]) -> float:
    """The median length of shown segments; of sequences per change where there are none."""
    lengths = [size for part in shown for size in np.bincount(part.segments)]
    if lengths:
        return float(np.median(lengths))
    return float(np.median([part.n_rows / (1 + part.n_changes) for part in shown]))


@dataclass(frozen=True, eq=False)
class Viewed:
    """A sequence in blocks, with what is shown of it.

    Attributes
    ----------
    source : ShownSeries
        The sequence as given.
    rows : array of shape (B, p)
        Features of blocks, in the units in which they are compared.
    labels : array of shape (B,)
        The segment of every block, -1 where it is not shown.
    regions : RegionLabels
        What is shown, in blocks.
    step : int
        Rows of a block.
    """

    source: ShownSeries
    rows: Floats
    labels: Indices
    regions: RegionLabels
    step: int

    @classmethod
    def of(cls, source: ShownSeries, look: Look) -> Viewed:
        """Before the units are known."""
        rows = look.of(source.rows)
        labels = np.full(source.n_rows, -1, dtype=np.intp)
        labels[source.places] = source.segments
        if look.step > 1:
            middles = np.minimum(np.arange(len(rows)) * look.step + look.step // 2, len(labels) - 1)
            labels = labels[middles]
            # Segments that are shorter than a block may be gone.
            known = labels >= 0
            labels[known] = np.unique(labels[known], return_inverse=True)[1]
        regions = source.regions if source.annotated else regions_of(labels)
        return cls(source, rows, labels, regions, look.step)

    @property
    def is_complete(self) -> bool:
        """Whether the segment of every block is shown."""
        return bool((self.labels >= 0).all())

    def loss(self, change_points: Indices, criterion: str) -> float:
        """How bad change points, in blocks, are."""
        return self.source.loss(change_points * self.step, criterion)

    def invented(self, change_points: Indices) -> float:
        """How much worse change points, in blocks, are than none."""
        return self.source.invented(change_points * self.step)

    def parts(self) -> list[tuple[Floats, Indices]]:
        """The stretches of blocks that are labelled, and their segments from 0 on."""
        known = np.concatenate([[False], self.labels >= 0, [False]])
        edges = np.flatnonzero(known[1:] != known[:-1]).reshape(-1, 2)
        found = []
        for start, end in edges:
            if end - start >= 2:
                own = self.labels[start:end]
                found.append((self.rows[start:end], np.cumsum(np.diff(own, prepend=own[0]) != 0)))
        return found


@dataclass(frozen=True, eq=False)
class Units:
    """What features are divided by: how much they vary within segments.

    Features that do not vary at all are not ``kept``.
    """

    scales: Floats
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, viewed: Sequence[Viewed]) -> Units:
        """From labelled blocks; where there are none, from the noise of neighbouring blocks."""
        within, overall, count, total = 0.0, 0.0, 0, 0
        for part in viewed:
            # The mean of equal numbers need not be that number.
            rows = part.rows - part.rows[0]
            rows = rows - rows.mean(axis=0)
            overall = overall + np.square(rows).sum(axis=0)
            total += len(rows)
            for own, labels in part.parts():
                for segment in range(int(labels[-1]) + 1):
                    inside = own[labels == segment]
                    within = within + np.square(inside - inside.mean(axis=0)).sum(axis=0)
                    count += len(inside) - 1
        spread = np.sqrt(overall / max(total, 1))
        if count:
            scales = np.sqrt(within / count)
        else:
            each = [noise_scales(part.rows)[0] for part in viewed]
            scales = np.sqrt(np.mean(np.square(each), axis=0))
        kept = spread > 0.0
        return cls(np.maximum(scales, SMALLEST_SPREAD * spread)[kept], kept)

    def applied_to(self, rows: Floats) -> Floats:
        """Centred rows in these units."""
        own = rows[:, self.kept]
        own = own - own[0]
        found: Floats = (own - own.mean(axis=0)) / self.scales
        return found

    def metric_of(self, own: Floats) -> Floats:
        """A metric of features in these units as one of all features as they are."""
        n = len(self.kept)
        if own.ndim == 1:
            weights = np.zeros(n)
            weights[self.kept] = own / self.scales**2
            return weights
        matrix = np.zeros((n, n))
        matrix[np.ix_(self.kept, self.kept)] = own / np.outer(self.scales, self.scales)
        return matrix
