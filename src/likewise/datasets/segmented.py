"""Random series whose change points are known, for learning to segment and for testing it.

What a change looks like is the same in all series of one call, where changes are differs: that is
what can be learnt. A series depends on the seed and on its own number only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from likewise.arrays.random import draw_seed, stream
from likewise.errors import InputError
from likewise.supervision import RegionLabels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

# Segments have at least this share of their mean length; longer ones where one column has to tell.
LEAST_SHARE = 0.25
LEAST_OF_ONE_COLUMN = 0.5
# Jumps are between these multiples of their mean size.
SMALLEST, LARGEST = 0.5, 1.5
KINDS = ("mean", "variance", "bimodal")
# Distance of the two modes from the mean, where the standard deviation of all is 1.
MODE = 0.95
# Standard deviation, instead of 1.
WIDER = 2.0
# Of copy-number profiles: how much the logarithm of their scales varies; in units of the scale, the
# mean size of jumps, the standard deviations of noise, and the sizes of gross outliers.
LOG_SCALE_SPREAD = 0.5
LEVEL_JUMP = 1.5
DEVIATIONS = (0.6, 1.6)
OUTLIERS = (6.0, 15.0)


@dataclass(frozen=True, eq=False)
class SegmentedSeries:
    """Series, their true segments, and what tells the segments apart.

    Attributes
    ----------
    series : list of ndarray of shape (T, p)
        The rows of every series, in the order of time.
    labels : list of ndarray of shape (T,)
        The true segment of every row: 0, 1, ... in the order of time.
    relevant : ndarray of bool of shape (p,)
        True for the columns that change where segments do; before the rotation, if there is one.
    rotation : ndarray of shape (p, p) or None
        Orthogonal; the series are ``columns @ rotation``.
    regions : list of RegionLabels or None
        How many changes there are in some regions of every series.
    """

    series: list[Floats]
    labels: list[Indices]
    relevant: NDArray[np.bool_]
    rotation: Floats | None = None
    regions: list[RegionLabels] | None = None

    def split(self, n_first: int) -> tuple[SegmentedSeries, SegmentedSeries]:
        """Return the first series and the rest, for instance to train and to test."""
        first, rest = self._part(slice(n_first)), self._part(slice(n_first, None))
        return first, rest

    def _part(self, part: slice) -> SegmentedSeries:
        regions = None if self.regions is None else self.regions[part]
        return replace(self, series=self.series[part], labels=self.labels[part], regions=regions)


def make_segmented_series(
    n_series: int = 10,
    n_rows: int = 600,
    n_columns: int = 300,
    n_relevant: int = 10,
    n_changes: int = 3,
    *,
    jump: float = 0.6,
    nuisance: float = 1.5,
    n_misaligned: int | None = None,
    rotated: bool = False,
    random_state: object = None,
) -> SegmentedSeries:
    """Sample series where a few columns jump together, beside many that jump on their own.

    All columns have noise of standard deviation 1. The mean of the first ones, the relevant ones,
    jumps at every change point; each misaligned column, those after them, jumps as often, at change
    points of its own; the rest is noise. Sizes are uniform between half and one and a half times
    what is given, signs are random, both anew for every column and change. Change points are
    uniform among those that leave every segment a quarter of the mean length.

    Parameters
    ----------
    n_series, n_rows, n_columns : int, default=10, 600, 300
        Series, rows and columns of every series.
    n_relevant, n_changes : int, default=10, 3
        Columns that matter, changes of every series.
    jump, nuisance : float, default=0.6, 1.5
        Mean size of the jumps of relevant columns, and of misaligned ones.
    n_misaligned : int, default=None
        Columns with changes of their own; None is half of those that are not relevant.
    rotated : bool, default=False
        Whether to mix the columns by one random rotation, the same for all series.
    random_state : int, RandomState, Generator or None, default=None
        None is the fixed seed of the library.

    Returns
    -------
    SegmentedSeries

    References
    ----------
    .. [1] R. Lajugie, S. Arlot, F. Bach, "Large-margin metric learning for constrained partitioning
       problems", ICML 2014, section 5.1.

    Examples
    --------
    >>> from likewise.datasets import make_segmented_series
    >>> made = make_segmented_series(2, 40, 5, 2, n_changes=1, random_state=0)
    >>> [X.shape for X in made.series], made.relevant.tolist()
    ([(40, 5), (40, 5)], [True, True, False, False, False])
    """
    if n_misaligned is None:
        n_misaligned = (n_columns - n_relevant) // 2
    if n_relevant < 1 or n_misaligned < 0 or n_relevant + n_misaligned > n_columns:
        raise InputError(
            f"n_relevant={n_relevant} and n_misaligned={n_misaligned} columns do not fit: there "
            f"must be at least one relevant column, and both together at most {n_columns}."
        )
    seed = draw_seed(random_state)
    rotation = _rotation(stream(seed, "rotation"), n_columns) if rotated else None
    series, labels = [], []
    for place in range(n_series):
        rng = stream(seed, "segmented series", place)
        X = rng.standard_normal((n_rows, n_columns))
        cuts = draw_change_points(rng, n_rows, n_changes)
        for column in range(n_relevant + n_misaligned):
            relevant = column < n_relevant
            own = cuts if relevant else draw_change_points(rng, n_rows, n_changes)
            size = jump if relevant else nuisance
            X[:, column] += _levels(own, size * _jumps(rng, n_changes), n_rows)
        series.append(X if rotation is None else X @ rotation)
        labels.append(_segments(cuts, n_rows))
    return SegmentedSeries(series, labels, np.arange(n_columns) < n_relevant, rotation)


def make_distribution_changes(
    kind: str,
    n_series: int = 10,
    n_rows: int = 500,
    *,
    n_changes: tuple[int, int] = (1, 5),
    random_state: object = None,
) -> SegmentedSeries:
    """Sample series of one column whose distribution alternates between two.

    Parameters
    ----------
    kind : {"mean", "variance", "bimodal"}
        What alternates with the standard normal distribution: the same around 1; standard deviation
        2; or two modes, ``0.95`` to either side, of the same mean and variance.
    n_series, n_rows : int, default=10, 500
        Series, and rows of every series.
    n_changes : tuple of int, default=(1, 5)
        Every series draws its own number of changes, both ends included. Segments have at least
        half of the mean length.
    random_state : int, RandomState, Generator or None, default=None
        None is the fixed seed of the library.

    Returns
    -------
    SegmentedSeries

    Examples
    --------
    >>> from likewise.datasets import make_distribution_changes
    >>> made = make_distribution_changes("variance", 2, 100, n_changes=(1, 1), random_state=0)
    >>> [X.shape for X in made.series], [int(y.max()) for y in made.labels]
    ([(100, 1), (100, 1)], [1, 1])
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    seed = draw_seed(random_state)
    series, labels = [], []
    for place in range(n_series):
        rng = stream(seed, "distribution changes", kind, place)
        cuts = draw_change_points(rng, n_rows, _count(rng, n_changes), LEAST_OF_ONE_COLUMN)
        label = _segments(cuts, n_rows)
        other = (label + rng.integers(2)) % 2 == 1
        x = rng.standard_normal(n_rows)
        if kind == "mean":
            x[other] += 1.0
        elif kind == "variance":
            x[other] *= WIDER
        else:
            sides = MODE * rng.choice([-1.0, 1.0], n_rows)
            x[other] = (sides + np.sqrt(1.0 - MODE**2) * x)[other]
        series.append(x[:, None])
        labels.append(label)
    return SegmentedSeries(series, labels, np.ones(1, dtype=np.bool_))


