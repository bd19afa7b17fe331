"""Model files: what comes back, what is refused and why, and writes that replace a file whole."""

from __future__ import annotations

import functools
import io
import json
import os
import stat
import zipfile

import numpy as np
import pytest

import likewise as lw
from likewise.errors import InputTypeError, ModelFileError
from likewise.persistence import archive, npy
from likewise.persistence import format as model_format

POINTS = np.random.default_rng(0).normal(size=(24, 3)).round(3)


def dumped(model):
    stream = io.BytesIO()
    model_format.write_model(model, stream)
    return stream.getvalue()


def loaded(data):
    return model_format.read_model(io.BytesIO(data))


def taken_apart(data):
    """Manifest and array members of a model file."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = file.namelist()
        assert names[0] == "manifest.json"
        return json.loads(file.read(names[0])), [(name, [file.read(name)]) for name in names[1:]]


def assert_same(a, b):
    """Equal in value, type, dtype, shape and memory order."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.isfortran(a) == np.isfortran(b)
        assert b.flags.writeable
        assert a.tolist() == b.tolist() or np.array_equal(a, b, equal_nan=True)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, lw.Compare):
        assert_same(vars(a), vars(b))
    else:
        assert repr(a) == repr(b)


def state(model):
    return dict(sorted(vars(model).items()))


def clusterer(**params):
    return lw.ExemplarClusterer(**{"opening_cost": 2.0, "solver": "fast", **params})


@functools.cache
def fitted():
    return clusterer().fit(POINTS)


@functools.cache
def fitted_file():
    return dumped(fitted())


# ---- what comes back ----------------------------------------------------------------------------

COLUMNS = [
    None,
    slice(0, 2),
    slice(None, None, -1),
    slice(np.int64(1), None),
    [0, 2],
    ["height", "größe", "\U0001f600"],
    np.array(["a", "bc"], dtype=object),
]


@pytest.mark.parametrize("columns", COLUMNS, ids=repr)
def test_compare_comes_back(columns):
    compare = lw.Compare("size", "euclidean", columns, local_scale=3)
    model = lw.ExemplarClusterer(features=[compare, lw.Compare("rest", "cosine")])
    assert_same(model.get_params(), loaded(dumped(model)).get_params())


PARAMS = [
    {},
    {"features": "precomputed", "weights": None, "opening_cost": 1, "candidates": 7},
    {"weights": [1, 2.5, np.float32(0.1)], "opening_cost": (1.0, 2.0)},
    {"weights": np.arange(6.0)[::2], "opening_cost": np.array(2.0)},
    {"weights": np.asfortranarray(np.ones((2, 3), ">f4")), "opening_cost": np.empty(0)},
    {"weights": np.array([True, False]), "opening_cost": np.array([3, -1], dtype=np.int16)},
    {"opening_cost": float("nan"), "gap": float("-inf"), "time_limit": float("inf")},
    {"opening_cost": np.float16("inf"), "gap": -0.0, "time_limit": np.float64("nan")},
    {"opening_cost": 5e-324, "gap": 1.7976931348623157e308, "time_limit": 0.1},
    {"random_state": 2**32 - 1, "n_jobs": -1, "candidates": np.uint64(2**64 - 1)},
    {"random_state": np.int8(-3), "solver": np.str_("exact"), "opening_cost": "\ud800\x00"},
]


@pytest.mark.parametrize("params", PARAMS, ids=repr)
def test_parameters_come_back(params):
    model = lw.ExemplarClusterer(**params)
    again = loaded(dumped(model))
    assert_same(model.get_params(), again.get_params())
    assert vars(again).keys() == vars(model).keys()


def test_a_fitted_model_comes_back(tmp_path):
    path = tmp_path / "a.likewise"
    model = fitted()
    lw.save(model, path)
    again = lw.load(str(path))
    assert_same(state(model), state(again))
    rows = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_array_equal(model.predict(rows), again.predict(rows))
    np.testing.assert_array_equal(model.transform(rows), again.transform(rows))
    np.testing.assert_array_equal(model.fit_predict(POINTS), again.fit_predict(POINTS))


