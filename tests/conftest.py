"""Settings shared by all tests: thread counts, Hypothesis profiles, the long run and the seeds.

Environment variables that change a run:

- ``LIKEWISE_LONG=1`` runs the tests marked ``long`` and 5,000 Hypothesis examples instead of 200;
- ``LIKEWISE_SEEDS`` chooses the seeds of tests that take the ``seed`` fixture: ``all`` (0-99),
  a range ``10-19``, or a list ``3,7``. Such tests must hold for every seed from 0 to 99.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Nothing above imports NumPy: BLAS reads these once, and sums depend on the number of threads.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
# Two, on any machine, so that tests can compare one thread with two.
os.environ["NUMBA_NUM_THREADS"] = "2"
# Pictures are written, never shown.
os.environ["MPLBACKEND"] = "Agg"

LONG = os.environ.get("LIKEWISE_LONG", "") not in ("", "0")
ALL_SEEDS = range(100)
DEFAULT_SEEDS = "0,42"

_shared = {
    "derandomize": True,
    "deadline": None,
    # A busy machine must not fail a test.
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("default", max_examples=200, **_shared)
settings.register_profile("long", max_examples=5000, **_shared)
settings.load_profile("long" if LONG else "default")


def parse_seeds(text: str) -> list[int]:
    """Seeds named by ``all``, a range ``a-b`` (both ends included) or a comma-separated list."""
    if text.strip().lower() == "all":
        return list(ALL_SEEDS)
    seeds: list[int] = []
    try:
        for piece in text.split(","):
            first, _, last = piece.partition("-")
            seeds.extend(range(int(first), int(last or first) + 1))
    except ValueError:
        seeds = []
    if not seeds or not set(seeds) <= set(ALL_SEEDS):
        raise pytest.UsageError(
            f"LIKEWISE_SEEDS={text!r}: use 'all', a range such as '10-19' or a list such as '3,7', "
            f"within {ALL_SEEDS[0]}-{ALL_SEEDS[-1]}"
        )
    return seeds


@pytest.fixture(
    scope="session", params=parse_seeds(os.environ.get("LIKEWISE_SEEDS") or DEFAULT_SEEDS)
)
def seed(request: pytest.FixtureRequest) -> int:
    """A seed for all randomness of a test, which must hold for every seed 0-99."""
    return request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the long run unless it was asked for."""
    if LONG:
        return
    skip = pytest.mark.skip(reason="part of the long run; set LIKEWISE_LONG=1")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)
