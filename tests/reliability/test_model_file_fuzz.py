"""Mutated model files raise `ModelFileError` or load to exactly what they say, in bounded memory.

The mutants are of two sorts. Blind ones change bytes of the file; nearly all of them stop at the
container. Informed ones take the file apart, change the manifest or an array, and put it together
with right checksums and digests, so that the audit behind the container is reached.

Oracle: what loads is saved again, and the manifest and arrays must be those of the mutant. For a
blind mutant that means those of the original.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import io
import json
import random
import re
import tracemalloc
import zipfile

import numpy as np
import pandas
import pytest

import likewise as lw
from likewise.errors import ModelFileError
from likewise.persistence import archive
from likewise.persistence import format as model_format

CHUNK = 5_000
CHUNKS = 10  # 50,000 mutants
LONG_CHUNKS = 200  # 1,000,000 mutants
ROOM = 64 << 20
MEMORY_EVERY = 250  # tracing makes a load several times slower


@functools.cache
def seeds():
    """Small files that hold every kind of value between them."""
    compare = [
        lw.Compare("a", "euclidean", slice(0, None), local_scale=2),
        lw.Compare("b", "cosine", ["x", "y"]),
        lw.Compare("c", "rbf", [1, 0]),
    ]
    unfitted = lw.ExemplarClusterer(
        compare,
        weights=(1, np.float32(0.5), float("inf")),
        opening_cost=np.asfortranarray(np.ones((2, 2), dtype=">f4")),
        time_limit=float("nan"),
        random_state=7,
    )
    points = np.random.default_rng(0).normal(size=(12, 2))
    fitted = lw.ExemplarClusterer(opening_cost=np.float32(1), solver="fast")
    fitted.fit(pandas.DataFrame(points, columns=["x", "y"]))
    return [dumped(unfitted), dumped(fitted), dumped(fitted)]


def dumped(model):
    stream = io.BytesIO()
    model_format.write_model(model, stream)
    return stream.getvalue()


# Parameters that files may lack, whose default is None.
ABSENT_IN_OLD_FILES = ["paths"]


# ---- blind mutants ------------------------------------------------------------------------------


def flip_bits(data, rng):
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def truncate(data, rng):
    del data[rng.randrange(len(data)) :]


def splice(data, rng):
    start, to = rng.randrange(len(data)), rng.randrange(len(data))
    data[to : to + rng.randrange(1, 200)] = data[start : start + rng.randrange(1, 200)]


def insert_bytes(data, rng):
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.choice([1, 4, 46, 500]))


def write_number(data, rng):
    width = rng.choice([2, 4, 8])
    number = rng.choice([0, 1, 2 ** (8 * width) - 1, 2 ** (8 * width - 1), rng.getrandbits(10)])
    at = rng.choice([rng.randrange(len(data)), len(data) - 22 + rng.randrange(22)])
    data[at : at + width] = number.to_bytes(width, "little")


def rewrite_record(data, rng):
    """A number in a record of the container, where blind luck rarely lands."""
    marks = [match.start() for match in re.finditer(rb"PK[\1\3\5][\2\4\6]", bytes(data))]
    at = rng.choice(marks) + rng.randrange(4, 46)
    data[at : at + 1] = bytes([rng.choice([0, 1, 8, 255, rng.getrandbits(8)])])


def join_files(data, rng):
    data[rng.choice([0, len(data)]) :] = rng.choice(seeds()) + bytes(data[: rng.randrange(99)])


BLIND = [flip_bits, truncate, splice, insert_bytes, write_number, rewrite_record, join_files]


# ---- informed mutants ---------------------------------------------------------------------------

TAGS = ["float", "tuple", "dict", "slice", "scalar", "array", "names", "object", "eval", ""]
ATOMS = [None, True, False, 0, 1, -1, 3, 2**31, 2**63, 2**64, -(2**63), 10**400, 0.5, -0.0, 1e308]
ATOMS += ["", "x", "nan", "-inf", "Compare", "Popen", "|O", "<f8", "<U1", "\ud800", "\0", "A" * 999]


def random_node(rng, depth=0):
    roll = rng.random()
    if depth > 3 or roll < 0.5:
        return rng.choice(ATOMS)
    if roll < 0.65:
        return [random_node(rng, depth + 1) for _ in range(rng.randrange(4))]
    if roll < 0.7:
        return functools.reduce(lambda node, _: [node], range(rng.choice([20, 40, 200])), 0)
    return {rng.choice(TAGS): random_node(rng, depth + 1) for _ in range(rng.choice([1, 1, 1, 2]))}


def places(node):
    """Every (container, key) in a JSON tree."""
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield node, key
            yield from places(node[key])


def edit_manifest(content, members, rng):
    for _ in range(rng.choice([1, 1, 2])):
        spots = list(places(content))
        node, key = rng.choice(spots)
        action = rng.randrange(6)
        if action <= 1:
            node[key] = random_node(rng)
        elif action == 2:
            other, other_key = rng.choice(spots)
            node[key] = json.loads(json.dumps(other[other_key]))
        elif action == 3:
            del node[key]
        elif isinstance(node, dict):
            new = rng.choice([*TAGS, "labels_", "__class__", "shell", str(key).upper()])
            node[new] = node.pop(key) if action == 4 else random_node(rng)
        else:
            node[key:key] = [random_node(rng)] * rng.choice([1, 2, 300])
    return json_text(content)


def edit_text(content, members, rng):
    """Damage to the JSON itself, keys that come twice included."""
    text = bytearray(json_text(content))
    roll = rng.random()
    if roll < 0.3:
        colon = rng.choice([i for i, byte in enumerate(text) if byte == ord("{")])
        text[colon + 1 : colon + 1] = b'"format":1,' if rng.random() < 0.5 else b'"gap":0,'
    elif roll < 0.35:
        text[:] = text.replace(b"null", b"[" * 5000 + b"]" * 5000, 1)
    elif roll < 0.6:
        number = rng.choice(list(re.finditer(rb"(?<=[:,\[])-?\d[\d.e+-]*", bytes(text))))
        new = rng.choice([b"NaN", b"-Infinity", b"1e999", b"-0", b"1E1", b"01", b"9" * 5000, b"1."])
        text[number.start() : number.end()] = new
    else:
        rng.choice([flip_bits, truncate, splice, insert_bytes])(text, rng)
    return bytes(text)


def edit_members(content, members, rng):
    action = rng.randrange(6)
    at = rng.randrange(len(members))
    if action == 0:
        members[at] = (rng.choice(["../a", "arrays/0.npy", "", "manifest.json"]), members[at][1])
    elif action == 1:
        members.insert(at, rng.choice(members))
    elif action == 2:
        rng.shuffle(members)
    elif action == 3:
        del members[at]
    elif action == 4:
        members.append((f"arrays/{len(members)}.npy", [rng.randbytes(rng.randrange(300))]))
    else:
        members[at] = (members[at][0], [members[at][1][0] + b"\0" * rng.randrange(1, 99)])
    return json_text(content)


def edit_array(content, members, rng):
    """Other header or data, with the digest and size that belong to them."""
    at = rng.randrange(len(members))
    data = bytearray(members[at][1][0])
    record = content["arrays"][at]
    action = rng.randrange(4)
    if action == 0:
        header = data.index(b"\n") + 1
        flipped = data[:header]
        flip_bits(flipped, rng)
        data[:header] = flipped
    elif action == 1:
        place = rng.randrange(data.index(b"\n") + 1, len(data))
        data[place] = rng.choice([0, 1, 2, 128, 255])
    elif action == 2:
        record["shape"] = rng.choice([[], [0], [2**40], [-1], [1] * 9, record["shape"][::-1], [4]])
        if rng.random() < 0.5:
            fresh = np.zeros(rng.choice([(), 0, 2, 4, (2, 2)]), dtype=rng.choice(["f8", "?", "i1"]))
            stream = io.BytesIO()
            np.lib.format.write_array(stream, fresh, version=(1, 0))
            data[:] = stream.getvalue()
            record.update(dtype=fresh.dtype.str, shape=list(fresh.shape), order="C")
    else:
        record["dtype"] = rng.choice(["|O", "<i8", ">f8", "|b1", "<U2", "<U0", "<m8", "f8", "|V8"])
        if rng.random() < 0.5:
            data[:] = re.sub(rb"'[<>|]\w+'", repr(record["dtype"]).encode(), bytes(data), count=1)
    record.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
    members[at] = (members[at][0], [bytes(data)])
    return json_text(content)


INFORMED = [edit_manifest, edit_manifest, edit_text, edit_members, edit_array]


def json_text(content):
    return json.dumps(content, separators=(",", ":")).encode()


def parts(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = file.namelist()[1:]
        return file.read("manifest.json"), [(name, [file.read(name)]) for name in names]


@functools.cache
def seed_parts(number):
    return parts(seeds()[number])


def put_together(text, members):
    contents = [("manifest.json", [text]), *members]
    stream = io.BytesIO()
    archive.write_archive(stream, archive.plan_archive(contents), contents)
    return stream.getvalue()


def make_mutant(rng):
    """The bytes of a mutant and, for the oracle, the content that it claims to have."""
    number = rng.randrange(len(seeds()))
    if rng.random() < 0.4:
        data = bytearray(seeds()[number])
        rng.choice(BLIND)(data, rng)
        return bytes(data), None
    text, members = seed_parts(number)
    members = list(members)
    text = rng.choice(INFORMED)(json.loads(text), members, rng)
    return put_together(text, members), (text, members)


def check_mutant(data, claimed):
    """Whether it loaded; any error other than `ModelFileError` fails the test."""
    try:
        model = model_format.read_model(io.BytesIO(data))
    except ModelFileError:
        return False
    again = dumped(model)
    if claimed is None:
        assert again in seeds()
        return True
    text, members = parts(again)
    made, said = json.loads(text), json.loads(claimed[0])
    made["version"] = said["version"]
    for name in ABSENT_IN_OLD_FILES:
        # A file from before the parameter was there loads with its default.
        if name not in said["model"]["object"]["params"]:
            assert made["model"]["object"]["params"].pop(name) is None
    # Text, because 1, 1.0 and true are equal as values.
    assert json.dumps(made, sort_keys=True) == json.dumps(said, sort_keys=True)
    assert members == claimed[1]
    return True


def run_chunk(chunk):
    rng = random.Random(chunk)
    n_loaded = 0
    for number in range(CHUNK):
        data, claimed = make_mutant(rng)
        if number % MEMORY_EVERY:
            n_loaded += check_mutant(data, claimed)
        else:
            assert peak_memory(check_mutant, data, claimed) < ROOM
    # Some informed mutants are good files; most of all mutants must not be.
    assert 0 < n_loaded < CHUNK / 4


def peak_memory(action, *args):
    gc.collect()
    tracemalloc.start()
    try:
        action(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutants_are_refused_or_load_as_they_say(chunk):
    run_chunk(chunk)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS, LONG_CHUNKS))
def test_a_million_mutants(chunk):
    run_chunk(chunk)


# ---- files made to fill the memory --------------------------------------------------------------


def with_text(text):
    return put_together(text, [])


def with_weights(node):
    text, members = seed_parts(1)
    content = json.loads(text)
    content["model"]["object"]["params"]["weights"] = node
    return put_together(json_text(content), members)


def with_history(lists):
    text, members = seed_parts(1)
    content = json.loads(text)
    content["model"]["object"]["fitted"]["history_"] = {"dict": lists}
    return put_together(json_text(content), members)


def many_members():
    contents = [("", [b""])] * 1024
    stream = io.BytesIO()
    archive.write_archive(stream, archive.plan_archive(contents), contents)
    entry = archive.Member("", 0, 0, 0).entry
    data = stream.getvalue()[:-22] + entry * 100_000
    return data + archive._end_record(65_535, len(entry) * 101_024, 30 * 1024)


def with_claimed_shape():
    text, members = seed_parts(1)
    content = json.loads(text)
    content["arrays"][0].update(shape=[2**31 - 1], size=2**31 + 127)
    return put_together(json_text(content), members)


TOKENS = 399_000  # the manifest may have 400,000
BOMBS = {
    "brackets": lambda: with_text(b"[" * (4 << 20)),
    "brackets in text": lambda: with_text(b'"' + b"[" * ((4 << 20) - 2) + b'"'),
    "backslashes": lambda: with_text(b'"' + b"\\\\" * ((2 << 20) - 2) + b'"'),
    "open text": lambda: with_text(b'"' + b"\\a" * ((2 << 20) - 2)),
    "quotes": lambda: with_text(b'"' * (4 << 20)),
    "wide text": lambda: with_text(b'"\\ud83d\\ude00' + b"a" * ((4 << 20) - 14) + b'"'),
    "digits": lambda: with_text(b"9" * (4 << 20)),
    "too much text": lambda: with_text(b" " * (40 << 20)),
    "escaped quotes": lambda: with_text(b'"' + b'\\"' * ((2 << 20) - 2)),
    "empty objects": lambda: with_text(b"[" + b"{}," * (TOKENS // 3) + b"0]"),
    "objects": lambda: with_text(b"[" + b'{"a":0},' * (TOKENS // 4) + b"0]"),
    "keys": lambda: with_text(json_text({f"{i:x}": 0 for i in range(TOKENS // 2)})),
    "lists": lambda: with_text(b"[" + b"[0]," * (TOKENS // 3) + b"0]"),
    "floats": lambda: with_weights([i / 8 for i in range(TOKENS - 999)]),
    "texts": lambda: with_weights({"names": [f"{i:x}" for i in range(TOKENS // 2 - 999)]}),
    "history": lambda: with_history({f"{i:x}": [] for i in range(TOKENS // 4 - 999)}),
    "scalars": lambda: with_weights([{"scalar": ["int8", 1]}] * (TOKENS // 8 - 99)),
    "tuples": lambda: with_weights([{"tuple": []}] * (TOKENS // 6 - 99)),
    "members": many_members,
    "claimed shape": with_claimed_shape,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_files_made_to_fill_the_memory_do_not(bomb):
    stream = io.BytesIO(BOMBS[bomb]())
    size = len(stream.getvalue())

    def read():
        try:
            model_format.read_model(stream)
        except ModelFileError:
            return

    # The stream is made before the trace, so the size of the file is not in the peak.
    assert peak_memory(read) <= size + ROOM


def test_large_arrays_are_read_in_place():
    weights = np.arange(20e6)
    stream = io.BytesIO(dumped(lw.ExemplarClusterer(weights=weights)))
    models = []
    peak = peak_memory(lambda: models.append(model_format.read_model(stream)))
    assert peak <= weights.nbytes + (8 << 20)
    np.testing.assert_array_equal(models[0].weights, weights)
