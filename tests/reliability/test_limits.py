"""Time, memory and Ctrl-C end a search early, with the best answer so far and a valid bound."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.decoders import exact
from likewise.decoders.base import Progress, relative_gap
from likewise.decoders.exemplar import decode
from likewise.errors import CertificateWarning
from naive import exemplar as naive
from registry import dense_costs, sparse_costs


def hard_costs(n: int = 90) -> np.ndarray:
    """Uniform random costs: proving the optimum takes long."""
    return np.random.default_rng(0).random((n, n))


def hard(**options) -> lw.ExemplarClusterer:
    return lw.ExemplarClusterer("precomputed", opening_cost=1.0, solver="exact", **options)


def energy_of(found: lw.ExemplarClusterer, d: np.ndarray) -> float:
    served_by = found.exemplars_[found.labels_].tolist()
    return naive.energy_of_service(d, np.ones(len(d)), served_by)


def assert_sound(found: lw.ExemplarClusterer, d: np.ndarray) -> None:
    """An answer whose energy is what it says, and a bound below."""
    assert found.energy_ == pytest.approx(energy_of(found, d), rel=1e-9)
    assert found.lower_bound_ <= found.energy_
    assert found.gap_ == relative_gap(found.energy_, found.lower_bound_)
    assert len({len(column) for column in found.history_.values()}) == 1


class TestTimeLimit:
    def test_the_exact_stage(self):
        d = hard_costs()
        with pytest.warns(CertificateWarning, match="'time_limit' .* allow more time"):
            found = hard(time_limit=2.0).fit(d)
        assert found.status_ == "time_limit"
        assert found.lower_bound_ > 0.5 * found.energy_
        assert_sound(found, d)

    @pytest.mark.parametrize("options", [{}, {"candidates": 5}, {"solver": "fast"}])
    def test_no_time_at_all(self, options: dict):
        X = np.random.default_rng(1).normal(size=(100, 3))
        with pytest.warns(CertificateWarning, match="status 'time_limit'"):
            found = lw.ExemplarClusterer(time_limit=0.0, gap=0.0, **options).fit(X)
        assert found.status_ == "time_limit"
        assert found.lower_bound_ > -np.inf
        best = lw.ExemplarClusterer().fit(X)
        assert found.energy_ >= best.lower_bound_
        if found.bound_scope_ == "all pairs":
            assert found.lower_bound_ <= best.energy_

    def test_enough_time(self):
        found = hard(time_limit=600.0).fit(hard_costs(20))
        assert found.status_ == "converged"
        assert found.gap_ <= 1e-6

    def test_no_warning_where_the_gap_was_reached(self):
        X = np.repeat([[0.0], [9.0]], 5, axis=0)
        assert lw.ExemplarClusterer(opening_cost=1.0, time_limit=0.0).fit(X).status_ == "converged"

    def test_in_cluster(self):
        with pytest.warns(CertificateWarning, match="status 'time_limit'"):
            labels = hard(time_limit=0.0).cluster([hard_costs(30), hard_costs(2)])
        assert [len(part) for part in labels] == [30, 2]


class Stop:
    """A callback that is a Ctrl-C at the given record."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.seen: list[Progress] = []

    def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)
        if len(self.seen) > self.at:
            raise KeyboardInterrupt


