# Every target sets up what it needs in .venv, from nothing; nothing else has to be installed first.
#
#   make demo     cluster a real data set, print the table, write the picture to demo/
#   make test     lint, types, documentation and all tests: what a change must pass
#   make lint     ruff and mypy only
#   make docs     build the documentation into docs/_build/html
#   make bench    compare with the peers, one thread each: more than an hour
#   make clean    remove everything that can be made again, .venv included
#
# Another interpreter than python3:  make test PYTHON=python3.12

PYTHON ?= python3
WORKERS ?= 2

# Relative paths and `python -m` only: the folder may have spaces in its name.
VENV := .venv
PY := $(VENV)/bin/python
STAMPS := $(VENV)/.stamps

define CHECK_PYTHON
import sys
if sys.version_info < (3, 11):
    sys.exit("likewise needs Python 3.11 or newer, and %s is %d.%d. "
             "Name a newer one: make PYTHON=python3.12 TARGET" % ((sys.executable,) + sys.version_info[:2]))
endef
export CHECK_PYTHON

.PHONY: help demo test lint docs bench clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   \(make .*\)/\1/p' Makefile

demo: $(STAMPS)/app
	@$(VENV)/bin/likewise demo --out demo

# pytest runs last, so that its summary closes the output.
test: lint docs
	@$(PY) -m pytest -n $(WORKERS)

lint: $(STAMPS)/dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

docs: $(STAMPS)/dev
	@$(PY) -m sphinx -q -W --keep-going -b html docs docs/_build/html

bench: $(STAMPS)/app $(STAMPS)/bench
	@$(PY) benchmarks/exemplar.py
	@$(PY) benchmarks/learning.py
	@$(PY) benchmarks/change_points.py

clean:
	rm -rf $(VENV) build dist demo docs/_build benchmarks/out
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra; a change of pyproject.toml installs again.
$(STAMPS)/app $(STAMPS)/dev $(STAMPS)/bench: $(STAMPS)/%: pyproject.toml | $(STAMPS)/venv
	@echo "installing likewise[$*] into $(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

$(STAMPS)/venv:
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "$(PYTHON) not found: name a Python >= 3.11, as in make PYTHON=python3.12 TARGET" >&2; exit 1; }
	@"$(PYTHON)" -c "$$CHECK_PYTHON"
	@"$(PYTHON)" -m venv $(VENV)
	@mkdir -p $(STAMPS)
	@touch $@
