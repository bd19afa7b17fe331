"""Documentation is executed: Python blocks, console blocks, doctests, links, tables.

In a page, the blocks run in order, in one namespace and one empty folder:

- ``python`` blocks run as doctests where they hold prompts, as a script otherwise;
- ``console`` blocks: every line ``$ likewise ...`` must name a command and options that exist, and
  is run unless it is in ``NOT_RUN``; output below it must match, with ``...`` for any text;
  every ``$ make ...`` must name a target. Other commands are not run.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from source_tree import MODULES, ROOT, SOURCE, module_name, parse, relative

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = sorted(
    [
        *(
            ROOT / name
            for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
        ),
        *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
    ]
)
# Commands whose options are checked, but which take too long for a page, or need a screen.
NOT_RUN = {"demo", "reproduce"}
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of the first line of the text, from 1


def blocks(path: Path) -> Iterator[Block]:
    page = path.read_text(encoding="utf-8")
    for match in FENCE.finditer(page):
        yield Block(match[1], match[2], page.count("\n", 0, match.start(2)) + 1)


def without_blocks(path: Path) -> str:
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def run_doctest(test: doctest.DocTest) -> None:
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    assert runner.failures == 0, report.getvalue()


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> None:
    if ">>>" in block.text:
        test = doctest.DocTestParser().get_doctest(
            block.text, {}, page.name, str(page), block.line - 1
        )
        test.globs = namespace
        run_doctest(test)
    else:
        padding = "\n" * (block.line - 1)
        exec(compile(padding + block.text, str(page), "exec"), namespace)


def commands_of(block: Block) -> Iterator[tuple[list[str], str]]:
    """Commands of a console block with the output shown below each."""
    pieces = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    for piece in pieces[1:]:
        command, _, output = piece.replace("\\\n", " ").partition("\n")
        yield shlex.split(command, comments=True), output


def run_likewise(arguments: list[str], expected: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from likewise.app.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "TERM": "dumb",
        },
    )
    assert done.returncode == 0, f"likewise {shlex.join(arguments)}: {done.stderr}"
    if expected.strip():
        assert doctest.OutputChecker().check_output(expected, done.stdout, FLAGS), done.stdout


def likewise_commands() -> dict[str, set[str]]:
    """Names of the commands with their options; the empty name stands for the program itself."""
    program = generator().program()
    found = {"": program, **program.commands}
    return {
        name: {"--help"} | {text for item in command.params for text in item.opts}
        for name, command in found.items()
    }


def check_options(arguments: list[str]) -> str:
    """Name of the command used, having checked that it and its options exist."""
    known = likewise_commands()
    name = next((word for word in arguments if not word.startswith("-")), "")
    assert name in known, f"no command {name!r}"
    for word in arguments:
        option = word.partition("=")[0]
        if re.match(r"--?[a-z]", option):
            assert option in known[name] | known[""], f"likewise {name} has no option {option}"
    return name


def make_targets() -> set[str]:
    return set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def run_console(block: Block, folder: Path) -> None:
    for command, expected in commands_of(block):
        if command[0] == "likewise":
            if check_options(command[1:]) not in NOT_RUN:
                run_likewise(command[1:], expected, folder)
        elif command[0] == "make":
            targets = {word for word in command[1:] if "=" not in word}
            assert targets <= make_targets(), f"no such target: {targets - make_targets()}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.language == "python":
            run_python(block, page, namespace)
        elif block.language == "console":
            run_console(block, tmp_path)


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_module_doctests(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(module_name(path))
    for test in doctest.DocTestFinder().find(module):
        run_doctest(test)


def generator() -> Any:
    """The module ``docs/generate_cli.py``, which is not on the path."""
    spec = importlib.util.spec_from_file_location("generate_cli", ROOT / "docs" / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_line_page_is_up_to_date():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == generator().page(), "run: python docs/generate_cli.py"


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_resolve(page: Path):
    broken = []
    for link in LINK.findall(without_blocks(page)):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(link)
    assert broken == []


SYMBOL_TABLES = sorted((ROOT / "docs" / "papers").glob("*.md"))


@pytest.mark.parametrize("page", SYMBOL_TABLES, ids=page_id)
def test_symbol_tables_name_code_that_exists(page: Path):
    """Rows ``| symbol | meaning | `name` | `file` |``: the file holds the name."""
    rows = re.findall(r"^\|.*\| `([\w.]+)` \| `(\S+\.py)` \|$", page.read_text("utf-8"), re.M)
    assert rows, "a page of a paper has a symbol table"
    for name, file in rows:
        path = SOURCE / "likewise" / file
        assert path.exists(), file
        words = re.findall(r"\w+", path.read_text(encoding="utf-8"))
        assert name.rpartition(".")[2] in words, f"{file} does not hold {name}"


def test_every_public_name_is_in_the_api_page():
    import likewise

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    missing = [name for name in likewise.__all__ if f"likewise.{name}" not in page]
    assert set(missing) <= {"__version__"}


def test_the_sources_of_the_api_parse():
    assert all(parse(path) for path in MODULES)
