# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FLAG := .venv-flag
FRAMEWORKS := .venv-frameworks
CREWAI := .venv-crewai

# Tests start processes, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Files in memory, where there are 4 GB for them: on a disk each commit waits for it.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print "TMPDIR=/dev/shm"}')

# The fast part: what takes less than 0.04 seconds. The mark decides; see CONTRIBUTING.md.
FAST := not neo4j and not slow and not fuzz

# pip prints a warning of setuptools at each editable installation, about nothing one could change.
PIP = PYTHONWARNINGS='ignore:Editable installation' $(1)/bin/python -m pip install --quiet

# How long `make fuzz` explores, and the seed to begin with (a random one each time if empty).
COGNIGRAPH_FUZZ_SECONDS ?= 600
COGNIGRAPH_FUZZ_SEED ?=

# The versions that are supported; `make test-pythons` uses those that are installed.
PYTHONS ?= 3.11 3.12 3.13

.PHONY: help setup demo demo-loop test test-failed compile test-lines test-fast test-costs test-flag test-integrations test-typescript typescript test-pythons fuzz release chart docker lint format docs clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Make the environment

$(VENV)/.core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cognigraph needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Installing cognigraph into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(call PIP,$(VENV)) --upgrade 'pip>=25.1'
	@$(call PIP,$(VENV)) --editable .
	@touch $@

$(VENV)/.ready: $(VENV)/.core
	@echo "Installing the development tools into $(VENV)"
	@$(call PIP,$(VENV)) --editable '.[fastembed,openai,mcp,server]' --group dev
	@touch $@

demo: $(VENV)/.core ## Play a conversation into a memory and ask it questions
	$(BIN)/cognigraph demo

demo-loop: $(VENV)/.ready ## Answer questions in rounds, with a scripted model
	$(BIN)/cognigraph demo --loop

test: $(VENV)/.ready ## The whole suite, on SQLite and on a real Neo4j; what depends on its version on two
	$(MEMORY) $(BIN)/python -m pytest -n auto --maxprocesses=4

test-failed: $(VENV)/.ready ## What failed in the last run, one test after the other, up to the first failure
	$(MEMORY) $(BIN)/python -m pytest -n 0 -x --last-failed --last-failed-no-failures none

compile: $(VENV)/.ready ## Compile the tests once, which each worker would do at the same time
	@said=$$($(BIN)/python -m pytest -q -q --collect-only) || { echo "$$said"; exit 1; }

test-lines: $(VENV)/.ready ## As test, but with every test of a store on every line of Neo4j
	$(MEMORY) COGNIGRAPH_TEST_EVERY_LINE=1 $(BIN)/python -m pytest -n auto --maxprocesses=4

test-fast: $(VENV)/.ready ## After each edit: no server, few processes, a fifth of the examples
	$(MEMORY) $(BIN)/python -m pytest -n auto -m "$(FAST)" --hypothesis-profile=fast

test-costs: $(VENV)/.ready ## Which tests of the fast part take most CPU time
	$(MEMORY) $(BIN)/python -m pytest -q -n 0 -p tests.costs -m "$(FAST)" --hypothesis-profile=fast

