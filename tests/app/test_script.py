"""The script as a process: exit codes, what is loaded, Ctrl-C."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import likewise

RUN = "from likewise.app.cli import main; main()"
# A real signal, sent at the first progress record: in the middle of the search.
INTERRUPT = """
import os, signal
from likewise.app import terminal
terminal.ProgressBar.update = lambda self, record: os.kill(os.getpid(), signal.SIGINT)
from likewise.app.cli import main
main()
"""


def command(*arguments: object, code: str = RUN) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def environment() -> dict[str, str]:
    paths = [str(Path(likewise.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "100"}


def run(*arguments: object, code: str = RUN, cwd: Path | None = None):
    return subprocess.run(
        command(*arguments, code=code),
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=120,
        env=environment(),
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.save(tmp_path / "data.npy", np.random.default_rng(0).normal(size=(200, 3)))
    return tmp_path / "data.npy"


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0, f"likewise {likewise.__version__}\n", "",
    )  # fmt: skip


@pytest.mark.parametrize("command", [(), ("demo",), ("cluster",), ("segment",), ("inspect",)])
def test_help_loads_nothing_heavy(command: tuple[str, ...]):
    code = (
        "import atexit, sys\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'polars', 'matplotlib', 'pandas'}\n"
        "atexit.register(lambda: sys.stderr.write(repr(heavy & set(sys.modules))))\n" + RUN
    )
    done = run(*command, "--help", code=code)
    assert done.returncode == 0
    assert done.stderr == "set()"
    assert "Usage: likewise" in done.stdout


def test_user_error_has_no_traceback(tmp_path: Path):
    done = run("cluster", "none.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "error: none.csv does not exist; check the name and the folder.\n"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_has_a_traceback(place: int, tmp_path: Path):
    arguments = ["cluster", "none.csv"]
    arguments.insert(place, "--debug")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "DataFileError: none.csv does not exist" in done.stderr


def test_usage_error():
    done = run("cluster")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_no_screen_and_no_progress_without_a_terminal(data: Path, tmp_path: Path):
    done = run("cluster", data, "--plot", tmp_path / "p.png", "--json", "--opening-cost", "5")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["rows"] == 200
    assert (tmp_path / "p.png").stat().st_size > 10_000


def test_interrupt_keeps_the_best_so_far(data: Path, tmp_path: Path):
    out, plot, save = tmp_path / "l.csv", tmp_path / "p.png", tmp_path / "m.likewise"
    done = run(
        "cluster", data, "--out", out, "--plot", plot, "--save", save, "--json", code=INTERRUPT
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "best partition so far" in done.stderr
    found = json.loads(done.stdout)
    assert found["status"] == "interrupted"
    assert found["lower_bound"] <= found["energy"]
    assert len(found["labels"]) == len(out.read_text().splitlines()) - 1 == 200
    assert plot.stat().st_size > 10_000
    assert likewise.load(save).status_ == "interrupted"


def test_without_typer(tmp_path: Path):
    (tmp_path / "typer.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + RUN
    done = run("--version", code=code)
    assert done.returncode == 1
    assert done.stderr == "error: the command line needs typer: pip install 'likewise[app]'\n"


def test_a_reader_that_goes_away(data: Path):
    with subprocess.Popen(
        command("cluster", data, "--json"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    ) as process:  # fmt: skip
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 1
    assert complaint == ""
