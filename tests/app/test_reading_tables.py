"""Reading CSV, Parquet and NPY: the right numbers, or one clear error."""

from __future__ import annotations

import builtins
import io
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.app.tables import read_table
from likewise.errors import DataFileError, MissingDependencyError


def csv(text: str | bytes) -> tuple[str, bytes]:
    return "data.csv", text.encode() if isinstance(text, str) else text


def npy(array: np.ndarray) -> tuple[str, bytes]:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return "data.npy", stream.getvalue()


def parquet(**columns: object) -> tuple[str, bytes]:
    stream = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(stream)
    return "data.parquet", stream.getvalue()


def damaged(file: tuple[str, bytes], keep: int) -> tuple[str, bytes]:
    return file[0], file[1][:keep]


@pytest.fixture
def write(tmp_path: Path):
    def write_file(file: tuple[str, bytes]) -> Path:
        path = tmp_path / file[0]
        path.write_bytes(file[1])
        return path

    return write_file


GOOD = {
    "plain": (csv("a,b\n1,2\n3,4.5\n"), {}, "a b", [[1, 2], [3, 4.5]]),
    "windows line ends": (csv("a,b\r\n1,2\r\n"), {}, "a b", [[1, 2]]),
    "byte order mark": (csv(b"\xef\xbb\xbfa,b\n1,2\n"), {}, "a b", [[1, 2]]),
    "spaces": (csv("a, b\n 1 , 2\n"), {}, "a b", [[1, 2]]),
    "quoted": (csv('a,"b"\n"1","2e3"\n'), {}, "a b", [[1, 2000]]),
    "blank lines around": (csv("\n\na,b\n1,2\n\n\n"), {}, "a b", [[1, 2]]),
    "blank line at the end": (csv("a\n1\n\n"), {}, "a", [[1]]),
    "chosen, in that order": (csv("a,b,c\n1,x,3\n"), {"columns": ["c", "a"]}, "c a", [[3, 1]]),
    "index left out": (csv(",a\n0,5\n"), {"columns": ["a"]}, "a", [[5]]),
    "no header": (csv("1,2\n3,4\n"), {"header": False}, "column_1 column_2", [[1, 2], [3, 4]]),
    "header of numbers": (csv("400,410\n3,4\n"), {"header": True}, "400 410", [[3, 4]]),
    "parquet": (parquet(a=[1, 2], b=[1.5, -2]), {}, "a b", [[1, 1.5], [2, -2]]),
    "parquet chosen": (parquet(a=[1], b=["x"]), {"columns": ["a"]}, "a", [[1]]),
    "npy": (npy(np.array([[1, 2], [3, 4]])), {}, "0 1", [[1, 2], [3, 4]]),
    "npy float32": (npy(np.array([[0.5]], dtype=np.float32)), {}, "0", [[0.5]]),
    "npy by columns": (npy(np.asfortranarray([[1.0, 2], [3, 4]])), {}, "0 1", [[1, 2], [3, 4]]),
    "npy chosen": (npy(np.array([[1, 2, 3]])), {"columns": ["2", "0"]}, "2 0", [[3, 1]]),
}


@pytest.mark.parametrize("name", GOOD)
def test_numbers(name: str, write):
    file, arguments, columns, values = GOOD[name]
    table = read_table(write(file), **arguments)
    assert list(table.columns) == columns.split()
    np.testing.assert_array_equal(table.values, values)
    assert table.values.dtype == np.float64
    assert table.named == (file[0] != "data.npy" and arguments.get("header") is not False)


