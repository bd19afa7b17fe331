"""What a fitted `ChangePointLearner` says: penalties of new sequences, segments, a summary."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.segments import Segmentation, decode_segments
from likewise.errors import CertificateWarning, InputError, LikewiseWarning
from likewise.estimators.series_features import Look
from likewise.estimators.series_penalties import growth
from likewise.estimators.series_scores import checked_metric, trace_scores
from likewise.geometry.noise import noise_scales
from likewise.learners.base import STATUS_REMEDIES
from likewise.validation import validate_int

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sequences beyond this many times the lengths seen are far away from them.
FAR = 3.0
# Shown in a summary.
MOST_WEIGHTS = 12


def profile_of(rows: Floats) -> Floats:
    """What a penalty may depend on: features of a sequence in the factor space of the metric."""
    noise = float(np.square(noise_scales(rows)[0]).sum())
    spread = float(np.square(rows - rows.mean(axis=0)).sum()) / len(rows)
    tiny = np.finfo(np.float64).tiny
    n = np.log(max(len(rows), 3))
    return np.array([n, np.log(n), np.log(max(noise, tiny)), np.log(max(spread, tiny))])


def segmented(
    learner: Any, table: Floats, n_segments: int | None
) -> tuple[Segmentation, Floats, int]:
    """The segmentation of one new sequence in blocks, its features, and the rows of a block."""
    features, step = features_of(learner, table), learner.rows_per_block_
    penalty = penalty_for(learner, features)
    scores = trace_scores(features, checked_metric(learner.metric_, features.shape[1]), penalty)
    if n_segments is not None and n_segments > len(features):
        raise InputError(
            f"n_segments must be at most {len(features)} for a sequence of {len(table)} rows in "
            f"blocks of {step}; got {n_segments}."
        )
    found = decode_segments(scores, n_segments=n_segments)
    assert found is not None
    return found, features, step


def features_of(learner: Any, table: Floats) -> Floats:
    """What is segmented: features of one sequence, averaged in blocks."""
    return Look("features", learner.transformer_, learner.rows_per_block_).of(table)


def penalty_for(learner: Any, features: Floats) -> float:
    """The penalty of one sequence."""
    if learner.penalty_regressor_ is not None:
        scores = trace_scores(features, checked_metric(learner.metric_, features.shape[1]), 0.0)
        profile = profile_of(scores.rows)[None]
        return float(np.exp(learner.penalty_regressor_.predict(profile)[0]))
    least, most = learner.n_blocks_seen_
    n = len(features)
    if not least / FAR <= n <= most * FAR:
        warnings.warn(
            f"a sequence of {n * learner.rows_per_block_} rows differs much from the training "
            f"sequences ({least * learner.rows_per_block_} to {most * learner.rows_per_block_} "
            "rows): the penalty was scaled by the logarithm of the length, which could not be "
            "learnt from such lengths. Show sequences of this length, or set "
            "penalty_ by hand.",
            LikewiseWarning,
            stacklevel=5,
        )
    return float(learner.penalty_) * growth(n, learner.typical_blocks_)


def rows_of(labels: Indices, step: int, n_rows: int) -> Indices:
    """Labels of rows from those of blocks."""
    return np.repeat(labels, step)[:n_rows]


def counts_for(n_segments: Any, n: int, known: bool) -> list[int | None]:
    """How many segments every sequence is to have."""
    if n_segments is None:
        if known:
            raise InputError(
                "n_segments='known' was learnt: pass cluster(..., n_segments=...), the number of "
                "segments of every sequence."
            )
        return [None] * n
    values = [n_segments] * n if np.ndim(n_segments) == 0 else list(n_segments)
    if len(values) != n:
        raise InputError(
            f"n_segments must be one number, or one per sequence; got {len(values)} for {n} "
            "sequences."
        )
    return [validate_int("n_segments", value, 1) for value in values]


def warn_of_series_status(learner: Any) -> None:
    """Say so where the training ended early, or came to nothing."""
    if learner.status_ != "converged":
        warnings.warn(
            f"{type(learner).__name__} stopped with status {learner.status_!r}: "
            f"{STATUS_REMEDIES[learner.status_]}.",
            CertificateWarning,
            stacklevel=3,
        )


def summarised_series(learner: Any) -> str:
    """What was learnt, as text."""
    lines = [
        f"{type(learner).__name__}: {learner.status_} ({STATUS_REMEDIES[learner.status_]})",
        f"  {learner.n_iter_} passes, objective {learner.objective_:.6g}, duality gap "
        f"{learner.gap_:.2%}, {learner.n_decoder_calls_} decoder calls",
        f"  features: {learner.look_}, blocks of {learner.rows_per_block_} rows",
        f"  chosen: {learner.chosen_}; penalty {learner.penalty_:.4g}",
        f"  loss on what was shown ({learner.judged_by_}): {learner.training_loss_:.3f}; "
        f"one segment for every sequence: {learner.one_segment_loss_:.3f}",
    ]
    table = learner.validation_
    if table:
        lines.append(f"  loss on sequences held out of training ({learner.validated_by_}):")
        for name, loss, error, chosen in zip(
            table["candidate"], table["loss"], table["standard_error"], table["chosen"], strict=True
        ):
            mark = "  <- chosen" if chosen else ""
            lines.append(f"    {name:<40}{loss:7.3f} +- {error:.3f}{mark}")
    weights = learner.weights_
    order = np.argsort(-weights, kind="stable")[:MOST_WEIGHTS]
    lines.append("  weights (largest first):")
    lines += [f"    {learner.feature_names_[f]:<32}{weights[f]:12.5g}" for f in order]
    left = len(weights) - len(order)
    return "\n".join(lines + ([f"    ... and {left} more"] if left > 0 else []))
