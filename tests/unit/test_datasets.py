"""Data sets that come along."""

from __future__ import annotations

import numpy as np

from likewise.datasets import load_digits_demo


def test_digits_are_the_whole_real_set():
    digits = load_digits_demo()
    assert digits.rows.shape == (1797, 64)
    assert digits.rows.dtype == np.float64
    assert digits.rows.flags.c_contiguous
    assert (digits.rows.min(), digits.rows.max()) == (0.0, 16.0)
    assert digits.image_shape == (8, 8)
    assert "Alpaydin" in digits.source
    np.testing.assert_array_equal(
        np.bincount(digits.labels), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    )


def test_digits_are_the_same_every_time():
    first, second = load_digits_demo(), load_digits_demo()
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.labels, second.labels)
