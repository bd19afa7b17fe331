"""Pictures, in scikit-learn's ``Display`` convention; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from likewise.plots.gallery import GalleryDisplay
from likewise.plots.partitions import PartitionDisplay
from likewise.plots.training import SolveDisplay

__all__ = ["GalleryDisplay", "PartitionDisplay", "SolveDisplay"]