class TestInterrupt:
    @pytest.mark.parametrize("solver", ["fast", "auto", "exact"])
    @pytest.mark.parametrize("make", [dense_costs, sparse_costs])
    def test_at_every_record(self, make, solver: str):
        costs = make(np.random.default_rng(8), 0, 40)
        whole = decode(costs, solver=solver, gap=0.0)
        least = decode(costs, solver="exact", gap=0.0).energy
        stages = whole.history["stage"]
        assert {"search", "bound"} <= set(stages)
        assert ("exact" in stages) or solver != "exact"
        for at in {0, 1, 2, len(stages) // 2, len(stages) - 2, len(stages) - 1}:
            stop = Stop(at)
            found = decode(costs, solver=solver, gap=0.0, callbacks=[stop])
            last = stop.seen[-1]
            assert len(stop.seen) == at + 1
            assert last.stage == stages[at]
            # The optimum may have been proven by the record that is interrupted.
            assert found.status == ("converged" if found.gap <= 1e-12 else "interrupted")
            assert found.lower_bound <= least * (1 + 1e-9)
            assert found.energy >= least * (1 - 1e-9)
            assert found.energy == pytest.approx(last.energy, rel=1e-9)
            assert found.history["stage"] == stages[: at + 1]

    def test_fit_warns_and_keeps_the_best(self):
        d = hard_costs(40)
        with pytest.warns(CertificateWarning, match="'interrupted' .*best answer so far"):
            found = hard(callbacks=Stop(3)).fit(d)
        assert found.status_ == "interrupted"
        assert_sound(found, d)
        assert found.predict(d).shape == (40,)

    def test_with_candidates(self):
        X = np.random.default_rng(2).normal(size=(400, 2))
        with pytest.warns(CertificateWarning, match="status 'interrupted'"):
            found = lw.ExemplarClusterer(candidates=5, gap=0.0, callbacks=Stop(0)).fit(X)
        assert found.status_ == "interrupted"
        assert found.lower_bound_ <= found.energy_

    def test_other_errors_of_callbacks_are_not_swallowed(self):
        def broken(progress: Progress) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            lw.ExemplarClusterer(callbacks=broken).fit(np.eye(5))


def test_callbacks_see_what_history_keeps():
    first, second = [], []
    X = np.random.default_rng(3).normal(size=(60, 2))
    found = lw.ExemplarClusterer(callbacks=[first.append, second.append]).fit(X)
    assert first == second
    assert [p.stage for p in first] == found.history_["stage"]
    assert [p.energy for p in first] == found.history_["energy"]
    assert [p.lower_bound for p in first] == found.history_["lower_bound"]
    assert [p.seconds for p in first] == found.history_["seconds"]
    assert first[-1].n_clusters == found.n_clusters_
    assert first[-1].energy == pytest.approx(found.energy_, rel=1e-9)
    assert "gap" in str(first[-1])


# A process of its own, as a user would run it: it says where it is, and what came of it.
PROGRAM = """
import os, sys, warnings
sys.path[:0] = {path!r}
import numpy as np
import likewise as lw
from likewise.decoders import exact

class Announced(exact.subprocess.Popen):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        print("exact", self.pid, flush=True)

exact.subprocess.Popen = Announced
exact.PAIRS_IN_PROCESS = 0

def announce(progress):
    if {stage!r} == progress.stage:
        print(progress.stage, 0, flush=True)

warnings.simplefilter("ignore")
d = np.random.default_rng(0).random((120, 120))
found = lw.ExemplarClusterer(
    "precomputed", opening_cost=1.0, solver="exact", callbacks=announce
).fit(d)
print("done", found.status_, found.lower_bound_ <= found.energy_, found.n_clusters_ > 0)
"""


def start(program: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-u", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a child process")
@pytest.mark.parametrize("stage", ["exact", "bound"])
def test_ctrl_c(stage: str):
    with start(PROGRAM.format(path=sys.path, stage=stage)) as process:
        assert process.stdout is not None
        where, pid = process.stdout.readline().split()
        assert where == stage
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1] == "done interrupted True True"
    if stage == "exact":
        # The process that ran the solver is gone as well.
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


class TestBrokenChild:
    @pytest.fixture(autouse=True)
    def child(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        program = tmp_path / "child"
        program.write_text("#!/bin/sh\ncat > /dev/null\nkill -9 $$\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(exact, "PAIRS_IN_PROCESS", 0)
        monkeypatch.setattr(exact.sys, "executable", str(program))

    def test_a_killed_solver_costs_only_the_proof(self):
        d = hard_costs(40)
        with pytest.warns(CertificateWarning, match="status 'memory_limit'"):
            found = hard().fit(d)
        assert found.status_ == "memory_limit"
        assert_sound(found, d)


# Costs that cancel or span many orders of magnitude: rounding looks like a gain, and a search that
# believed it would go round for ever.
TREACHEROUS = """
import sys
sys.path[:0] = {path!r}
import numpy as np
from likewise.decoders.exemplar import decode
from likewise.potentials import AssignmentCosts
from registry import some_pairs

def solve(rng, d, opening):
    for service in (d, some_pairs(rng, d, 0.7)):
        for solver in ("fast", "auto"):
            decode(AssignmentCosts(service, opening), solver=solver)

wide = np.array([0, 0, 1e-18, 1e-9, 1e-9, 0.1, 0.3, 1 / 3, 0.5, 2, 1e3, 1e6, 1e6, 1e12])
for seed in range({first}, {last}):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    step = (0.1, 0.3, 0.7, 1 / 3)[seed % 4]
    d, opening = step * rng.integers(0, 4, size=(n, n)), step * rng.integers(-4, 5, size=n)
    solve(rng, d, opening)
    # An energy of zero, but for rounding.
    best = decode(AssignmentCosts(d, opening), solver="fast")
    opening[best.partition.representatives[0]] -= best.energy
    solve(rng, d, opening)
    solve(rng, rng.choice(wide, size=(n, n)), rng.choice(wide, size=n))
    rows = rng.choice([-1e3, -0.5, 0.0, 1e-9, 0.5, 2.0], size=(n, 2))
    solve(rng, ((rows[:, None] - rows) ** 2).sum(axis=2), np.zeros(n))
print("done")
"""


def test_every_search_ends():
    program = TREACHEROUS.format(path=sys.path, first=0, last=300)
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True
    )
    assert found.stdout == "done\n"


@pytest.mark.long
def test_every_search_ends_in_the_long_run():
    program = TREACHEROUS.format(path=sys.path, first=300, last=10_000)
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=3000, check=True
    )
    assert found.stdout == "done\n"
