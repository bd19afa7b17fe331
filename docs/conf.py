"""Sphinx settings: Markdown pages, the API from the docstrings."""

from __future__ import annotations

import re
from typing import Any

from likewise import __version__

project = "likewise"
author = "The likewise developers"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "alabaster"
html_theme_options = {"description": "Show it how you group things.", "page_width": "1100px"}
html_show_sourcelink = False


def plain_citations(*event: Any) -> None:
    """Numbered citations as text: MyST does not link footnotes that stand in docstrings."""
    lines = event[-1]
    lines[:] = [re.sub(r"\[(\d+)\]_|^\.\. \[(\d+)\]", r"[\1\2]", line) for line in lines]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", plain_citations)