@pytest.mark.parametrize(
    "params",
    [
        {"features": "columns", "weights": [1.0, 0.5, 2.0]},
        {"features": [lw.Compare("a", "euclidean", local_scale=3), lw.Compare("b", "chi2", [0])]},
        {"opening_cost": "median"},
        {"candidates": 4},
        {"solver": "exact", "time_limit": 20.0},
    ],
    ids=repr,
)
def test_every_way_to_fit_comes_back(params):
    rows = abs(POINTS)
    model = clusterer(**params).fit(rows)
    again = loaded(dumped(model))
    assert_same(state(model), state(again))
    np.testing.assert_array_equal(model.transform(rows[::2]), again.transform(rows[::2]))


def test_a_precomputed_model_comes_back():
    costs = ((POINTS[:, None] - POINTS) ** 2).sum(-1)
    opening = np.linspace(1.0, 3.0, len(costs))
    model = lw.ExemplarClusterer("precomputed", opening_cost=opening).fit(costs)
    again = loaded(dumped(model))
    assert_same(state(model), state(again))
    np.testing.assert_array_equal(model.predict(costs), again.predict(costs))


def test_names_of_columns_and_output_settings_come_back():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["a", "b", "c"])
    model = clusterer().set_output(transform="pandas").fit(frame)
    again = loaded(dumped(model))
    assert_same(model.feature_names_in_, again.feature_names_in_)
    pandas.testing.assert_frame_equal(model.transform(frame), again.transform(frame))


def test_the_same_model_makes_the_same_bytes():
    assert dumped(fitted()) == dumped(loaded(fitted_file())) == fitted_file()


def test_other_programs_can_read_the_file():
    content, _ = taken_apart(fitted_file())
    assert (content["format"], content["version"]) == (1, lw.__version__)
    number = content["model"]["object"]["fitted"]["labels_"]["array"]
    with zipfile.ZipFile(io.BytesIO(fitted_file())) as file:
        assert file.testzip() is None
        labels = np.load(file.open(f"arrays/{number}.npy"), allow_pickle=False)
    np.testing.assert_array_equal(labels, fitted().labels_)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["?", "i1", ">u2", "<i4", "u8", "f2", ">f4", "f8"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (0, 4), (2, 1, 3)])
def test_array_headers_are_those_of_numpy(dtype, shape, order):
    array = np.ones(shape, dtype=dtype, order=order)
    expected = io.BytesIO()
    np.lib.format.write_array(expected, array, version=(1, 0), allow_pickle=False)
    assert b"".join(npy.to_member(array)[1]) == expected.getvalue()


# ---- what is not saved --------------------------------------------------------------------------


class Subclass(lw.ExemplarClusterer):
    """Not in the table, although its parent is."""


def distance(a, b):
    return np.zeros((len(a), len(b)))


NOT_KEPT = [
    ({"features": distance}, r"features is of type function.* features='precomputed'"),
    ({"features": [lw.Compare("a", distance)]}, r"features\[0\]\.distance .*'precomputed'"),
    ({"callbacks": distance}, "callbacks is .* set callbacks=None before saving"),
    ({"callbacks": [distance]}, "callbacks is .* set callbacks=None before saving"),
    ({"random_state": np.random.RandomState(0)}, "random_state is .* give an integer seed"),
    ({"random_state": np.random.default_rng(0)}, "random_state is .* give an integer seed"),
    ({"weights": np.array([1j])}, "weights is an array of dtype complex128"),
    ({"weights": np.array([None])}, "weights is an array of dtype object"),
    ({"weights": np.ma.masked_array([1.0])}, "weights is of type MaskedArray"),
    ({"weights": [[1.0]]}, r"weights\[0\] is of type list, .* only int or float"),
    ({"weights": {1: 2.0}}, "weights is of type dict"),
    ({"gap": "small"}, "gap is of type str, .* only int or float"),
    ({"n_jobs": 2**64}, "n_jobs is an integer of more than 64 bits"),
    ({"gap": np.longdouble(1)}, "gap is of type (longdouble|float64)"),
    ({"weights": np.ones((1,) * 9)}, "weights is an array .* with 9 axes"),
    ({"weights": [0.5] * 400_001}, "too many single values .* as arrays"),
    ({"solver": "a" * (5 << 20)}, "too many single values"),
    ({"weights": np.array(["a"])}, "weights is an array of dtype <U1"),
]


