"""The library's source files, found once for the tests that read them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
MODULES = sorted((SOURCE / "likewise").rglob("*.py"))


def module_name(path: Path) -> str:
    """Dotted name of a source file: ``src/likewise/arrays/jit.py`` is ``likewise.arrays.jit``."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def relative(path: Path) -> str:
    """Path below ``src/likewise``, with forward slashes."""
    return path.relative_to(SOURCE / "likewise").as_posix()


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
