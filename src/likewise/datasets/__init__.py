"""Data whose true clusters are known: shipped with what the library is built on, or made."""

from __future__ import annotations

from likewise.datasets.load import LabelledRows, load_digits_demo
from likewise.datasets.make import PartitionedSets, make_nuisance_sets, make_partitioned_sets
from likewise.datasets.segmented import (
    SegmentedSeries,
    make_copy_number_profiles,
    make_distribution_changes,
    make_segmented_series,
)

__all__ = [
    "LabelledRows",
    "PartitionedSets",
    "SegmentedSeries",
    "load_digits_demo",
    "make_copy_number_profiles",
    "make_distribution_changes",
    "make_nuisance_sets",
    "make_partitioned_sets",
    "make_segmented_series",
]
