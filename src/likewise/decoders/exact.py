"""The exact stage: what is left after reduced-cost fixing goes to HiGHS, if it fits.

With a bound L(v) and a solution of energy E, a candidate whose slack exceeds E - L(v) is in no
better solution, nor is a pair whose reduced cost exceeds it. Over what is left, HiGHS solves

    min  sum opening_j y_j + sum serve_jp x_jp
    s.t. sum_j x_jp = 1 for every client p,   x_jp <= y_j,   y binary, x >= 0

and under links besides: x_jp = y_j for the client p that j belongs to, and for every pack of
clients kept apart from each other, sum_p x_jp <= y_j with binary x.

Large problems are solved in a child process with a limit on its memory, which can be ended at any
time: by the time limit, by the memory limit, or by Ctrl-C. Nothing but arrays crosses the pipe.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import memory_budget
from likewise.arrays.interruption import deferred_interrupts
from likewise.errors import LikewiseError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Memory of HiGHS per pair: on digits and blobs of 1,000 to 3,000 items its peak was 4,000 to 17,000
# bytes, less per pair the more pairs there are. What needs more runs into the limit of the child.
BYTES_PER_PAIR = 6000
# HiGHS looks at its clock now and then only: it gets this share of the time that is left, and is
# ended a second after the rest.
SHARE_OF_TIME = 0.9
# Below this many pairs the solver is called in this process: a child would cost more than it saves.
PAIRS_IN_PROCESS = 3000
# How the child says that its allocation was refused.
OUT_OF_MEMORY = 3
# What Python, NumPy and SciPy reserve in the child before the problem arrives.
CHILD_BASE = 1 << 30
# What a problem has besides where there are links.
LINKS = ("forced", "pack", "packed")


@dataclass(frozen=True)
class ReducedProblem:
    """Facility location over the pairs that reduced-cost fixing leaves.

    Under links, ``forced`` marks the pairs of a candidate with the client it belongs to, and of
    each pack of pairs, numbers ``packed`` with ``pack`` as their pack, one at most is used.
    """

    opening: Floats
    which: Integers
    client: Integers
    cost: Floats
    n_clients: int
    forced: NDArray[np.bool_] | None = None
    pack: NDArray[np.intp] | None = None
    packed: NDArray[np.intp] | None = None

    def service(self, served: NDArray[np.bool_], candidates: NDArray[Any]) -> NDArray[np.int32]:
        """The candidate of every client in a pack, from the pairs used; -1 for the others."""
        service = np.full(self.n_clients, -1, dtype=np.int32)
        if self.packed is not None:
            pairs = self.packed[served[self.packed]]
            service[self.client[pairs]] = candidates[self.which[pairs]]
        return service

    @property
    def bytes_needed(self) -> int:
        """Memory that HiGHS is expected to need."""
        return BYTES_PER_PAIR * (len(self.cost) + len(self.opening))


@dataclass(frozen=True)
class ReducedSolution:
    """What the exact stage says about the reduced problem.

    ``opened`` is None where no solution was found. ``lower_bound`` is infinite where there is no
    better solution than ``opened``, or than the one the problem was reduced with. ``status`` is as
    in `Solution`. ``served`` marks the pairs that are used, where there are links.
    """

    opened: NDArray[np.bool_] | None
    lower_bound: float
    status: str
    served: NDArray[np.bool_] | None = None


def solve_reduced(
    problem: ReducedProblem, *, time_limit: float = np.inf, node_limit: int | None = None
) -> ReducedSolution:
    """Solve the reduced problem within the time limit and the memory budget."""
    if problem.bytes_needed > memory_budget():
        return ReducedSolution(None, -np.inf, "memory_limit")
    if time_limit <= 0:
        return ReducedSolution(None, -np.inf, "time_limit")
    if len(problem.cost) <= PAIRS_IN_PROCESS or node_limit is not None:
        return run_highs(problem, time_limit, node_limit)
    return _run_in_child(problem, time_limit)


def run_highs(
    problem: ReducedProblem, time_limit: float, node_limit: int | None = None
) -> ReducedSolution:
    """Call HiGHS in this process."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    m, n_pairs = len(problem.opening), len(problem.cost)
    pair = np.arange(n_pairs)
    ones = np.ones(n_pairs)
    served = sparse.csr_array(
        (ones, (problem.client, m + pair)), shape=(problem.n_clients, m + n_pairs)
    )
    linked = sparse.csr_array(
        (
            np.concatenate([ones, -ones]),
            (np.concatenate([pair, pair]), np.concatenate([m + pair, problem.which])),
        ),
        shape=(n_pairs, m + n_pairs),
    )
    # HiGHS stops at an absolute gap of 1e-6: scaled to thousands, that is 1e-9 of the energy.
    largest = max(np.abs(problem.opening).max(initial=0.0), problem.cost.max(initial=0.0))
    scale = 1000.0 / largest if largest > 0 else 1.0
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    if np.isfinite(time_limit):
        options["time_limit"] = time_limit
    if node_limit is not None:
        options["node_limit"] = node_limit
    result = milp(
        scale * np.concatenate([problem.opening, problem.cost]),
        integrality=np.concatenate([np.ones(m), _whole(problem)]),
        bounds=Bounds(0.0, 1.0),
        constraints=[
            LinearConstraint(served, 1.0, 1.0),
            LinearConstraint(linked, _least_difference(problem), 0.0),
            *_apart(problem),
        ],
        options=options,
    )
    opened = None if result.x is None else result.x[:m] > 0.5
    used = None if result.x is None or problem.forced is None else result.x[m:] > 0.5
    if result.status in (0, 2):
        # Solved, or nothing left that is better than the solution already known.
        return ReducedSolution(opened, np.inf, "converged", used)
    bound = -np.inf if result.mip_dual_bound is None else result.mip_dual_bound / scale
    status = "time_limit" if result.status == 1 else "gap"
    return ReducedSolution(opened, float(bound), status, used)


