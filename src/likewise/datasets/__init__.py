"""Data sets that come with the library or with what it is built on: nothing is downloaded."""

from __future__ import annotations

from likewise.datasets.load import LabelledRows, load_digits_demo

__all__ = ["LabelledRows", "load_digits_demo"]
