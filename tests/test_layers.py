"""Imports go down only, and every outside world has one home.

All imports count, also those inside functions, under ``TYPE_CHECKING`` and through
``importlib.import_module("...")``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from source_tree import MODULES, SOURCE, parse, relative

# From the bottom up. A unit is a folder or a module directly below the package.
LAYERS = (
    {"arrays", "errors"},
    {"conventions", "metrics", "partitions", "potentials", "supervision", "validation"},
    {"geometry", "transformers"},
    {"energies", "losses", "decoders"},
    {"learners", "parallel"},
    {"estimators", "datasets", "persistence", "plots"},
    {"experiments"},
    {"app", "__main__"},
)
RANK = {unit: rank for rank, units in enumerate(LAYERS) for unit in units}
# These meet in a learner or an estimator, never directly.
SIBLINGS = {"energies", "losses", "decoders"}

# Outside package -> the files that may import it, as path prefixes below src/likewise.
HOMES = {
    "torch": ("arrays/namespace.py",),
    "numba": ("arrays/jit.py", "decoders/_kernels/"),
    "dask": ("parallel/dask.py",),
    "distributed": ("parallel/dask.py",),
    "matplotlib": ("plots/",),
    "typer": ("app/",),
    "click": ("app/",),
    "rich": ("app/",),
    "polars": ("app/", "datasets/penalty_tables.py"),
    "starlette": ("app/studio/",),
    "uvicorn": ("app/studio/",),
    "kmedoids": (),
    "pandas": (),
    "pickle": (),
    "cloudpickle": (),
    "dill": (),
    "marshal": (),
    "shelve": (),
}
# Heavy, and not needed to import the package that uses them.
ONLY_INSIDE_FUNCTIONS = {"matplotlib", "torch"}


@dataclass(frozen=True)
class Import:
    line: int
    target: str
    place: str  # "module", "function" or "typing"


def _unit(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(test)
        if isinstance(node, ast.Name | ast.Attribute)
    }


def _targets(node: ast.AST, package: str) -> list[str]:
    """Dotted names that one statement or call imports; ``from a import b`` gives ``a.b``."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            base = module or ""
            if level:
                above = package.split(".")[: len(package.split(".")) - level + 1]
                base = ".".join([*above, base] if base else above)
            return [f"{base}.{alias.name}" for alias in names]
        case ast.Call(
            func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=name), *_]
        ):
            return [str(name)]
        case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=name), *_]):
            return [str(name)]
    return []


def imports_of(tree: ast.AST, package: str, place: str = "module") -> Iterator[Import]:
    """Every import below ``tree``, with the kind of place it stands in."""
    for node in ast.iter_child_nodes(tree):
        for target in _targets(node, package):
            yield Import(node.lineno, target, place)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imports_of(node, package, "function")
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from imports_of(node, package, "typing")
        else:
            yield from imports_of(node, package, place)


def _inside(file: str, item: Import) -> str | None:
    """What is wrong with an import of the library itself, if anything."""
    importer = _unit(file)
    unit = item.target.partition(".")[2].partition(".")[0]
    if importer == "__init__":
        return "the package itself names its modules as text and loads them on first use"
    if unit in ("", "__version__"):
        return None
    if unit not in RANK:
        return f"{unit!r} is not a unit of the library: import from the module that defines it"
    if importer == unit:
        return None
    if RANK[importer] < RANK[unit]:
        return f"{importer!r} may not import {unit!r}, which is above it"
    if {importer, unit} <= SIBLINGS:
        return f"{importer!r} and {unit!r} are siblings"
    return None


def _outside(file: str, item: Import) -> str | None:
    """What is wrong with an import of another package, if anything."""
    package = item.target.split(".")[0]
    homes = HOMES.get(package)
    if homes is None:
        return None
    if not file.startswith(homes):
        return f"{package!r} is imported only in {', '.join(homes) or 'no file'}"
    if package in ONLY_INSIDE_FUNCTIONS and item.place == "module":
        return f"{package!r} is imported inside functions only"
    return None