ONE = npy(np.eye(3))
BAD = {
    "empty": (csv(""), {}, r"is empty \(0 bytes\); it needs at least one row"),
    "blank": (csv("\n\n"), {}, "holds only blank lines"),
    "header only": (csv("a,b\n"), {}, "has columns but no rows"),
    "text in a numeric column": (
        csv("a,b\n1,2\n3,4\n5,tall\n7,8\n"),
        {},
        r"data.csv: data row 3 \(line 4 of the file\), column 'b': 'tall' is not a number; ",
    ),
    "text, line found despite quotes": (
        csv('note,b\n"two\nlines",2\n"x",oops\n,4\n'),
        {"columns": ["b"]},
        r"data row 2 \(line 4 of the file\), column 'b': 'oops' is not a number",
    ),
    "text, no header": (
        csv("1,2\n3,y\n5,6\n"),
        {"header": False},
        r"data row 2 \(line 2 of the file\), column 'column_2': 'y'",
    ),
    "several texts": (csv("a\n1\nx\ny\n2\n3\n"), {}, r"'x' is not a number \(2 such cells"),
    "comma as decimal sign": (csv('a,b\n"1,5",2\n3,4\n5,6\n'), {}, "'1,5' is not a number"),
    "missing": (
        csv("a,b\n1,2\n3,\n"),
        {},
        r"row 2 \(line 3 of the file\), column 'b': the val",
    ),
    "missing by name": (
        csv("a,b\n1,NA\n"),
        {},
        r"row 1 .*column 'b': the value is missing; fill",
    ),
    "missing as nan": (csv("a,b\n1,nan\n2,3\n"), {}, "column 'b': the value is missing"),
    "short line": (csv("a,b\n1,2\n3\n"), {}, r"row 2 \(line 3 of the file\), column 'b'.* missing"),
    "blank line within": (csv("a,b\n1,2\n\n3,4\n"), {}, r"row 2 \(line 3 of the file\)"),
    "infinite": (csv("a\n1\n1e400\n"), {}, r"row 2 .*column 'a': '1e400' is infinite"),
    "column of text": (
        csv("name,a\nx,1\ny,2\n"),
        {},
        r"not a column of numbers: 'name' \(data row 1 .*: 'x'\); use the others with .* a\.",
    ),
    "only text": (csv("name\nx\ny\n"), {}, "there is no other column"),
    "unknown column": (
        csv("a,b\n1,2\n"),
        {"columns": ["a", "c", ""]},
        "has no column 'c', ''; its columns are 'a', 'b'",
    ),
    "many columns": (
        csv(",".join(f"c{i}" for i in range(30)) + "\n"),
        {"columns": ["x"]},
        "'c19' and 10 more",
    ),
    "column twice": (csv("a,b\n1,2\n"), {"columns": ["a", "a"]}, "names 'a' more than once"),
    "repeated name": (csv("a,a\n1,2\n"), {}, "several columns are called 'a'"),
    "unnamed column": (csv(",a\n0,1\n"), {}, "column 1 has no name .* --columns a"),
    "numbers first": (csv("1,2\n3,4\n"), {}, r"holds only numbers .*--no-header.*--header"),
    "long line": (csv("a,b\n1,2\n3,4,5\n"), {}, "line 3 has 3 fields, the first line has 2"),
    "semicolons": (csv("a;b\n1;2\n"), {}, "separated by semicolons"),
    "tabs": (csv("a\tb\n1\t2\n"), {}, "separated by tabs"),
    "open quote": (csv('a,b\n"1,2\n3,4\n'), {}, "is damaged or not a .csv file"),
    "latin 1": (csv("a,b\n1,é\n".encode("latin-1")), {}, "is not UTF-8 text"),
    "utf 16": (csv("a,b\n1,2\n".encode("utf-16")), {}, "is not UTF-8 text"),
    "parquet, nothing": (("data.parquet", b""), {}, "is empty"),
    "parquet, junk": (("data.parquet", b"PAR1 junk PAR1"), {}, "damaged or not a .parquet file"),
    "parquet, torn": (damaged(parquet(a=[1.0, 2.0]), 60), {}, "damaged or not a .parquet file"),
    "parquet, text": (parquet(a=[1], b=["x"]), {}, r"'b' \(String\); use the others with .* a\."),
    "parquet, missing": (parquet(a=[1, None]), {}, "data row 2, column 'a': the value is missing"),
    "parquet, nan": (parquet(a=[1.0, np.nan]), {}, "data row 2, column 'a': the value is missing"),
    "parquet, infinite": (parquet(a=[1.0, np.inf]), {}, "data row 2, column 'a': inf is infinite"),
    "parquet, no rows": (
        ("data.parquet", parquet(a=[1.0])[1]),
        {"columns": ["b"]},
        "no column 'b'",
    ),
    "parquet, header": (parquet(a=[1.0]), {"header": True}, "is not a CSV file"),
    "npy, junk": (("data.npy", b"not an array"), {}, "is not an NPY file"),
    "npy, nothing": (("data.npy", b""), {}, "is empty"),
    "npy, torn": (damaged(ONE, 150), {}, "is damaged or not a .npy file"),
    "npy, torn header": (damaged(ONE, 60), {}, "is damaged or not a .npy file"),
    "npy, huge claim": (
        ("data.npy", ONE[1].replace(b"(3, 3), }         ", b"(3, 3000000000), }")),
        {},
        "is damaged",
    ),
    "npy, objects": (npy(np.array([[{}]], dtype=object)), {}, "Python objects"),
    "npy, texts": (npy(np.array([["a"]])), {}, "real numbers are needed"),
    "npy, complex": (npy(np.eye(2) + 1j), {}, "holds complex128"),
    "npy, vector": (npy(np.ones(3)), {}, r"has shape \(3,\).*reshape a vector to \(n, 1\)"),
    "npy, no rows": (npy(np.ones((0, 3))), {}, "has columns but no rows"),
    "npy, no columns": (npy(np.ones((3, 0))), {}, r"has shape \(3, 0\)"),
    "npy, nan": (
        npy(np.array([[1, 2], [3, np.nan]])),
        {},
        "data row 2, column '1': the value is nan",
    ),
    "npy, unknown": (ONE, {"columns": ["7"]}, "has no column '7'; its columns are '0', '1', '2'"),
}


