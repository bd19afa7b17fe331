"""The array seam: numpy, the strict array API, and torch where it is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable

import array_api_strict
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from likewise.arrays.namespace import is_foreign, namespace_of, to_device, to_host
from likewise.errors import InputTypeError
from likewise.validation import (
    validate_opening_cost,
    validate_precomputed,
    validate_rows,
    validate_sample_weight,
)

BACKENDS = ["numpy", "array_api_strict", "torch"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest):
    if request.param == "torch":
        return pytest.importorskip(
            "torch", reason="torch is not installed: this backend is optional"
        )
    return {"numpy": np, "array_api_strict": array_api_strict}[request.param]


VALUES = np.arange(6.0).reshape(2, 3)


def test_namespace(backend):
    array = backend.asarray(VALUES)
    assert namespace_of(array) is backend
    assert namespace_of(1.0, array, [2.0]) is backend
    assert is_foreign(array) == (backend is not np)
    assert namespace_of() is np


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_there_and_back(backend, dtype: str):
    values = (VALUES > 2) if dtype == "bool" else VALUES.astype(dtype)
    array = to_device(values, like=backend.asarray([1.0]))
    assert namespace_of(array) is backend
    again = to_host(array)
    assert type(again) is np.ndarray
    assert again.dtype == values.dtype
    np.testing.assert_array_equal(again, values)
    assert namespace_of(to_device(array, like=np.zeros(1))) is np


def test_the_host_is_not_copied():
    assert to_host(VALUES) is VALUES
    assert to_device(VALUES, like=np.zeros(1)) is VALUES


def test_functions_of_the_namespace_apply(backend):
    array = backend.asarray(VALUES)
    xp = namespace_of(array)
    assert to_host(xp.sum(array)) == 15.0


def test_two_libraries_at_once():
    strict = array_api_strict.asarray(VALUES)
    with pytest.raises(InputTypeError, match="one library; got arrays of array_api_strict, numpy"):
        namespace_of(VALUES, strict)


def test_torch_gradients_stay_behind():
    torch = pytest.importorskip("torch", reason="torch is not installed: this backend is optional")
    np.testing.assert_array_equal(to_host(torch.ones(2, requires_grad=True)), np.ones(2))


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: nothing to load"
)
def test_torch_is_not_loaded():
    code = "import sys, likewise.geometry, likewise.validation; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_tensor_is_recognised_by_the_loaded_library(monkeypatch):
    class Tensor:
        device = "cpu"

        def __init__(self, values):
            self.values = np.asarray(values)

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return self.values

    class Torch:
        __name__ = "torch"

        @staticmethod
        def asarray(values, device):
            return Tensor(values)

    Torch.Tensor = Tensor
    monkeypatch.setitem(sys.modules, "torch", Torch)
    tensor = to_device(VALUES, like=Tensor([0.0]))
    assert namespace_of(tensor, 1.0) is Torch
    assert to_host(tensor) is VALUES


GATES: dict[str, Callable] = {
    "rows": lambda X: validate_rows(BaseEstimator(), X, reset=True),
    "precomputed": lambda X: validate_precomputed(BaseEstimator(), X[:, :2], reset=True).costs,
    "sample_weight": lambda X: validate_sample_weight(X[1, :], 3),
    "opening_cost": lambda X: validate_opening_cost(X[1, :], 3),
}


@pytest.mark.parametrize("gate", sorted(GATES))
def test_the_gate_takes_arrays_of_any_library(backend, gate: str):
    found = GATES[gate](backend.asarray(VALUES))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, GATES[gate](VALUES))
