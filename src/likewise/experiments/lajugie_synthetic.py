"""Experiment ``lajugie-synthetic``: sections 5.1, 5.2 and figure 1 of Lajugie et al. (2014).

Series of 600 rows and 300 columns, ten of which change where the segments do; half of the others
change as often, elsewhere. Beside it: rotated columns, for which no weights of columns will do;
part of the labels; changes of variance and shape; and profiles of which only regions are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.random import stream
from likewise.datasets import (
    SegmentedSeries,
    make_copy_number_profiles,
    make_distribution_changes,
    make_segmented_series,
)
from likewise.experiments.base import (
    Cell,
    Experiment,
    Measured,
    Picture,
    Plan,
    Result,
    distinct,
    select,
)
from likewise.experiments.lajugie_report import main_setting, report
from likewise.experiments.segment_methods import (
    DIAGONAL,
    FULL,
    HERMITE,
    KNOWN,
    LEARNER,
    PCA_START,
    VALIDATED,
    SegmentTrial,
    losses,
    measure,
    segmented,
)
from likewise.geometry.noise import noise_scales
from likewise.metrics import projection_loss

METHODS = (
    LEARNER,
    LEARNER + KNOWN,
    *(name + KNOWN for name in ("Euclidean", "PCA-3", "RCA-3", "RCA-10", "MMC")),
    "Euclidean" + VALIDATED,
    "known columns" + VALIDATED,
)
ROTATED_METHODS = (
    FULL,
    DIAGONAL,
    "Euclidean" + KNOWN,
    "RCA" + KNOWN,
    "known columns" + VALIDATED,
)
# Those that do not look at labels have one result for all fractions.
PARTIAL_METHODS = (LEARNER, PCA_START, "RCA-3" + KNOWN, "MMC" + KNOWN)
UNLABELLED_METHODS = ("Euclidean" + KNOWN, "PCA-3" + KNOWN)
# In the order of the figure; the extra one is what the paper starts from.
FIGURE = (LEARNER, PCA_START, "Euclidean" + KNOWN, "PCA-3" + KNOWN, "RCA-3" + KNOWN, "MMC" + KNOWN)
# Sets of test series that are drawn for the bars.
RESAMPLED = 2000
READINGS = ("series", "window")
ONE_COLUMN_METHODS = (HERMITE, LEARNER, "Euclidean" + VALIDATED)

SETTING = {"rows": 600, "columns": 300, "relevant": 10, "misaligned": 145, "changes": 3}
SIZES = {"validation_series": 30, "test_series": 50}
# Sizes of jumps of relevant and of misaligned columns, and numbers of training series.
ACCURACY = ((0.6, 1.5, 100), (0.6, 1.5, 10), (0.3, 1.5, 100), (0.3, 1.5, 10), (1.5, 1.0, 100))
ROTATED = {"rows": 600, "columns": 20, "relevant": 5, "misaligned": 8, "changes": 3, "jump": 0.8}
FRACTIONS = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1)
CHANGES = ("mean", "variance", "bimodal")

QUICK_SETTING = {"rows": 120, "columns": 20, "relevant": 4, "misaligned": 8, "changes": 2}
QUICK_SIZES = {"validation_series": 4, "test_series": 4}
QUICK_ACCURACY = ((1.5, 1.5, 8), (1.0, 1.5, 8))
QUICK_ROTATED = {**QUICK_SETTING, "columns": 6, "relevant": 2, "misaligned": 3, "jump": 1.5}
QUICK_FRACTIONS = (1.0, 0.5, 0.2)


def cells(plan: Plan) -> list[Cell]:
    """Accuracy, rotated columns, partial labels, distributions, regions."""
    seeds = plan.count(3, 1)
    quick = plan.quick
    sizes = QUICK_SIZES if quick else SIZES
    setting = {**(QUICK_SETTING if quick else SETTING), **sizes}
    rotated = {**(QUICK_ROTATED if quick else ROTATED), "nuisance": 1.5, **sizes}
    made = [
        Cell(
            "accuracy",
            {"method": method, **setting, "jump": jump, "nuisance": nuisance, "train_series": n,
             "seed": seed},
        )
        for jump, nuisance, n in (QUICK_ACCURACY if quick else ACCURACY)
        for method in METHODS
        for seed in seeds
    ]  # fmt: skip
    made += [
        Cell("rotated", {"method": method, **rotated, "train_series": 8 if quick else 30,
                         "seed": seed})
        for method in ROTATED_METHODS
        for seed in seeds
    ]  # fmt: skip
    partial = {
        **setting, "validation_series": 0, "train_series": 8 if quick else 80, "nuisance": 1.5,
        "jump": 1.5 if quick else 0.6,
    }  # fmt: skip
    made += [
        Cell("partial", {"method": method, **partial, "reading": reading, "fraction": fraction,
                         "seed": seed})
        for method, reading, fraction in _partial_labels(QUICK_FRACTIONS if quick else FRACTIONS)
        for seed in seeds
    ]  # fmt: skip
    one = {"rows": 120 if quick else 500, **sizes, "train_series": 8 if quick else 50}
    made += [
        Cell("distribution", {"method": method, "change": change, **one, "seed": seed})
        for change in CHANGES
        for method in ONE_COLUMN_METHODS
        for seed in seeds
    ]
    profiles = {
        "rows": 120 if quick else 240,
        "train_series": 8 if quick else 80,
        "test_series": 6 if quick else 150,
    }
    return made + [
        Cell("regions", {"method": method, **profiles, "seed": seed})
        for method in ONE_COLUMN_METHODS
        for seed in seeds
    ]


def _partial_labels(fractions: Sequence[float]) -> list[tuple[str, str, float]]:
    """Methods, readings and fractions; where all is shown, readings and starts are the same."""
    whole = [name for name in (*PARTIAL_METHODS, *UNLABELLED_METHODS) if name != PCA_START]
    return [
        *((method, "all", 1.0) for method in whole),
        *(
            (method, reading, fraction)
            for reading in READINGS
            for method in PARTIAL_METHODS
            for fraction in fractions
            if fraction < 1.0
        ),
    ]


def compute(cell: Cell) -> Measured:
    """Compute one cell."""
    return {
        "accuracy": _accuracy,
        "rotated": _rotated,
        "partial": _partial,
        "distribution": _distribution,
        "regions": _regions,
    }[cell.kind](cell.settings)


def _made(settings: dict[str, Any], rotated: bool = False) -> SegmentedSeries:
    return make_segmented_series(
        settings["train_series"] + settings["validation_series"] + settings["test_series"],
        settings["rows"],
        settings["columns"],
        settings["relevant"],
        settings["changes"],
        jump=settings["jump"],
        nuisance=settings["nuisance"],
        n_misaligned=settings["misaligned"],
        rotated=rotated,
        random_state=settings["seed"],
    )


def _trial(settings: dict[str, Any], made: SegmentedSeries) -> SegmentTrial:
    train, others = made.split(settings["train_series"])
    validation, test = others.split(settings.get("validation_series", 0))
    return SegmentTrial(settings["method"], train, validation, test, settings["seed"])


def _accuracy(settings: dict[str, Any]) -> Measured:
    row, each = measure(_trial(settings, _made(settings)))
    return [row], {"losses": each}


def _rotated(settings: dict[str, Any]) -> Measured:
    row, each = measure(_trial(settings, _made(settings, rotated=True)))
    return [row], {"losses": each}


def _partial(settings: dict[str, Any]) -> Measured:
    trial = _trial(settings, _made(settings))
    given = part_of_labels(
        trial.train.labels, settings["reading"], settings["fraction"], settings["seed"]
    )
    row, each = measure(replace(trial, given=given))
    return [row], {"losses": each}


def part_of_labels(
    labels: Sequence[NDArray[np.intp]], reading: str, fraction: float, seed: int
) -> list[NDArray[np.intp]]:
    """A fraction of the labels, -1 for all others.

    Of so many series all labels, the first ones; or of every series a window of so many rows, put
    anywhere.
    """
    if reading == "all":
        return list(labels)
    if reading == "series":
        n_shown = round(fraction * len(labels))
        return [y if k < n_shown else np.full_like(y, -1) for k, y in enumerate(labels)]
    given = []
    for place, y in enumerate(labels):
        size = round(fraction * len(y))
        start = int(stream(seed, "window of labels", place).integers(len(y) - size + 1))
        part = np.full_like(y, -1)
        part[start : start + size] = y[start : start + size]
        given.append(part)
    return given


def _distribution(settings: dict[str, Any]) -> Measured:
    made = make_distribution_changes(
        settings["change"],
        settings["train_series"] + settings["validation_series"] + settings["test_series"],
        settings["rows"],
        random_state=settings["seed"],
    )
    trial = _trial(settings, made)
    row, each = measure(trial)
    row["one_segment"] = float(
        np.mean([projection_loss(y, np.zeros_like(y)) for y in trial.test.labels])
    )
    return [row], {"losses": each}


def _regions(settings: dict[str, Any]) -> Measured:
    """Series are in units of their own noise, for all methods alike."""
    made = make_copy_number_profiles(
        settings["train_series"] + settings["test_series"],
        settings["rows"],
        random_state=settings["seed"],
    )
    made = replace(made, series=[X / noise_scales(X)[0] for X in made.series])
    trial = _trial(settings, made)
    trial = replace(trial, given=trial.train.regions, validation=trial.train)
    done = segmented(trial)
    regions = trial.test.regions or []
    errors = [
        labels.errors(cuts) for labels, cuts in zip(regions, done.change_points(), strict=True)
    ]
    n_regions = sum(len(labels.rows) for labels in regions)
    row = {
        "region_error": sum(errors) / n_regions,
        "regions": n_regions,
        "loss": float(np.mean(losses(trial.test.labels, done.labels))),
        "fit_seconds": done.fit_seconds,
        "cluster_seconds": done.cluster_seconds,
    }
    return [row], {"errors": errors}


def draw(results: Sequence[Result]) -> Picture:
    """Figure 1 in both readings of "fraction of the labels", and all methods with all labels."""
    from likewise.plots.fractions import FractionPanel, MethodPanel, draw_fractions

    partial = [result for result in results if result.cell.kind == "partial"]
    fractions = {
        "series": "Labels of a part of the series",
        "window": "Labels of a part of every series",
    }
    curves = [
        FractionPanel(title, {method: _curve(partial, method, reading) for method in FIGURE})
        for reading, title in fractions.items()
    ]
    lines = select(results, "accuracy")
    panels = []
    for setting in dict.fromkeys((x["jump"], x["nuisance"]) for x in lines):
        own = main_setting(lines, *setting)
        panels.append(
            MethodPanel(
                f"Jumps {setting[0]}, nuisance {setting[1]}",
                {
                    method: [x["loss"] for x in own if x["method"] == method]
                    for method in distinct(own, "method")
                },
            )
        )
    return draw_fractions(curves, panels, "fraction of the labels", "loss on new series")


def _curve(
    partial: Sequence[Result], method: str, reading: str
) -> dict[float, tuple[float, float, float]]:
    """Mean loss by fraction, with the 5 % and 95 % quantiles of the mean over test series.

    A method without labels is a level line, from one result; with all labels every start is the
    same.
    """
    name = LEARNER if method == PCA_START else method
    found: dict[float, list[float]] = {}
    for result in partial:
        settings = result.cell.settings
        wanted = (name, "all") if settings["reading"] == "all" else (method, reading)
        if (settings["method"], settings["reading"]) == wanted:
            found.setdefault(settings["fraction"], []).extend(result.extra["losses"])
    if method in UNLABELLED_METHODS:
        found |= {
            result.cell.settings["fraction"]: found[1.0]
            for result in partial
            if result.cell.settings["reading"] == reading
        }
    return {fraction: mean_and_quantiles(found[fraction]) for fraction in sorted(found)}


def mean_and_quantiles(each: Sequence[float]) -> tuple[float, float, float]:
    """The mean, and where nine tenths of means over as many series drawn anew are."""
    numbers = np.asarray(each, dtype=np.float64)
    drawn = stream(0, "means drawn anew").integers(len(numbers), size=(RESAMPLED, len(numbers)))
    low, high = np.quantile(numbers[drawn].mean(axis=1), [0.05, 0.95])
    return float(numbers.mean()), float(low), float(high)


EXPERIMENT = Experiment(
    name="lajugie-synthetic",
    title="Learning where series change, from series whose change points are known",
    source="R. Lajugie, S. Arlot, F. Bach, ICML 2014, sections 5.1 and 5.2 and figure 1",
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
)