def make_copy_number_profiles(
    n_profiles: int = 10,
    n_rows: int = 240,
    *,
    n_changes: tuple[int, int] = (1, 4),
    outliers: float = 0.02,
    random_state: object = None,
) -> SegmentedSeries:
    """Sample profiles whose level and noise change, with gross outliers, and regions of them.

    Every profile has a scale of its own. At a change its level jumps by 0.75 to 2.25 scales, up or
    down, and the standard deviation of its noise becomes another one, between 0.6 and 1.6 scales;
    the outliers are 6 to 15 scales away from where they belong. Regions are what somebody might
    have marked: exactly one change in a third of the segment on either side of it, and none in the
    middle third of a segment.

    Parameters
    ----------
    n_profiles, n_rows : int, default=10, 240
        Profiles, and rows of every profile.
    n_changes : tuple of int, default=(1, 4)
        Every profile draws its own number of changes, both ends included. Segments have at least
        half of the mean length.
    outliers : float, default=0.02
        Share of the rows that are gross outliers.
    random_state : int, RandomState, Generator or None, default=None
        None is the fixed seed of the library.

    Returns
    -------
    SegmentedSeries
        With ``regions``.

    Examples
    --------
    >>> from likewise.datasets import make_copy_number_profiles
    >>> made = make_copy_number_profiles(3, random_state=0)
    >>> cuts = [(y[1:] != y[:-1]).nonzero()[0] + 1 for y in made.labels]
    >>> [regions.errors(found) for regions, found in zip(made.regions, cuts)]
    [0, 0, 0]
    """
    if not 0.0 <= outliers < 1.0:
        raise InputError(f"outliers must be a share from 0 to less than 1; got {outliers!r}.")
    seed = draw_seed(random_state)
    series, labels, regions = [], [], []
    for place in range(n_profiles):
        rng = stream(seed, "copy-number profile", place)
        cuts = draw_change_points(rng, n_rows, _count(rng, n_changes), LEAST_OF_ONE_COLUMN)
        label = _segments(cuts, n_rows)
        levels = _levels(cuts, LEVEL_JUMP * _jumps(rng, len(cuts)), n_rows)
        noise = rng.uniform(*DEVIATIONS, len(cuts) + 1)[label] * rng.standard_normal(n_rows)
        gross = rng.uniform(*OUTLIERS, n_rows) * rng.choice([-1.0, 1.0], n_rows)
        x = levels + noise + np.where(rng.random(n_rows) < outliers, gross, 0.0)
        scale = np.exp(LOG_SCALE_SPREAD * rng.standard_normal())
        series.append(scale * x[:, None])
        labels.append(label)
        regions.append(_marked(cuts, n_rows))
    return SegmentedSeries(series, labels, np.ones(1, dtype=np.bool_), regions=regions)


