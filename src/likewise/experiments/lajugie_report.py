"""What is claimed about segmenting synthetic series, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.experiments.base import (
    Claim,
    Findings,
    Result,
    Table,
    distinct,
    mean_and_sd,
    over_seeds,
    select,
    values,
)
from likewise.experiments.segment_methods import (
    DIAGONAL,
    FULL,
    HERMITE,
    KNOWN,
    LEARNER,
    PCA_START,
    VALIDATED,
)

Lines = list[dict[str, Any]]

OURS = "this library"
EUCLIDEAN, PCA, RCA = "Euclidean" + KNOWN, "PCA-3" + KNOWN, "RCA-3" + KNOWN
# Bars of this library: jumps of relevant and misaligned columns, training series, mean loss.
BARS = ((0.6, 1.5, 100, 0.15), (0.3, 1.5, 100, 1.0), (0.6, 1.5, 10, 0.4))
RELEVANT = 0.9
EUCLIDEAN_LOSS, EUCLIDEAN_WITHIN = 2.8, 0.3
FULL_BAR, DIAGONAL_BAR = 0.5, 1.5
WINDOW, WINDOW_BAR = 0.2, 0.2
CHANGE_BARS = {"variance": 1.2, "bimodal": 0.8}
# Of the loss of one segment for everything: with so much of it, nothing was found.
NOTHING = 0.9
REGION_BAR, MEAN_ONLY_BAR = 0.08, 0.2
# Words of the paper, turned into rules: where a fraction of labels is not "very small" any more.
ENOUGH = 0.2


def report(results: Sequence[Result]) -> Findings:
    """One table per task, and the claims."""
    tables = [
        *_accuracy_tables(select(results, "accuracy")),
        *_method_table("Rotated columns, mean loss", select(results, "rotated")),
        *_partial_tables(select(results, "partial")),
        *_distribution_table(select(results, "distribution")),
        *_region_table(select(results, "regions")),
    ]
    claims = [
        *_bars(select(results, "accuracy")),
        *_paper(select(results, "accuracy")),
        *_rotated(select(results, "rotated")),
        *_partial(select(results, "partial")),
        *_distributions(select(results, "distribution")),
        *_regions(select(results, "regions")),
    ]
    return Findings(tables, claims)


def main_setting(lines: Lines, jump: float, nuisance: float) -> Lines:
    """Lines of one size of jumps, those with the most training series."""
    own = [x for x in lines if (x["jump"], x["nuisance"]) == (jump, nuisance)]
    most = max((x["train_series"] for x in own), default=0)
    return [x for x in own if x["train_series"] == most]


def _accuracy_tables(lines: Lines) -> list[Table]:
    settings = dict.fromkeys((x["jump"], x["nuisance"], x["train_series"]) for x in lines)
    return [
        table
        for jump, nuisance, n in settings
        for table in _method_table(
            f"Mean loss: jumps {jump}, nuisance {nuisance}, {n} training series",
            [
                x
                for x in lines
                if (x["jump"], x["nuisance"], x["train_series"]) == (jump, nuisance, n)
            ],
        )
    ]


def _method_table(title: str, lines: Lines) -> list[Table]:
    names = (
        ("loss", 3), ("segments_found", 2), ("relevant_share", 3), ("fit_seconds", 2),
        ("cluster_seconds", 4),
    )  # fmt: skip
    columns = ["method", "loss", "segments found", "weight on relevant columns",
               "seconds to train", "seconds per new series"]  # fmt: skip
    rows = [
        [method, *(mean_and_sd(values(_of(lines, method), name), digits) for name, digits in names)]
        for method in distinct(lines, "method")
    ]
    seeds = len(distinct(lines, "seed"))
    return [Table(f"{title}; {over_seeds(seeds)}", columns, rows)] if lines else []


def _partial_tables(lines: Lines) -> list[Table]:
    seeds = len(distinct(lines, "seed"))
    methods = distinct(lines, "method")
    tables = []
    for reading, title in (("series", "of the series"), ("window", "of the rows of every series")):
        fractions = sorted(
            {x["fraction"] for x in lines if x["reading"] in (reading, "all")}, reverse=True
        )
        rows = []
        for fraction in fractions:
            found = [_at_fraction(lines, method, reading, fraction) for method in methods]
            rows.append([f"{fraction:g}", *map(mean_and_sd, found)])
        tables.append(
            Table(
                f"Mean loss, labels of a fraction {title}; {over_seeds(seeds)}",
                ["fraction", *methods],
                rows,
            )
        )
    return tables if lines else []


def _distribution_table(lines: Lines) -> list[Table]:
    methods = distinct(lines, "method")
    rows = []
    for change in distinct(lines, "change"):
        own = [x for x in lines if x["change"] == change]
        found = [mean_and_sd(values(_of(own, method), "loss")) for method in methods]
        one = values(_of(own, methods[0]), "one_segment")
        rows.append([change, *found, mean_and_sd(one)])
    title = f"Mean loss, changes of a distribution; {over_seeds(len(distinct(lines, 'seed')))}"
    return [Table(title, ["change", *methods, "one segment"], rows)] if lines else []


def _region_table(lines: Lines) -> list[Table]:
    names = (("region_error", 3), ("loss", 3), ("fit_seconds", 2))
    rows = [
        [method, *(mean_and_sd(values(_of(lines, method), name), digits) for name, digits in names)]
        for method in distinct(lines, "method")
    ]
    title = f"Profiles with regions; {over_seeds(len(distinct(lines, 'seed')))}"
    columns = ["method", "share of regions with errors", "loss", "seconds to train"]
    return [Table(title, columns, rows)] if lines else []


def _bars(lines: Lines) -> list[Claim]:
    claims = []
    for jump, nuisance, n, bar in BARS:
        own = [
            x for x in lines if (x["jump"], x["nuisance"], x["train_series"]) == (jump, nuisance, n)
        ]
        found = values(_of(own, LEARNER), "loss")
        known = values(_of(own, "known columns" + VALIDATED), "loss")
        if not found:
            continue
        claims.append(
            Claim(
                OURS,
                f"unknown number of changes, jumps {jump}, {n} training series",
                f"mean loss {mean_and_sd(found)}; known columns give {mean_and_sd(known)}",
                float(np.mean(found)) <= bar,
                f"mean at most {bar}",
            )
        )
    shares = {
        jump: values(_of(main_setting(lines, jump, nuisance), LEARNER), "relevant_share")
        for jump, nuisance in dict.fromkeys((x["jump"], x["nuisance"]) for x in lines)
    }
    means = {jump: float(np.mean(found)) for jump, found in shares.items() if found}
    if means:
        worst = min(means, key=lambda jump: means[jump])
        claims.append(
            Claim(
                OURS,
                "the weight is on the columns that matter",
                f"least share {means[worst]:.3f}, at jumps {worst}",
                means[worst] >= RELEVANT,
                f"mean share at least {RELEVANT} for all sizes of jumps, most training series",
            )
        )
    return claims


def _paper(lines: Lines) -> list[Claim]:
    """The words of section 5.1, by the means of every size of jumps."""
    claims = []
    for jump, nuisance in dict.fromkeys((x["jump"], x["nuisance"]) for x in lines):
        own = main_setting(lines, jump, nuisance)
        mean = {
            method: float(np.mean(values(_of(own, method), "loss")))
            for method in distinct(own, "method")
        }
        where = f"jumps {jump}, nuisance {nuisance}"
        better = [
            ours < theirs
            for ours, theirs in zip(
                values(_of(own, LEARNER), "loss"), values(_of(own, RCA), "loss"), strict=True
            )
        ]
        claims += [
            Claim(
                "section 5.1",
                f"learning does significantly better than RCA: {where}",
                f"{mean[LEARNER]:.3f}, RCA with 3 components {mean[RCA]:.3f}, better for "
                f"{sum(better)} of {len(better)} seeds",
                all(better),
                "less loss for every seed, though RCA knows the number of changes",
            ),
            Claim(
                "section 5.1",
                f"Euclidean is bad and PCA only slightly better: {where}",
                f"Euclidean {mean[EUCLIDEAN]:.3f}, PCA {mean[PCA]:.3f}",
                mean[LEARNER] < mean[PCA] < mean[EUCLIDEAN],
                "less loss with PCA than with Euclidean, and more than with learning",
            ),
            Claim(
                "section 5.1",
                f"RCA depends on the number of components: {where}",
                f"3 components {mean[RCA]:.3f}, 10 components {mean['RCA-10' + KNOWN]:.3f}",
                None,
                "for comparison",
            ),
        ]
        if (jump, nuisance) == BARS[0][:2]:
            claims.append(
                Claim(
                    OURS,
                    f"without learning the loss is about {EUCLIDEAN_LOSS}: {where}",
                    f"Euclidean, the number of changes known: {mean[EUCLIDEAN]:.3f}",
                    abs(mean[EUCLIDEAN] - EUCLIDEAN_LOSS) <= EUCLIDEAN_WITHIN,
                    f"within {EUCLIDEAN_WITHIN}",
                )
            )
    return claims


def _rotated(lines: Lines) -> list[Claim]:
    full, diagonal = (values(_of(lines, name), "loss") for name in (FULL, DIAGONAL))
    if not full or not diagonal:
        return []
    return [
        Claim(
            OURS,
            "a full metric finds what no weights of columns can",
            f"full {mean_and_sd(full)}, diagonal {mean_and_sd(diagonal)}",
            float(np.mean(full)) <= FULL_BAR and float(np.mean(diagonal)) >= DIAGONAL_BAR,
            f"full at most {FULL_BAR} where diagonal is at least {DIAGONAL_BAR}",
        )
    ]


def _partial(lines: Lines) -> list[Claim]:
    claims = []
    window = _at_fraction(lines, LEARNER, "window", WINDOW)
    if window:
        claims.append(
            Claim(
                OURS,
                f"a labelled window of {100 * WINDOW:.0f} % of every series is enough",
                f"mean loss {mean_and_sd(window)}",
                float(np.mean(window)) <= WINDOW_BAR,
                f"mean at most {WINDOW_BAR}",
            )
        )
    for reading in ("series", "window"):
        parts = sorted({x["fraction"] for x in lines if x["reading"] == reading})
        if not parts:
            continue
        mean = {
            (method, fraction): float(np.mean(found))
            for method in distinct(lines, "method")
            for fraction in parts
            if (found := _at_fraction(lines, method, reading, fraction))
        }
        enough = [fraction for fraction in parts if fraction >= ENOUGH]
        best = [
            fraction
            for fraction in enough
            if mean[LEARNER, fraction]
            == min(
                loss for (name, part), loss in mean.items()
                if part == fraction and name != PCA_START
            )
        ]  # fmt: skip
        starts = [
            float(np.mean([mean[name, part] for part in parts])) for name in (LEARNER, PCA_START)
        ]
        claims += [
            Claim(
                "section 5.2, fig. 1",
                f"with part of the labels the order is the same, but for a few: {reading}",
                f"learning is best at {len(best)} of {len(enough)} fractions from {ENOUGH} on",
                len(best) == len(enough),
                f"least mean loss at every fraction from {ENOUGH} on",
            ),
            Claim(
                OURS,
                f"start from what the labelled parts say, not from PCA: {reading}",
                f"mean loss over fractions {starts[0]:.3f}, from PCA {starts[1]:.3f}",
                starts[0] < starts[1],
                "less",
            ),
        ]
    return claims


def _distributions(lines: Lines) -> list[Claim]:
    claims = []
    for change, bar in CHANGE_BARS.items():
        own = [x for x in lines if x["change"] == change]
        hermite, mean_only = (values(_of(own, name), "loss") for name in (HERMITE, LEARNER))
        one = values(_of(own, LEARNER), "one_segment")
        if not hermite or not mean_only:
            continue
        nothing = float(np.mean(mean_only)) >= NOTHING * float(np.mean(one))
        claims.append(
            Claim(
                OURS,
                f"Hermite features find changes that leave the mean as it is: {change}",
                f"{mean_and_sd(hermite)}, mean only {mean_and_sd(mean_only)}, one segment "
                f"{mean_and_sd(one)}",
                float(np.mean(hermite)) <= bar and nothing,
                f"at most {bar}, and mean only at least {NOTHING} of the loss of one segment",
            )
        )
    return claims


def _regions(lines: Lines) -> list[Claim]:
    hermite, mean_only = (values(_of(lines, name), "region_error") for name in (HERMITE, LEARNER))
    if not hermite or not mean_only:
        return []
    return [
        Claim(
            OURS,
            "profiles with gross outliers, learnt from regions",
            f"share of regions with errors {mean_and_sd(hermite)}, mean only "
            f"{mean_and_sd(mean_only)}",
            float(np.mean(hermite)) <= REGION_BAR and float(np.mean(mean_only)) >= MEAN_ONLY_BAR,
            f"at most {REGION_BAR} where mean only is at least {MEAN_ONLY_BAR}",
        )
    ]


def _of(lines: Lines, method: str) -> Lines:
    return [x for x in lines if x["method"] == method]


def _at_fraction(lines: Lines, method: str, reading: str, fraction: float) -> list[float]:
    """Losses of one point of the figure; with all labels both readings and starts are the same."""
    name = LEARNER if method == PCA_START and fraction == 1.0 else method
    own = _of(lines, name)
    exact = [x for x in own if (x["reading"], x["fraction"]) == (reading, fraction)]
    if exact:
        return values(exact, "loss")
    # What does not look at labels was measured once.
    labelled = {x["reading"] for x in own} - {"all"}
    whole = [x for x in own if x["reading"] == "all" and (fraction == 1.0 or not labelled)]
    return values(whole, "loss")
