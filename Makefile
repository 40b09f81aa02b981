# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FLAG := .venv-flag

# Tests start processes, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Files in memory, where the system has a folder for it: a busy disk makes each commit wait.
MEMORY := $(if $(wildcard /dev/shm),TMPDIR=/dev/shm)

.PHONY: help setup demo test test-fast test-flag lint format clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Make the environment

$(VENV)/.core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cognigraph needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.ready: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable '.[fastembed,openai]' --group dev
	@touch $@

demo: $(VENV)/.core ## Play a conversation into a memory and ask it questions
	$(BIN)/cognigraph demo

test: $(VENV)/.ready ## The whole suite, on SQLite and on real Neo4j servers
	$(BIN)/python -m pytest

test-fast: $(VENV)/.ready ## After each edit: no server, few processes, a tenth of the examples
	$(MEMORY) $(BIN)/python -m pytest -n auto -m "not neo4j and not slow" --hypothesis-profile=fast

$(FLAG)/.ready: pyproject.toml
	$(PYTHON) -m venv $(FLAG)
	$(FLAG)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(FLAG)/bin/python -m pip install --quiet --editable '.[flag,sentence-transformers]' --group dev
	@touch $@

test-flag: $(FLAG)/.ready ## FlagEmbedding on tiny models (an environment of its own, 6 GB)
	HF_HUB_OFFLINE=1 $(FLAG)/bin/python -m pytest tests/flag

lint: $(VENV)/.ready ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready ## Reformat
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the environment and caches
	rm -rf $(VENV) $(FLAG) .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
