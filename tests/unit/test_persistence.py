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
from likewise.persistence import archive, manifest, npy, write_atomically
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


def put_together(content, arrays):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    contents = [("manifest.json", [text]), *arrays]
    stream = io.BytesIO()
    archive.write_archive(stream, archive.plan_archive(contents), contents)
    return stream.getvalue()


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


@functools.cache
def fitted(**params):
    return lw.ExemplarClusterer(**{"opening_cost": 2.0, "solver": "fast", **params}).fit(POINTS)


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
        {"features": "columns", "weights": (1.0, 0.5, 2.0)},
        {"opening_cost": "median"},
        {"candidates": 4},
        {"solver": "exact", "time_limit": 20.0},
    ],
    ids=repr,
)
def test_every_way_to_fit_comes_back(params):
    model = fitted(**params)
    assert_same(state(model), state(loaded(dumped(model))))


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
    model = lw.ExemplarClusterer(opening_cost=2.0, solver="fast").set_output(transform="pandas")
    again = loaded(dumped(model.fit(frame)))
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


# ---- what is not loaded -------------------------------------------------------------------------


def edit(path, value):
    """A change of the manifest: the value at a path of keys is replaced, or removed if None."""

    def change(content):
        *parents, last = path
        for key in parents:
            content = content[key]
        if value is REMOVED:
            del content[last]
        else:
            content[last] = value

    return change


REMOVED = object()
MODEL = ("model", "object")
PARAM = (*MODEL, "params")
FITTED = (*MODEL, "fitted")
EDITS = [
    (edit(["format"], 2), "format 2, .* reads up to 1; upgrade likewise"),
    (edit(["format"], True), "no format number"),
    (edit(["format"], 0), "must have the keys"),
    (edit(["extra"], 1), "must have the keys"),
    (edit(["library"], "other"), "must have the keys"),
    (edit(["version"], 1), "wrong version"),
    (edit(["arrays"], {}), "wrong version or list"),
    (edit(["arrays", 0], REMOVED), "not the arrays that the manifest lists"),
    (edit(["arrays", 0, "dtype"], "|O"), "dtype that is not allowed"),
    (edit(["arrays", 0, "dtype"], "<f16"), "dtype that is not allowed"),
    (edit(["arrays", 0, "dtype"], "<i4"), "its shape and dtype"),
    (edit(["arrays", 0, "shape"], [-1]), "shape that is not allowed"),
    (edit(["arrays", 0, "shape"], [0, 2**31, 2**31]), "shape that is too large"),
    (edit(["arrays", 0, "shape"], [23]), "its shape and dtype"),
    (edit(["arrays", 0, "order"], "A"), "wrong order"),
    (edit(["arrays", 0, "size"], 1), "its shape and dtype"),
    (edit(["arrays", 0, "sha256"], "0" * 64), "SHA-256 of 'arrays/0.npy' is wrong"),
    (edit(["arrays", 0, "more"], 1), "must have the keys"),
    (edit(["model"], {}), "not a tagged value"),
    (edit(["model"], {"tuple": []}), "does not hold a model"),
    (edit([*MODEL, "class"], "Popen"), "class 'Popen', which is not one .* upgrade likewise"),
    (edit([*MODEL, "class"], ["os", "system"]), "which is not one"),
    (edit([*MODEL, "module"], "os"), "must have the keys"),
    (edit([*PARAM, "shell"], True), "unknown name 'shell'"),
    (edit([*PARAM, "gap"], REMOVED), "lack 'gap'"),
    (edit([*PARAM, "gap"], "0"), "gap is a value of kind str, where only int or float may be"),
    (edit([*PARAM, "gap"], {"float": "1.0"}), "gap is not one of nan, inf, -inf"),
    (edit([*PARAM, "gap"], {"float": "inf", "int": 1}), "gap is not a tagged value"),
    (edit([*PARAM, "gap"], {"eval": "1"}), "gap has an unknown tag"),
    (edit([*PARAM, "gap"], {"scalar": ["float16", 1e9]}), "gap is not a value of float16"),
    (edit([*PARAM, "gap"], {"scalar": ["float32", 0.1]}), "gap is not a value of float32"),
    (edit([*PARAM, "n_jobs"], {"scalar": ["int8", 128]}), "n_jobs is not a value of int8"),
    (edit([*PARAM, "n_jobs"], {"scalar": ["O", 1]}), "type that is not allowed"),
    (edit([*PARAM, "n_jobs"], {"scalar": [["int8"], 1]}), "type that is not allowed"),
    (edit([*PARAM, "n_jobs"], {"scalar": ["int8", {"scalar": ["int8", 1]}]}), "within a scalar"),
    (edit([*PARAM, "n_jobs"], 2**64), "more than 64 bits"),
    (edit([*PARAM, "weights"], {"array": 99}), "not in the file"),
    (edit([*PARAM, "weights"], {"array": 0}), "not used once each"),
    (edit([*PARAM, "weights"], {"tuple": 1}), "has no list of items"),
    (edit([*PARAM, "features"], {"slice": [0, 1]}), "exactly start, stop and step"),
    (edit([*PARAM, "features"], {"slice": [0, 1, "x"]}), "a bound of features is a value of"),
    (edit([*PARAM, "features"], {"object": {"class": "Compare"}}), "must have the keys"),
    (edit([*FITTED, "labels_"], REMOVED), "lack 'labels_'"),
    (edit([*FITTED, "labels_"], {"names": [1]}), "not a list of texts"),
    (edit([*FITTED, "labels_"], {"names": ["a"]}), "labels_ is a value of kind names"),
    (edit([*FITTED, "n_clusters_"], 1), "does not fit in size"),
    (edit([*FITTED, "feature_names_in_"], {"names": ["a"]}), "does not fit in size"),
    (edit([*FITTED, "status_"], None), "status_ is a value of kind None"),
    (edit([*FITTED, "history_"], {"dict": []}), "history_ is not a JSON object"),
    (edit([*FITTED, "_private"], 1), "unknown name '_private'"),
]


