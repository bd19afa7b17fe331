"""What is refused when a model file is loaded, each with its own words."""

from __future__ import annotations

import functools
import io
import json
import zipfile

import numpy as np
import pytest

import likewise as lw
from likewise.errors import ModelFileError
from likewise.persistence import archive, manifest
from likewise.persistence import format as model_format


def dumped(model):
    stream = io.BytesIO()
    model_format.write_model(model, stream)
    return stream.getvalue()


def loaded(data):
    return model_format.read_model(io.BytesIO(data))


@functools.cache
def fitted_file():
    points = np.random.default_rng(0).normal(size=(24, 3)).round(3)
    return dumped(lw.ExemplarClusterer(opening_cost=2.0, solver="fast").fit(points))


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


def test_a_manifest_that_reads_back_is_equal():
    content = {"a": [1, -0.5, None, True, 'é\\"[{'], "b": {}}
    assert manifest.parse(manifest.render(content)) == content
