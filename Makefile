# Two commands do everything on a machine with Python 3.11 or newer, make and a package index:
#   make demo    environment, install, crank-slider run, files in results/, summary
#   make test    environment, install, style and type checks, all tests
#   make docs    the documentation as a site: build/docs/index.html
#   make size    code lines by folder, and the change since the last tag
#   make thorough    more cases of what make test tries once
#   make test-lowest    the tests with the lowest versions that pyproject.toml allows
#   make platforms  models built for browsers and other processors, with Zig (100 MB); without it make test leaves these out
#   make ordinary MODELS=2000 ROW=0: ordinary models of one body against the laws; a failure prints its program
#   make fuzz    SEEDS=2000 FIRST=0: random mechanisms against the laws; a failure prints a small program

PYTHON ?= $(firstword $(shell command -v python3.11 2>/dev/null) $(shell command -v python3 2>/dev/null) python3)
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST_OPTIONS ?= -n 2
MODELS ?= 2000
ROW ?= 0
SEEDS ?= 2000
FIRST ?= 0

# One thread a process: the matrices are small, and the tests run in several processes.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Bytecode is written, whatever the environment says: many processes of the tests read the same sources.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test thorough platforms test-lowest check style types suite size format bench ordinary fuzz docs browser viewer clean
.DEFAULT_GOAL := demo

demo: $(READY)
	$(BIN)/phlexible run crank-slider --out results/crank_slider.h5 --overwrite --plot results/crank_slider.png \
	    --animate results/crank_slider.mp4

test: style
	$(MAKE) --no-print-directory -j 2 types suite

check: style types

style: $(READY)
	$(BIN)/python .ci/size.py --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --config pyproject.toml docs/*.py
	$(BIN)/ruff format --config pyproject.toml --check docs/*.py

types: $(READY)
	$(BIN)/mypy
	$(BIN)/python .ci/typed_names.py

# Compiled once, before two processes of tests would each do it.
suite: $(READY)
	$(BIN)/phlexible warmup
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

# More cases of what make test tries once: minutes more.
thorough: $(READY)
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) -m thorough

# Browsers and other processors than this one: with Node, Chromium (make browser) and qemu-user where they are there.
platforms: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[build]'
	$(BIN)/python -m pytest -m "thorough or not thorough" tests/libraries tests/pictures/report

# The best change removes lines and keeps every test. It is there to be seen, not to be won: no shorter names for it.
size:
	@$(PYTHON) .ci/size.py

# Deprecations are what newer packages say of these old ones; the newest versions, in "make test", must be silent.
test-lowest: $(LOWEST)/.ready
	NUMBA_CACHE_DIR=$(abspath $(LOWEST))/compiled $(LOWEST)/bin/python -m pytest $(PYTEST_OPTIONS) \
	    -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/ruff format --config pyproject.toml docs/*.py

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/compare.py --write
	for program in $(filter-out benchmarks/compare.py,$(wildcard benchmarks/*.py)); do \
	    echo "== $$program"; $(BIN)/python $$program || exit 1; \
	done

ordinary: $(READY)
	cd tests && ../$(BIN)/python -m ordinary --models $(MODELS) --first $(ROW)

fuzz: $(READY)
	cd tests && ../$(BIN)/python -m fuzz --seeds $(SEEDS) --first $(FIRST)
	cd tests && ../$(BIN)/python -m fuzz --meetings --seeds $(SEEDS) --first $(FIRST)

# Chromium and its driver for the tests of reports, from the packages of Debian; needs root. Chrome does as well.
browser:
	apt-get update
	apt-get install --yes --no-install-recommends chromium chromium-driver

# The documentation as a site that needs no network: build/docs/index.html. Models and examples run when they changed.
docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python docs/make_gallery.py
	$(BIN)/python -m sphinx -W --keep-going -E -q docs build/docs

# The viewer of reports with three.js as one file, done for a release; needs node.
viewer:
	cd viewer && npm install --no-audit --no-fund && node build.mjs

clean:
	rm -rf $(VENV) $(LOWEST) results build dist docs/tutorials docs/gallery docs/extra docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# Rebuilt only when pyproject.toml changes. The stamp is written last, so a broken install is done again. Bytecode of
# packages is written by the first import: pip would compile 10 000 files, most of which nothing imports.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "phlexible needs Python 3.11 or newer; set it with: make PYTHON=/path/to/python" >&2; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	touch $@

# uv chooses the lowest versions of what pyproject.toml names, and the newest of what these need.
$(LOWEST)/.ready: pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --editable '.[dev]'
	touch $@
