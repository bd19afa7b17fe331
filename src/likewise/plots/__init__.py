"""Pictures, in scikit-learn's ``Display`` convention; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from likewise.plots.agreement import AgreementDisplay
from likewise.plots.before_after import BeforeAfterDisplay
from likewise.plots.explanation import ExplanationDisplay
from likewise.plots.gallery import GalleryDisplay
from likewise.plots.partitions import PartitionDisplay
from likewise.plots.penalties import PenaltyPathDisplay
from likewise.plots.segments import SegmentsDisplay
from likewise.plots.training import SolveDisplay, TrainingDisplay
from likewise.plots.weights import WeightsDisplay

__all__ = [
    "AgreementDisplay",
    "BeforeAfterDisplay",
    "ExplanationDisplay",
    "GalleryDisplay",
    "PartitionDisplay",
    "PenaltyPathDisplay",
    "SegmentsDisplay",
    "SolveDisplay",
    "TrainingDisplay",
    "WeightsDisplay",
]
