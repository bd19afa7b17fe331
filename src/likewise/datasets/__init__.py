"""Data whose true clusters are known: shipped with what the library is built on, or made."""

from __future__ import annotations

from likewise.datasets.load import LabelledRows, load_digits_demo
from likewise.datasets.make import PartitionedSets, make_nuisance_sets, make_partitioned_sets

__all__ = [
    "LabelledRows",
    "PartitionedSets",
    "load_digits_demo",
    "make_nuisance_sets",
    "make_partitioned_sets",
]