def draw_change_points(
    rng: np.random.Generator, n_rows: int, n_changes: int, least_share: float = LEAST_SHARE
) -> Indices:
    """Change points, uniform among all that leave every segment a share of the mean length.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.datasets.segmented import draw_change_points
    >>> draw_change_points(np.random.default_rng(0), 8, 7).tolist()
    [1, 2, 3, 4, 5, 6, 7]
    """
    if not 0 <= n_changes < n_rows:
        raise InputError(
            f"n_changes={n_changes} must be 0 to {n_rows - 1} for series of {n_rows} rows."
        )
    least = max(1, int(least_share * n_rows / (n_changes + 1)))
    free = n_rows - least * (n_changes + 1)
    # Bars among stars: what lies between two bars is what a segment has beyond its least length.
    bars = np.sort(rng.choice(free + n_changes, n_changes, replace=False))
    cuts: Indices = bars - np.arange(n_changes) + least * np.arange(1, n_changes + 1)
    return cuts


def _count(rng: np.random.Generator, n_changes: tuple[int, int]) -> int:
    return int(rng.integers(n_changes[0], n_changes[1], endpoint=True))


def _jumps(rng: np.random.Generator, n_changes: int) -> Floats:
    return rng.uniform(SMALLEST, LARGEST, n_changes) * rng.choice([-1.0, 1.0], n_changes)


def _levels(cuts: Indices, jumps: Floats, n_rows: int) -> Floats:
    """The mean of every row: the sum of the jumps so far."""
    steps = np.zeros(n_rows)
    steps[cuts] = jumps
    return np.cumsum(steps)


def _segments(cuts: Indices, n_rows: int) -> Indices:
    starts = np.zeros(n_rows, dtype=np.intp)
    starts[cuts] = 1
    return np.cumsum(starts)


def _rotation(rng: np.random.Generator, n_columns: int) -> Floats:
    """A random orthogonal matrix, all equally likely."""
    orthogonal, triangle = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))
    rotation: Floats = orthogonal * np.sign(np.diag(triangle))
    return rotation


def _marked(cuts: Indices, n_rows: int) -> RegionLabels:
    """A region around every change, and one between every two; they do not overlap."""
    ends = [0, *cuts.tolist(), n_rows]
    thirds = [(end - start) // 3 for start, end in pairwise(ends)]
    rows: list[tuple[int, int, int]] = []
    for place, third in enumerate(thirds):
        start, end = ends[place], ends[place + 1]
        if start:
            rows.append((start - thirds[place - 1], start + third + 1, 1))
        if start + third + 1 < end - third:
            rows.append((start + third + 1, end - third, 0))
    return RegionLabels(rows)
