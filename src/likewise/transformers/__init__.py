"""Transformers: features for the rows of a sequence, in which changes show."""

from __future__ import annotations

from likewise.transformers.hermite import HermiteFeatures
from likewise.transformers.windows import WindowFeatures

__all__ = ["HermiteFeatures", "WindowFeatures"]
