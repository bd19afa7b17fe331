"""Model files that execute nothing when they are read, and writes that are never torn."""

from __future__ import annotations

from likewise.persistence.atomic import write_atomically
from likewise.persistence.format import load, save

__all__ = ["load", "save", "write_atomically"]
