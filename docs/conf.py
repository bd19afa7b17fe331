"""Sphinx settings: Markdown pages, the API from the docstrings."""

from __future__ import annotations

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