@pytest.mark.parametrize(("params", "message"), NOT_KEPT, ids=[m[:24] for _, m in NOT_KEPT])
def test_what_a_file_cannot_keep_is_refused(params, message, tmp_path):
    path = tmp_path / "a.likewise"
    path.write_bytes(b"old")
    with pytest.raises(ModelFileError, match=message):
        lw.save(lw.ExemplarClusterer(**params), path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("model", [Subclass(), "text", None, lw.ExemplarClusterer, POINTS])
def test_other_classes_are_refused(model, tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot hold .* it holds .*ExemplarClusterer"):
        lw.save(model, tmp_path / "a.likewise")


def test_a_model_that_was_changed_by_hand_is_refused():
    model = loaded(fitted_file())
    model.note = "mine"
    with pytest.raises(ModelFileError, match=r"the attribute note is not part of a .* delete it"):
        dumped(model)
    del model.note
    model.labels_ = model.labels_ + 1000
    with pytest.raises(ModelFileError, match=r"labels_ has entries outside .* fit it again"):
        dumped(model)
    del model.labels_
    with pytest.raises(ModelFileError, match=r"lack 'labels_'; fit it again"):
        dumped(model)


def test_the_limits_of_the_container_hold_for_the_writer_too(monkeypatch):
    with pytest.raises(ModelFileError, match="1024 arrays, and a model file at most 1023"):
        archive.plan_archive([("a", [b""])] * 1025)
    monkeypatch.setattr(archive, "_MAX_BYTES", 1000)
    with pytest.raises(ModelFileError, match="a model file holds at most 4 GiB; fit on fewer"):
        archive.plan_archive([("a", [b"b" * 990])])


# ---- paths --------------------------------------------------------------------------------------


def test_each_trouble_with_a_path_has_its_own_words(tmp_path, monkeypatch):
    model = lw.ExemplarClusterer()
    missing = tmp_path / "missing" / "a.likewise"
    with pytest.raises(ModelFileError, match=r"cannot read .*No such file"):
        lw.load(missing)
    with pytest.raises(ModelFileError, match=r"cannot write .*No such file.*create the folder"):
        lw.save(model, missing)
    with pytest.raises(ModelFileError, match=r"cannot read .*of a file, not of a folder"):
        lw.load(tmp_path)
    with pytest.raises(ModelFileError, match=r"cannot write .*of a file, not of a folder"):
        lw.save(model, tmp_path)
    with pytest.raises(ModelFileError, match="null character"):
        lw.load("a\0b")
    with pytest.raises(InputTypeError, match="path must be text or a path, got int"):
        lw.load(3)
    empty = tmp_path / "empty.likewise"
    empty.touch()
    with pytest.raises(ModelFileError, match=r"cannot load '.*empty\.likewise': .*empty"):
        lw.load(empty)

    def forbidden(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(ModelFileError, match=r"cannot read .*Permission denied.*permissions"):
        lw.load(empty)


@pytest.mark.skipif(os.name == "nt", reason="no pipes with names")
def test_a_pipe_is_neither_waited_for_nor_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelFileError, match="device or a pipe"):
        lw.load(pipe)
    with pytest.raises(ModelFileError, match="only a regular file can be replaced"):
        lw.save(lw.ExemplarClusterer(), pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
