# Every target sets up what it needs. On a fresh machine: python3 (3.11 or newer) with pip, gcc, make, git.
# `test` also wants two browsers, PostgreSQL, nginx and R, and installs them with apt-get where it may.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test run-tests test-fast test-all test-machines test-versions coverage test-gpu test-export check check-systems docs pictures bench reproduce clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

demo: $(VENV)/ready  ## simulated raters judge colours; a map is learned, drawn, and reported on
	$(BIN)/similitude demo

check: $(VENV)/ready  ## style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

check-systems: $(VENV)/ready  ## types as Windows and macOS see them: what these systems lack is not used unguarded
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin

test: $(VENV)/ready  ## style, types and all tests, at the same time
	./tests/setup.sh
	$(MAKE) --no-print-directory --jobs=2 check run-tests

run-tests: $(VENV)/ready
	$(BIN)/python -m pytest -n auto --dist worksteal

test-fast: $(VENV)/ready  ## what needs neither a browser nor a database server, in a minute and a half
	$(BIN)/python -m pytest --fast -n auto --dist worksteal

test-all: check  ## everything, the large matrices whole
	./tests/setup.sh
	$(BIN)/python -m pytest --whole -n auto --dist worksteal

test-machines: $(VENV)/ready  ## the suite on simulated other machines; ROWS="nehalem busy" runs these alone
	./tests/setup.sh
	$(BIN)/python -m tests.machines $(ROWS)

test-versions: $(VENV)/ready  ## the suite with the oldest versions that are allowed, and with the newest
	./tests/setup.sh
	$(BIN)/python -m tests.versions $(ROWS)

coverage: $(VENV)/ready  ## which lines and branches the suite runs
	./tests/setup.sh
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n auto --dist worksteal
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

test-gpu: $(VENV)/ready  ## the engine and the encoders on torch against the engine on numpy; on a GPU where there is one
	$(BIN)/python -m pip install --quiet --editable ".[gpu]"
	$(BIN)/python -m pytest tests/engine tests/contracts tests/torch
	$(BIN)/python -m pytest tests/docs -k "torch or encoders"

test-export: $(VENV)/ready  ## what is written for ONNX, faiss, hnswlib and Annoy, read by these
	$(BIN)/python -m pip install --quiet --editable ".[onnx,faiss,hnswlib,annoy]" onnxruntime
	$(BIN)/python -m pytest tests/export

docs: $(VENV)/ready  ## the documentation, into docs/_build/html; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

pictures: $(VENV)/ready  ## the stored pictures of the documentation, made anew by the tests
	./tests/setup.sh
	SIMILITUDE_DOCS_PICTURES=1 $(BIN)/python -m pytest tests/study/test_browser_rater.py tests/study/test_browser_design.py tests/study/test_people_browser.py tests/display/test_browser.py tests/docs
	SIMILITUDE_DOCS_PICTURES=1 $(BIN)/python -m pytest --whole tests/analysis/test_browser.py

bench: $(VENV)/ready  ## side by side with peers, each in an environment of its own
	$(BIN)/python -m benchmarks

reproduce: $(VENV)/ready  ## the experiments of the papers, all of them (hours), and reproduce/README.md
	$(BIN)/python -m reproduce

clean:
	rm -rf $(VENV) benchmarks/.environments demo
