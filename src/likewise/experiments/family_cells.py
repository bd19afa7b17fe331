"""What the cells of ``segmentation-families`` compute, one function for every kind of data."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from likewise.datasets.folders import (
    LabelledSequences,
    load_annotated_series,
    load_chromosomes,
    load_regions,
    load_sequences,
)
from likewise.datasets.penalty_tables import load_penalty_table
from likewise.errors import InputError
from likewise.estimators.change_point_learner import ChangePointLearner
from likewise.estimators.change_points import ChangePointDetector
from likewise.estimators.penalty_regressor import PenaltyRegressor
from likewise.experiments.annotators import annotated_covering, annotated_f1, segments_of
from likewise.experiments.base import Cell, Measured
from likewise.experiments.fitted_penalties import (
    FittedPenalty,
    best_penalty,
    default_change_points,
    paths_of,
    scales_within,
)
from likewise.experiments.methods import LEARNER
from likewise.geometry.noise import noise_scales
from likewise.metrics import change_point_f1, covering
from likewise.supervision import RegionLabels

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Segmenter = Callable[[Floats], Indices]

FITTED = "fitted penalty"
NOISE, TOTAL = "2 p log T, noise", "2 p log T, total sd"
LOG_N = "2 log n, total sd"
DEFAULTS = {NOISE: "differences", TOTAL: "total"}
# Plain means of the default penalties.
BLOCKS = 350
# A change that is found is right within this share of the length; of probes, within so many.
MARGIN, PROBES = 0.01, 2
# Copy numbers are clipped so many standard deviations around a running median of so many probes.
CLIP, MEDIAN = 3.0, 7
# Penalties of region labels, in units of sigma^2 log n: 2 is the usual one.
FACTORS = np.geomspace(0.5, 50.0, 21)


def new_learner() -> Any:
    """The learner with its default settings, features chosen by itself."""
    return ChangePointLearner(features="auto", random_state=0)


def score(truth: Indices, found: Indices, n_rows: int) -> float:
    """Covering, from change points."""
    return covering(segments_of(truth, n_rows), segments_of(found, n_rows))


def owners(found: LabelledSequences, family: str) -> list[str]:
    """Whose sequences are left out together: of a person with two recordings, both."""
    if family == "watch-physio":
        return [name.partition("_")[0] for name in found.ids]
    return found.groups


def movement(cell: Cell) -> Measured:
    """Segment the sequences of one owner, as learnt from all others."""
    settings = cell.settings
    known = load_sequences(_folder(cell, settings["family"]))
    who = owners(known, settings["family"])
    start = time.perf_counter()
    segment = _segmenter(settings["method"], known, [one != settings["left_out"] for one in who])
    seconds = time.perf_counter() - start
    rows = []
    for name, owner, series, cuts in zip(known.ids, who, known.series, _cuts(known), strict=True):
        if owner != settings["left_out"]:
            continue
        found, n_rows = segment(series), len(series)
        truth, labels = segments_of(cuts, n_rows), segments_of(found, n_rows)
        rows.append(
            {
                "sequence": name,
                "covering": covering(truth, labels),
                "f1": change_point_f1(truth, labels, max(1.0, MARGIN * n_rows)),
                "found": len(found) + 1,
                "true": len(cuts) + 1,
                "fit_seconds": seconds,
            }
        )
    return rows, {}


def copy_number(cell: Cell) -> Measured:
    """Segment the chromosomes of one cell line, as learnt from all others."""
    settings = cell.settings
    known = load_chromosomes(_folder(cell, settings["family"]))
    cuts = _cuts(known)
    series = [clipped(rows) for rows in known.series]
    shown = [who != settings["left_out"] for who in known.groups]
    segment = _copy_number_segmenter(settings["method"], series, cuts, shown)
    true = hits = false = 0
    for own, truth, seen in zip(series, cuts, shown, strict=True):
        if not seen:
            found = segment(own)
            right = matched(truth, found, PROBES)
            true, hits, false = true + len(truth), hits + right, false + len(found) - right
    return [{"true": true, "hits": hits, "false": false}], {}


def clipped(rows: Floats) -> Floats:
    """Single probes far from their neighbours, drawn to them; steps stay where they are."""
    middle = median_filter(rows, size=(MEDIAN, 1), mode="nearest")
    reach = CLIP * noise_scales(rows)[0]
    return np.clip(rows, middle - reach, middle + reach)


def matched(truth: Indices, found: Indices, margin: int) -> int:
    """How many true changes are found, within a margin."""
    n_rows = int(max([0, *truth, *found])) + margin + 2
    both = len(truth) + len(found)
    f1 = change_point_f1(segments_of(truth, n_rows), segments_of(found, n_rows), margin)
    return round(f1 * both / 2)


def penalty_regression(cell: Cell) -> Measured:
    """Predict the penalties of one published fold from features, as learnt from the others."""
    settings = cell.settings
    table = load_penalty_table(_folder(cell, settings["family"]), settings["labels"])
    away = table.folds[settings["split"]] == settings["fold"]
    usable = with_logarithms(table.names, table.features, ~away)
    regressor = PenaltyRegressor().fit(usable[~away], table.limits[~away])
    predicted = regressor.predict(usable)
    constant = PenaltyRegressor(strength=0.0).fit(
        np.zeros((len(usable), 1))[~away], table.limits[~away]
    )
    return [
        {
            "labels_held_out": int(table.labels[away].sum()),
            "errors": int(table.errors(predicted)[away].sum()),
            "errors_of_a_constant": int(
                table.errors(np.full(len(usable), constant.intercept_))[away].sum()
            ),
            "features": int(usable.shape[1]),
        }
    ], {}


def with_logarithms(names: list[str], features: Floats, shown: NDArray[np.bool_]) -> Floats:
    """Features and the logarithms of those that are above zero wherever they were shown.

    A table that brings logarithms of its own is left as it is. Elsewhere, what is not above the
    lowest value that was shown counts as that value.
    """
    if any(name.startswith("log") for name in names):
        return features
    positive = (features[shown] > 0.0).all(axis=0)
    lowest = features[shown][:, positive].min(axis=0)
    return np.hstack([features, np.log(np.maximum(features[:, positive], lowest))])


def annotated_series(cell: Cell) -> Measured:
    """Segment every series with the penalty that suits all others, or with the usual one."""
    settings = cell.settings
    known, annotations = load_annotated_series(_folder(cell, settings["family"]))
    series = [_scaled(_filled(rows)) for rows in known.series]
    marks = [list(one.values()) for one in annotations]
    rows = []
    for k, name in enumerate(known.ids):
        if settings["method"] == LOG_N:
            penalty = 2.0 * series[k].shape[1] * np.log(len(series[k]))
        else:
            others = [i for i in range(len(series)) if i != k]
            penalty = _penalty_of([series[i] for i in others], [marks[i] for i in others])
        found = ChangePointDetector(penalty=penalty).fit(series[k]).change_points_
        rows.append(
            {
                "sequence": name,
                "covering": annotated_covering(marks[k], found, len(series[k])),
                "f1": annotated_f1(marks[k], found),
                "found": len(found) + 1,
            }
        )
    return rows, {}


def regions(cell: Cell) -> Measured:
    """Region errors of every profile with the factor of sigma^2 log n that suits the others."""
    known, labelled = load_regions(_folder(cell, cell.settings["family"]))
    errors = np.array(
        [
            _region_errors(rows, RegionLabels(own))
            for rows, own in zip(known.series, labelled, strict=True)
        ]
    )
    usual = int(np.argmin(np.abs(FACTORS - 2.0)))
    rows = []
    for k, name in enumerate(known.ids):
        others = np.delete(errors, k, axis=0).sum(axis=0)
        best = np.flatnonzero(others == others.min())
        fitted = int(best[len(best) // 2])
        rows.append(
            {
                "sequence": name,
                "regions": len(labelled[k]),
                "errors": int(errors[k, fitted]),
                "errors_of_2_log_n": int(errors[k, usual]),
            }
        )
    return rows, {}


def _folder(cell: Cell, family: str) -> Path:
    if cell.data is None:
        raise InputError("the cell does not say where its data is.")
    return Path(cell.data) / family


def _cuts(known: LabelledSequences) -> list[Indices]:
    if known.change_points is None:
        raise InputError("change points of all sequences must be known.")
    return known.change_points


def _segmenter(method: str, known: LabelledSequences, shown: list[bool]) -> Segmenter:
    """What a method makes of the sequences that it is shown: a function that finds changes."""
    chosen = [k for k, seen in enumerate(shown) if seen]
    series = [known.series[k] for k in chosen]
    if method == LEARNER:
        learner = new_learner().fit(series, [known.segments[k] for k in chosen])
        return lambda rows: _changes(learner.cluster([rows])[0])
    if method == FITTED:
        cuts = _cuts(known)
        return FittedPenalty(score).fit(series, [cuts[k] for k in chosen]).change_points
    if method not in DEFAULTS:
        raise InputError(f"there is no method {method!r}.")
    return lambda rows: default_change_points(rows, BLOCKS, DEFAULTS[method])


def _copy_number_segmenter(
    method: str, series: list[Floats], cuts: list[Indices], shown: list[bool]
) -> Segmenter:
    chosen = [k for k, seen in enumerate(shown) if seen]
    segments = [segments_of(cuts[k], len(series[k])) for k in chosen]
    if method == LEARNER:
        learner = new_learner().set_params(features=None)
        learner.fit([series[k] for k in chosen], segments)
        return lambda rows: _changes(learner.cluster([rows])[0])
    if method == NOISE:
        return lambda rows: default_change_points(rows, len(rows), DEFAULTS[NOISE])
    scales = scales_within([series[k] for k in chosen], segments)
    scaled = [series[k] / scales for k in chosen]
    paths = paths_of(scaled, [len(cuts[k]) + 1 for k in chosen])
    penalty = best_penalty(
        paths, lambda place, found: score(cuts[chosen[place]], found, len(scaled[place]))
    )
    detector = ChangePointDetector(penalty=penalty)
    return lambda rows: detector.fit(rows / scales).change_points_


def _changes(labels: Indices) -> Indices:
    return np.flatnonzero(np.diff(labels)) + 1


def _filled(rows: Floats) -> Floats:
    """Missing values, on the straight line between their neighbours."""
    filled = rows.copy()
    for column in filled.T:
        missing = np.isnan(column)
        places = np.flatnonzero(~missing)
        column[missing] = np.interp(np.flatnonzero(missing), places, column[places])
    return filled


def _scaled(rows: Floats) -> Floats:
    scales = rows.std(axis=0)
    return rows / np.where(scales > 0.0, scales, np.inf)


def _penalty_of(series: list[Floats], marks: list[list[Indices]]) -> float:
    counts = [max(map(len, own)) + 1 for own in marks]
    return best_penalty(
        paths_of(series, counts),
        lambda place, found: annotated_covering(marks[place], found, len(series[place])),
    )


def _region_errors(rows: Floats, labels: RegionLabels) -> list[int]:
    """How many regions every factor gets wrong."""
    unit = float(np.square(noise_scales(rows)[0]).sum()) * np.log(len(rows))
    return [
        labels.errors(ChangePointDetector(penalty=factor * unit).fit(rows).change_points_)
        for factor in FACTORS
    ]
