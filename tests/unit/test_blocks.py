"""Memory budget, row blocks, threads, and seeded streams."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.arrays.blocks import (
    GIB,
    MIB,
    format_bytes,
    map_blocks,
    memory_budget,
    require_memory,
    row_blocks,
)
from likewise.arrays.random import draw_seed, stream
from likewise.errors import InputError, InputTypeError, LikewiseError, MemoryBudgetError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 * GIB),
        ("500MB", 500_000_000),
        ("123456", 123456),
        (" 1.5 gib ", 3 * GIB // 2),
        ("2k", 2048),
        ("1TB", 10**12),
        ("7 B", 7),
    ],
)
def test_budget_of_the_environment(text: str, size: int, monkeypatch):
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", text)
    assert memory_budget() == size


@pytest.mark.parametrize(
    "text", ["many", "-1GiB", "0", "4 G iB", "GiB", "1e9", "0.0001", "4PiB", "٣"]
)
def test_bad_budget(text: str, monkeypatch):
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", text)
    with pytest.raises(InputError, match="LIKEWISE_MEMORY_BUDGET must be a positive number"):
        memory_budget()


@pytest.mark.parametrize("text", [None, "", "  "])
def test_budget_of_the_machine(text: str | None, monkeypatch):
    if text is None:
        monkeypatch.delenv("LIKEWISE_MEMORY_BUDGET", raising=False)
    else:
        monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", text)
    assert 16 * MIB < memory_budget() < 2**60


def test_requests_beyond_the_budget(monkeypatch):
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "1GiB")
    require_memory(GIB, "exactly the budget", "nothing")
    message = (
        r"the matrix needs 36\.5 GiB, but the memory budget is 1\.0 GiB; pass candidates=20, or "
        r"raise the budget .* LIKEWISE_MEMORY_BUDGET=37GiB"
    )
    with pytest.raises(MemoryBudgetError, match=message) as caught:
        require_memory(8 * 70_000**2, "the matrix", "pass candidates=20")
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, LikewiseError)


def test_the_suggested_budget_is_enough(monkeypatch):
    for needed in (3, 5 * MIB + 1, 9 * GIB + 1):
        monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "1")
        with pytest.raises(MemoryBudgetError) as caught:
            require_memory(needed, "it", "do not")
        suggestion = str(caught.value).partition("LIKEWISE_MEMORY_BUDGET=")[2].rstrip(").")
        monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", suggestion)
        require_memory(needed, "it", "do not")


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (2**42, "4.0 TiB")]
)
def test_sizes_in_words(size: int, text: str):
    assert format_bytes(size) == text


@given(st.integers(0, 300), st.integers(0, 50), st.integers(1, 500))
def test_row_blocks_cover_all_rows(n_rows: int, bytes_per_row: int, limit: int):
    blocks = list(row_blocks(n_rows, bytes_per_row, limit))
    assert [row for block in blocks for row in range(n_rows)[block]] == list(range(n_rows))
    sizes = [block.stop - block.start for block in blocks]
    assert all(size == 1 or size * bytes_per_row <= limit for size in sizes)
    assert len(set(sizes[:-1])) <= 1


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_come_in_the_order_of_blocks(n_jobs: int | None):
    def work(block: slice) -> int:
        if block.start == 0 and n_jobs == 2:
            # The first block ends after the second.
            assert passed.wait(timeout=30)
        passed.set()
        return block.start

    passed = threading.Event()
    assert map_blocks(work, row_blocks(10, 1, limit=3), n_jobs) == [0, 3, 6, 9]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_block_is_raised(n_jobs: int):
    def work(block: int) -> int:
        if block == 3:
            raise InputError("block 3")
        return block

    with pytest.raises(InputError, match="block 3"):
        map_blocks(work, range(50), n_jobs)


def test_streams_depend_on_seed_and_key_only():
    first = stream(5, "kick", 3).random(4)
    stream(5, "other").random(10)
    np.testing.assert_array_equal(stream(5, "kick", 3).random(4), first)
    np.testing.assert_array_equal(stream(np.int64(5), "kick", np.int32(3)).random(4), first)
    others = [stream(6, "kick", 3), stream(5, "kick", 4), stream(5, "kock", 3), stream(5, "kick")]
    assert all((other.random(4) != first).all() for other in others)


def test_the_stream_of_a_key_is_fixed():
    """Results with a seed must not change from one release to the next."""
    assert stream(0, "kick", 1).integers(1000, size=4).tolist() == [799, 632, 751, 77]


def test_no_seed_is_a_seed():
    np.testing.assert_array_equal(stream(None, 1).random(3), stream(None, 1).random(3))
    assert draw_seed(None) == draw_seed()
    assert (stream(None, 1).random(3) != stream(0, 1).random(3)).all()


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_instances_are_drawn_from_once(make: object):
    seed = draw_seed(make(3))
    assert seed == draw_seed(make(3))
    instance = make(3)
    assert draw_seed(instance) == seed
    assert draw_seed(instance) != seed


@pytest.mark.parametrize("state", [-1, 1.5, "0", True, [1]])
def test_bad_seeds(state: object):
    with pytest.raises(InputTypeError, match="random_state must be None, an integer >= 0"):
        draw_seed(state)