def _imports_of_file(file: str, tree: ast.Module) -> Iterator[Import]:
    yield from imports_of(tree, ".".join(["likewise", *Path(file).parent.parts]))


def violations(file: str, tree: ast.Module) -> list[str]:
    """Import rules that a file, named below ``src/likewise``, breaks."""
    found = []
    for item in _imports_of_file(file, tree):
        rule = _inside if item.target.split(".")[0] == "likewise" else _outside
        problem = rule(file, item)
        if problem:
            found.append(f"{file}:{item.line}: imports {item.target}: {problem}")
    return found


def test_every_unit_has_a_layer():
    units = {_unit(relative(path)) for path in MODULES}
    assert units - {"__init__"} <= set(RANK), "give the new unit a place in LAYERS"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_imports_go_down_only(path: Path):
    assert violations(relative(path), parse(path)) == []


def test_units_of_one_layer_do_not_import_each_other_in_a_circle():
    edges: dict[str, set[str]] = {unit: set() for unit in RANK}
    for path in MODULES:
        importer = _unit(relative(path))
        for item in _imports_of_file(relative(path), parse(path)):
            parts = item.target.split(".")
            if parts[0] == "likewise" and len(parts) > 1 and parts[1] in RANK:
                edges.get(importer, set()).add(parts[1])
    while edges:
        leaves = {unit for unit, below in edges.items() if not (below & set(edges)) - {unit}}
        assert leaves, f"circle among {sorted(edges)}"
        edges = {unit: below for unit, below in edges.items() if unit not in leaves}


PLANTED = [
    ("arrays/blocks.py", "from likewise.geometry import features", "above"),
    ("geometry/features.py", "from ..decoders.exemplar import decode", "above"),
    ("validation.py", "def f():\n    from likewise.estimators import exemplar", "above"),
    ("decoders/exemplar.py", "import likewise.energies.exemplar", "siblings"),
    ("losses/exemplar.py", "from likewise import decoders", "siblings"),
    ("estimators/exemplar.py", "from likewise import Compare", "not a unit"),
    ("estimators/exemplar.py", "import torch", "'torch' is imported only in"),
    ("arrays/namespace.py", "import torch", "inside functions"),
    ("decoders/exemplar.py", "from numba import njit", "'numba' is imported only in"),
    ("geometry/distances.py", "def f():\n    import numba", "'numba' is imported only in"),
    ("plots/partitions.py", "import matplotlib.pyplot as plt", "inside functions"),
    ("app/cli.py", "def f():\n    import matplotlib", "'matplotlib' is imported only in plots/"),
    ("geometry/features.py", "def f():\n    import polars", "'polars' is imported only in app/"),
    ("persistence/format.py", "import pickle", "no file"),
    ("geometry/features.py", "import importlib\nimportlib.import_module('typer')", "'typer'"),
    ("metrics.py", "if True:\n    try:\n        import likewise.app\n    except E: pass", "above"),
    ("__init__.py", "from likewise.metrics import rand_loss", "as text"),
]
ALLOWED = [
    ("geometry/features.py", "from likewise.validation import check_rows"),
    ("estimators/exemplar.py", "from likewise.decoders.exemplar import decode"),
    ("estimators/exemplar.py", "from likewise import __version__, metrics"),
    ("potentials.py", "from .partitions import Partition"),
    ("decoders/_kernels/dense.py", "from likewise.arrays.jit import kernel"),
    ("plots/partitions.py", "def f():\n    import matplotlib.pyplot"),
    (
        "plots/partitions.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from matplotlib.axes import Axes",
    ),
    ("app/cli.py", "import typer\nfrom likewise.estimators.exemplar import ExemplarClusterer"),
]


@pytest.mark.parametrize(("file", "source", "message"), PLANTED)
def test_a_planted_violation_is_found(file: str, source: str, message: str):
    found = violations(file, ast.parse(source))
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(("file", "source"), ALLOWED)
def test_an_allowed_import_passes(file: str, source: str):
    assert violations(file, ast.parse(source)) == []


def test_the_sources_are_found():
    assert (SOURCE / "likewise" / "__init__.py") in MODULES