@pytest.mark.parametrize("name", BAD)
def test_errors(name: str, write):
    file, arguments, message = BAD[name]
    path = write(file)
    with pytest.raises(DataFileError, match=message) as caught:
        read_table(path, **arguments)
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path: Path):
    with pytest.raises(DataFileError, match="does not exist"):
        read_table(tmp_path / "none.csv")


def test_directory(tmp_path: Path):
    with pytest.raises(DataFileError, match="is a directory"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["data.xlsx", "data"])
def test_unknown_ending(name: str, tmp_path: Path):
    (tmp_path / name).write_bytes(b"1")
    with pytest.raises(DataFileError, match=r"files ending in .csv, .parquet, .npy"):
        read_table(tmp_path / name)


def test_ending_in_capitals(tmp_path: Path):
    (tmp_path / "DATA.CSV").write_text("a\n1\n")
    assert read_table(tmp_path / "DATA.CSV").values.tolist() == [[1.0]]


def test_unreadable_file(write, monkeypatch: pytest.MonkeyPatch):
    path = write(csv("a\n1\n"))
    open_file = Path.open

    def refuse(self: Path, *arguments: object, **options: object):
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return open_file(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataFileError, match="cannot be read: Permission denied"):
        read_table(path)


def test_without_polars(write, monkeypatch: pytest.MonkeyPatch):
    import_module = builtins.__import__

    def refuse(name: str, *arguments: object, **options: object):
        if name == "polars":
            raise ModuleNotFoundError("No module named 'polars'", name="polars")
        return import_module(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match=r"pip install 'likewise\[app\]'"):
        read_table(write(csv("a\n1\n")))
    assert read_table(write(ONE)).values.shape == (3, 3)


def test_rows_carry_the_names(write):
    assert read_table(write(csv("a,b\n1,2\n"))).rows().columns == ["a", "b"]
    assert isinstance(read_table(write(ONE)).rows(), np.ndarray)


@pytest.mark.parametrize(
    "file", [csv("a,b\n" + "1,2.5\n" * 20), npy(np.eye(6))], ids=["csv", "npy"]
)
@pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required additional header")
def test_damaged_bytes_raise_one_kind_of_error(file: tuple[str, bytes], seed: int, write):
    choose = random.Random(seed)
    for _ in range(200):
        content = bytearray(file[1])
        for _ in range(choose.randint(1, 4)):
            content[choose.randrange(len(content))] = choose.randrange(256)
        path = write((file[0], bytes(content)))
        try:
            values = read_table(path).values
        except DataFileError:
            continue
        assert np.isfinite(values).all()