@pytest.mark.parametrize(("change", "message"), EDITS, ids=[m for _, m in EDITS])
def test_a_changed_manifest_is_refused(change, message):
    content, arrays = taken_apart(fitted_file())
    change(content)
    with pytest.raises(ModelFileError, match=message):
        loaded(put_together(content, arrays))


def test_nothing_is_imported_for_a_class_that_is_not_in_the_table(monkeypatch):
    content, arrays = taken_apart(fitted_file())
    content["model"]["object"]["class"] = "Popen"
    data = put_together(content, arrays)
    monkeypatch.setattr("importlib.import_module", lambda name: pytest.fail(f"imported {name}"))
    with pytest.raises(ModelFileError, match="Popen"):
        loaded(data)


TEXTS = [
    (b"", "not JSON"),
    (b"\xff{}", "not JSON"),
    (b'{"format": NaN}', "NaN, which is not JSON"),
    (b'{"format": 1e999}', "number that is too large"),
    (b'{"format": %s}' % (b"1" * 5000), "more than 64 bits"),
    (b'{"format": 1, "format": 1}', "a key twice"),
    (b"[" * 33 + b"]" * 33, "more than .* 32 levels"),
    (b"[" + b"0," * 400_000 + b"0]", "more than 400000 tokens"),
    (b'["' + b'\\"' * 500_000, "not JSON"),
    (b"[" + b'"' + b"\\\\" * 1000 + b"[,,,", "not JSON"),
    (b'"%s"' % (b"[" * 2000), "no format number"),
    (b"[]", "no format number"),
]


@pytest.mark.parametrize(("text", "message"), TEXTS, ids=range(len(TEXTS)))
def test_a_manifest_that_is_not_one_is_refused(text, message):
    with pytest.raises(ModelFileError, match=message):
        loaded(put_together(text, []))


def test_bytes_that_are_no_boolean_are_refused():
    mask = np.array([0, 2], dtype=np.uint8).view(bool)
    with pytest.raises(ModelFileError, match="booleans other than 0 and 1"):
        loaded(dumped(lw.ExemplarClusterer(weights=mask)))


def test_the_limits_of_the_container_hold_for_the_writer_too(monkeypatch):
    with pytest.raises(ModelFileError, match="1024 arrays, and a model file at most 1023"):
        archive.plan_archive([("a", [b""])] * 1025)
    monkeypatch.setattr(archive, "_MAX_BYTES", 1000)
    with pytest.raises(ModelFileError, match="a model file holds at most 4 GiB; fit on fewer"):
        archive.plan_archive([("a", [b"b" * 990])])


def test_a_file_from_another_zip_program_is_refused():
    content, arrays = taken_apart(fitted_file())
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", compression) as file:
            file.writestr("manifest.json", json.dumps(content))
            for name, pieces in arrays:
                file.writestr(name, pieces[0])
        with pytest.raises(ModelFileError, match="not that of a stored member"):
            loaded(stream.getvalue())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "empty"),
        (lambda data: b"PK", "does not begin like a zip"),
        (lambda data: b"a,b\n1,2\n" * 20, "does not begin like a zip"),
        (lambda data: b"\n" + data, "does not begin like a zip"),
        (lambda data: data[:60], "cut short"),
        (lambda data: data[:-1], "cut short"),
        (lambda data: data + b"\n", "cut short, or its end record"),
        (lambda data: data[:-22] + b"\0" + data[-22:], "directory is not in its place"),
        (lambda data: data.replace(b'"fast"', b'"Fast"'), "checksum of 'manifest.json'"),
        (lambda data: data.replace(b"PK\x03\x04\x14", b"PK\x03\x04\x15"), "header of 'manifest"),
        (lambda data: data.replace(b"arrays/1.npy", b"arrays/0.npy"), "not the arrays"),
        (lambda data: data.replace(b"arrays/1.npy", b"../../../etc"), "not the arrays"),
    ],
)
def test_a_damaged_container_is_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        loaded(change(fitted_file()))


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


# ---- atomic writes ------------------------------------------------------------------------------


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"old")

    def fail(stream):
        stream.write(b"half of the new")
        raise RuntimeError("the table ended early")

    with pytest.raises(RuntimeError, match="ended early"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["labels.csv"]


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_survive(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_atomically(link, lambda stream: stream.write(b"new"))
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="without locks only old files are swept")
def test_files_left_behind_are_swept_and_those_of_live_writers_are_not(tmp_path):
    dead = tmp_path / ".likewise-0123456789abcdef.tmp"
    others = {".likewise-short.tmp", "x.likewise-0123456789abcdef.tmp", "a", "b"}
    dead.touch()
    for name in others - {"a", "b"}:
        (tmp_path / name).touch()

    def write_another(stream):
        assert not dead.exists()
        write_atomically(tmp_path / "b", lambda inner: inner.write(b"inner"))
        stream.write(b"outer")

    write_atomically(tmp_path / "a", write_another)
    assert set(os.listdir(tmp_path)) == others
    assert (tmp_path / "a").read_bytes() == b"outer"


def test_a_manifest_that_reads_back_is_equal():
    content = {"a": [1, -0.5, None, True, 'é\\"[{'], "b": {}}
    assert manifest.parse(manifest.render(content)) == content