fuzz: $(VENV)/.ready ## Explore at random, for COGNIGRAPH_FUZZ_SECONDS (600)
	@end=$$(( $$(date +%s) + $(COGNIGRAPH_FUZZ_SECONDS) )); \
	while left=$$(( end - $$(date +%s) )); [ $$left -gt 0 ]; do \
	  seed=$(or $(COGNIGRAPH_FUZZ_SEED),$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')); \
	  echo "seed $$seed (repeat: make fuzz COGNIGRAPH_FUZZ_SEED=$$seed), $$left s left"; \
	  COGNIGRAPH_FUZZ_SECONDS=$$left COGNIGRAPH_FUZZ_SEED=$$seed $(BIN)/python -m pytest -q -x \
	    -m "fuzz or hypothesis" --hypothesis-profile=fuzz --hypothesis-seed=$$seed --timeout=3600 \
	    > .fuzz.log 2>&1; code=$$?; tail -n 1 .fuzz.log; \
	  if [ $$code -ne 0 ] && ! { [ $$code -eq 2 ] && grep -q "time for fuzzing is up" .fuzz.log; }; \
	  then cat .fuzz.log; echo "failed with seed $$seed: add what it found as an @example" >&2; exit 1; fi; \
	  if [ -n "$(COGNIGRAPH_FUZZ_SEED)" ]; then break; fi; \
	done

test-pythons: ## The fast part on each supported Python that is installed
	@for version in $(PYTHONS); do \
	  found=; \
	  for python in python$$version $$HOME/.pyenv/versions/$$version.*/bin/python; do \
	    if "$$python" -c '' 2>/dev/null; then found=$$python; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then echo "Python $$version is not installed: skipped"; continue; fi; \
	  echo "Python $$version"; \
	  $(MAKE) --no-print-directory test-fast VENV=.venv-$$version PYTHON=$$found || exit 1; \
	done

# Any Helm 3 or 4 on the path does. Built from source, it takes some minutes, once.
chart: $(VENV)/.ready ## Render the Helm chart into tests/data/chart, after a change of it
	@command -v helm >/dev/null || test -x .cache/helm/helm || \
	  GOBIN=$(CURDIR)/.cache/helm go install helm.sh/helm/v3/cmd/helm@v3.19.5
	$(BIN)/python -m tests.chart

docker: ## Build and start what is in docker/, where a Docker engine runs
	docker/check

$(FLAG)/.ready: pyproject.toml
	@echo "Installing FlagEmbedding and torch into $(FLAG)"
	@$(PYTHON) -m venv $(FLAG)
	@$(call PIP,$(FLAG)) --upgrade 'pip>=25.1'
	@$(call PIP,$(FLAG)) --editable '.[flag,sentence-transformers]' --group dev
	@touch $@

test-flag: $(FLAG)/.ready ## FlagEmbedding on tiny models (an environment of its own, 6 GB)
	HF_HUB_OFFLINE=1 $(FLAG)/bin/python -m pytest tests/flag

$(FRAMEWORKS)/.ready: pyproject.toml
	@echo "Installing agent frameworks into $(FRAMEWORKS)"
	@$(PYTHON) -m venv $(FRAMEWORKS)
	@$(call PIP,$(FRAMEWORKS)) --upgrade 'pip>=25.1'
	@$(call PIP,$(FRAMEWORKS)) --editable '.[langgraph,langchain,openai-agents,llamaindex,autogen,pydantic-ai,google-adk]' --group dev
	@touch $@

$(CREWAI)/.ready: pyproject.toml
	@echo "Installing CrewAI into $(CREWAI)"
	@$(PYTHON) -m venv $(CREWAI)
	@$(call PIP,$(CREWAI)) --upgrade 'pip>=25.1'
	@$(call PIP,$(CREWAI)) --editable '.[crewai]' 'pytest>=8.3' pytest-timeout hypothesis
	@touch $@

test-integrations: $(FRAMEWORKS)/.ready $(CREWAI)/.ready ## Agent frameworks (environments of their own; CrewAI's packages exclude others')
	$(FRAMEWORKS)/bin/python -m pytest tests/integrations
	$(CREWAI)/bin/python -m pytest tests/integrations/test_crewai.py

lint: $(VENV)/.ready ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready ## Reformat
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.docs: $(VENV)/.ready
	@echo "Installing the documentation tools into $(VENV)"
	@$(call PIP,$(VENV)) --group docs
	@touch $@

typescript: $(VENV)/.ready ## Make the types of the TypeScript client from the server (needs Node)
	$(BIN)/python -m tests.openapi
	cd clients/typescript && npm ci && npm run generate -- src/schema.ts

test-typescript: $(VENV)/.ready ## Test the TypeScript client against a real server (needs Node)
	cd clients/typescript && npm ci
	$(BIN)/python -m pytest -q -n 0 tests/rest/test_typescript_client.py

$(VENV)/.release: $(VENV)/.docs
	@echo "Installing the release tools into $(VENV)"
	@$(call PIP,$(VENV)) --group release
	@touch $@

release: $(VENV)/.release ## Build and try what a release consists of, into dist/; uploads nothing
	$(BIN)/python .ci/release.py

docs: $(VENV)/.docs ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	$(BIN)/python -m docs.rendering.offline site

clean: ## Remove the environment and caches
	rm -rf $(VENV) $(FLAG) $(FRAMEWORKS) $(CREWAI) $(PYTHONS:%=.venv-%) .fuzz.log .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist site *.egg-info
