"""Small modules, small functions, few positional parameters, names that say something."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

from source_tree import MODULES, SOURCE, module_name, parse, relative

MODULE_LINES = 400
FUNCTION_LINES = 60
KERNEL_LINES = 90
POSITIONAL_PARAMETERS = 6
BANNED_NAMES = {"utils", "helpers", "common", "core", "misc", "tools", "manager", "handler"}
# numba takes positional arguments only, and a kernel takes all its arrays from the caller. Any
# folder of this name holds kernels.
KERNELS = "_kernels"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def code_lines(source: str) -> set[int]:
    """Numbers of the lines that carry code: neither blank nor comments only."""
    idle = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in idle:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def length(function: Function, lines: set[int]) -> int:
    """Code lines of a function, without its docstring."""
    own = lines & set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        own -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(own)


def positional(function: Function) -> int:
    """Parameters that may be passed by position, without ``self`` and ``cls``."""
    names = [argument.arg for argument in function.args.posonlyargs + function.args.args]
    return len([name for name in names if name not in ("self", "cls")])


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_module(path: Path):
    source = path.read_text(encoding="utf-8")
    file = relative(path)
    assert len(source.splitlines()) <= MODULE_LINES, f"{file}: split it"
    assert not set(module_name(path).split(".")) & BANNED_NAMES, f"{file}: name what it holds"
    assert ast.get_docstring(parse(path)), f"{file}: say what it is"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_functions(path: Path):
    lines = code_lines(path.read_text(encoding="utf-8"))
    is_kernel = path.parent.name == KERNELS
    limit = KERNEL_LINES if is_kernel else FUNCTION_LINES
    too_long, too_many = [], []
    for function in functions_of(parse(path)):
        where = f"{relative(path)}:{function.lineno} {function.name}"
        if length(function, lines) > limit:
            too_long.append(f"{where}: {length(function, lines)} code lines")
        if not is_kernel and positional(function) > POSITIONAL_PARAMETERS:
            too_many.append(f"{where}: {positional(function)} positional parameters")
    assert too_long == []
    assert too_many == []


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.name == "__init__.py"], ids=relative
)
def test_package_files_only_re_export(path: Path):
    defined = {node.name for node in parse(path).body if isinstance(node, Function | ast.ClassDef)}
    assert defined <= {"__getattr__", "__dir__"}


def test_the_measures():
    source = '''
def f(self, a, b, /, c, *, d):
    """Not
    counted."""

    # not counted
    x = [
        1,  # counted

        2,
    ]
    return x
'''
    (function,) = functions_of(ast.parse(source))
    assert length(function, code_lines(source)) == 6
    assert positional(function) == 3


def test_the_sources_are_found():
    assert SOURCE / "likewise" / "errors.py" in MODULES
