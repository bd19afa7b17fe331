"""What is loaded, and what is not, by an import and by the command line's help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import likewise

LATER = {"numba", "matplotlib", "polars", "pandas", "torch", "dask", "typer", "rich", "starlette"}


def loaded_by(code: str, cwd: Path) -> set[str]:
    """Top-level names in ``sys.modules`` after ``code`` ran in a fresh interpreter."""
    report = "; import json, sys; sys.stderr.write(json.dumps(sorted(sys.modules)))"
    paths = [str(Path(likewise.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + report],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in json.loads(done.stderr)}


def test_import_likewise_is_light(tmp_path: Path):
    loaded = loaded_by("import likewise", tmp_path)
    assert not loaded & {*LATER, "numpy", "scipy", "sklearn"}


def test_fitting_loads_no_optional_package(tmp_path: Path):
    loaded = loaded_by(
        "import likewise; likewise.ExemplarClusterer().fit([[0.0], [1.0], [9.0]])", tmp_path
    )
    # scikit-learn loads pandas, for one, wherever it is installed.
    peer = loaded_by("from sklearn.cluster import AffinityPropagation", tmp_path)
    assert not (loaded - peer) & (LATER - {"numba"})


def test_help_computes_nothing(tmp_path: Path):
    code = "\n".join(
        [
            "import sys",
            "from likewise.app.cli import main",
            "sys.argv = ['likewise', '--help']",
            "try:",
            "    main()",
            "except SystemExit as stop:",
            "    assert not stop.code, stop.code",
            "pass",
        ]
    )
    assert not loaded_by(code, tmp_path) & {"numpy", "scipy", "sklearn", "numba", "polars"}