def _whole(problem: ReducedProblem) -> Floats:
    """Which pairs have to be whole: given the open candidates, others are without being asked."""
    whole = np.zeros(len(problem.cost))
    if problem.packed is not None:
        whole[problem.packed] = 1.0
    return whole


def _least_difference(problem: ReducedProblem) -> Any:
    """The least of x - y for every pair."""
    return -np.inf if problem.forced is None else np.where(problem.forced, 0.0, -np.inf)


def _apart(problem: ReducedProblem) -> list[Any]:
    """Of every pack, one pair at most is used, if its candidate is open."""
    from scipy import sparse
    from scipy.optimize import LinearConstraint

    if problem.pack is None or problem.packed is None or len(problem.pack) == 0:
        return []
    m, n_packs = len(problem.opening), int(problem.pack.max()) + 1
    candidate = np.empty(n_packs, dtype=np.intp)
    candidate[problem.pack] = problem.which[problem.packed]
    packs = sparse.csr_array(
        (
            np.concatenate([np.ones(len(problem.pack)), -np.ones(n_packs)]),
            (
                np.concatenate([problem.pack, np.arange(n_packs)]),
                np.concatenate([m + problem.packed, candidate]),
            ),
        ),
        shape=(n_packs, m + len(problem.cost)),
    )
    return [LinearConstraint(packs, -np.inf, 0.0)]


@contextmanager
def _solver_process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that solves what it reads; it is gone when this is left, by Ctrl-C as well."""
    child = None
    try:
        # From its first moment on, there is somebody who ends it.
        with deferred_interrupts():
            child = subprocess.Popen(
                # -P: nothing in the working directory may stand in for a module.
                [sys.executable, "-P", "-m", "likewise.decoders.exact"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C reaches this process only
            )
        yield child
    finally:
        if child is not None:
            if child.poll() is None:
                child.kill()
            with child:  # closes its pipes, and waits for its end
                pass


def _run_in_child(problem: ReducedProblem, time_limit: float) -> ReducedSolution:
    package = {
        "opening": problem.opening,
        "which": problem.which,
        "client": problem.client,
        "cost": problem.cost,
        "numbers": np.array(
            [problem.n_clients, SHARE_OF_TIME * time_limit, memory_budget() + CHILD_BASE]
        ),
    }
    for name in LINKS:
        if getattr(problem, name) is not None:
            package[name] = getattr(problem, name)
    buffer = io.BytesIO()
    np.savez(buffer, **package)  # type: ignore[arg-type]
    with _solver_process() as child:
        try:
            grace = min(1.0, 0.1 * time_limit)
            patience = time_limit + grace if np.isfinite(time_limit) else None
            answer, complaint = child.communicate(buffer.getvalue(), timeout=patience)
        except subprocess.TimeoutExpired:
            return ReducedSolution(None, -np.inf, "time_limit")
    if child.returncode == OUT_OF_MEMORY or child.returncode < 0:
        # Its allocation was refused, which HiGHS may not survive, or the system killed it.
        return ReducedSolution(None, -np.inf, "memory_limit")
    if child.returncode != 0:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:]
        raise LikewiseError(
            f"the exact stage failed to run in a child process ({''.join(last)}); "
            "use solver='auto', which needs none."
        )
    with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
        opened = arrays["opened"] if arrays["opened"].size else None
        served = arrays["served"] if arrays["served"].size else None
        return ReducedSolution(opened, float(arrays["lower_bound"]), str(arrays["status"]), served)


def _serve_parent() -> None:
    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as arrays:
        n_clients, time_limit, memory = arrays["numbers"]
        problem = ReducedProblem(
            arrays["opening"], arrays["which"], arrays["client"], arrays["cost"], int(n_clients),
            **{name: arrays[name] for name in LINKS if name in arrays},
        )  # fmt: skip
    _limit_memory(int(memory))
    try:
        solution = run_highs(problem, float(time_limit))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    buffer = io.BytesIO()
    none = np.empty(0, dtype=bool)
    np.savez(
        buffer,
        opened=none if solution.opened is None else solution.opened,
        lower_bound=solution.lower_bound,
        status=np.str_(solution.status),
        served=none if solution.served is None else solution.served,
    )
    sys.stdout.buffer.write(buffer.getvalue())


def _limit_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system: the size guard is all there is
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    _serve_parent()
