"""What every decoder returns and reports.

The word **decoder** of the library: potentials in; lowest partition, its energy, a bound and a
status out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likewise.partitions import Partition

# Energies closer to zero than this count as zero when a gap is made relative.
TINY = 1e-300

# What a status means and what to do about it.
STATUS_REMEDIES = {
    "converged": "the gap asked for is certified",
    "gap": "the search ended with a larger gap than asked for; solver='exact' can close it",
    "time_limit": "time_limit was reached; allow more time for a better answer or bound",
    "memory_limit": "the exact stage would not fit into memory; raise LIKEWISE_MEMORY_BUDGET",
    "interrupted": "interrupted; this is the best answer so far",
}
# Statuses that call for a warning: the search did not end by itself.
CUT_SHORT = ("time_limit", "memory_limit", "interrupted")


def relative_gap(energy: float, lower_bound: float) -> float:
    """(energy - lower_bound) / max(abs(energy), tiny)."""
    return max(energy - lower_bound, 0.0) / max(abs(energy), TINY)


@dataclass(frozen=True)
class Progress:
    """What a callback is told: where the search stands."""

    stage: str
    seconds: float
    energy: float
    lower_bound: float
    n_clusters: int

    @property
    def gap(self) -> float:
        """Certified relative gap so far."""
        return relative_gap(self.energy, self.lower_bound)

    def __str__(self) -> str:
        return (
            f"{self.seconds:8.2f} s  {self.stage:<8}  energy {self.energy:.6g}  "
            f"bound {self.lower_bound:.6g}  gap {self.gap:.3%}  clusters {self.n_clusters}"
        )


@dataclass(frozen=True)
class Solution:
    """A partition with its energy and its certificate.

    ``prices`` are the multipliers that prove the bound, None where they alone do not.
    """

    partition: Partition
    energy: float
    lower_bound: float
    status: str
    n_iter: int
    history: dict[str, list[str] | list[float]]
    prices: NDArray[np.float64] | None = None

    @property
    def gap(self) -> float:
        """Certified relative gap."""
        return relative_gap(self.energy, self.lower_bound)


@dataclass
class Journal:
    """Clock, history and callbacks of one run."""

    callbacks: Sequence[Callable[[Progress], object]]
    time_limit: float
    started: float | None = None
    constant: float = 0.0
    records: list[Progress] = field(default_factory=list)

    def __post_init__(self) -> None:
        now = time.perf_counter()
        self._deadline = now + self.time_limit
        self._started = now if self.started is None else self.started

    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self._started

    def seconds_left(self) -> float:
        """Seconds until the time limit; infinite without one."""
        return self._deadline - time.perf_counter()

    def note(self, stage: str, energy: float, lower_bound: float, n_clusters: int) -> None:
        """Record progress and tell the callbacks."""
        progress = Progress(
            stage,
            self.seconds(),
            energy + self.constant,
            min(lower_bound, energy) + self.constant,
            n_clusters,
        )
        self.records.append(progress)
        for callback in self.callbacks:
            callback(progress)

    def history(self) -> dict[str, list[str] | list[float]]:
        """The records as columns of equal length."""
        return {
            "stage": [r.stage for r in self.records],
            "seconds": [r.seconds for r in self.records],
            "energy": [r.energy for r in self.records],
            "lower_bound": [r.lower_bound for r in self.records],
        }
