"""Data whose true clusters are known: shipped with what the library is built on, made, or read."""

from __future__ import annotations

from likewise.datasets.folders import (
    LabelledSequences,
    load_annotated_series,
    load_chromosomes,
    load_regions,
    load_sequences,
)
from likewise.datasets.load import LabelledRows, load_digits_demo
from likewise.datasets.make import PartitionedSets, make_nuisance_sets, make_partitioned_sets
from likewise.datasets.penalty_tables import PenaltyTable, load_penalty_table
from likewise.datasets.segmented import (
    SegmentedSeries,
    make_copy_number_profiles,
    make_distribution_changes,
    make_segmented_series,
)

__all__ = [
    "LabelledRows",
    "LabelledSequences",
    "PartitionedSets",
    "PenaltyTable",
    "SegmentedSeries",
    "load_annotated_series",
    "load_chromosomes",
    "load_digits_demo",
    "load_penalty_table",
    "load_regions",
    "load_sequences",
    "make_copy_number_profiles",
    "make_distribution_changes",
    "make_nuisance_sets",
    "make_partitioned_sets",
    "make_segmented_series",
]
