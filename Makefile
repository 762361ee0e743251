# Everything works in a virtual environment of its own, .venv, with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What running needs is installed, and what the tests need besides.
RUNNING := $(VENV)/.running
TESTING := $(VENV)/.testing
# Prints a setting of pip's, for uv, which does not read them: where to look for packages.
SETTING = setting() { for at in :env: global; do $(BIN)/python -m pip config get $$at.$$1 2>/dev/null && return; done; }
# Two workers that each compute with every core get in each other's way.
ONE_THREAD := OMP_NUM_THREADS=1
# The tests of a file stay in one worker, where they share what they build. Journeys, the longest, come before the stages by name.
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install run test test-slow test-ci test-all check bench structure lock docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Lets uv look for packages where pip does; uv does not read pip's settings.
AS_PIP = $(SETTING); links=$$(setting find-links | tr ' ' ,) index=$$(setting index-url); \
	test -z "$$links" || export UV_FIND_LINKS="$$links"; test -z "$$index" || export UV_DEFAULT_INDEX="$$index"

UV_INSTALL = $(AS_PIP); $(BIN)/uv pip install --quiet --python $(BIN)/python

$(RUNNING): pyproject.toml constraints.txt requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (half a minute the first time, more on a slow network) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^uv==' constraints.txt)"
	@$(UV_INSTALL) --no-deps --require-hashes -r requirements.lock
	@$(UV_INSTALL) --no-deps -e .
	@touch $@

# torch and the packages of its CUDA builds are not in requirements-dev.lock: which build there is depends on the machine.
$(TESTING): $(RUNNING) requirements-dev.lock
	@echo "Installing what the tests need ..."
	@$(UV_INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@$(UV_INSTALL) -c constraints.txt -e '.[dev]'
	@touch $@

install: $(TESTING) ## the virtual environment with everything in it: what running needs, and the tests

run: $(RUNNING) ## take in transcripts, build the memory, serve the Dagster UI (NO_UI=1: do not serve)
	@$(BIN)/memory up $(if $(NO_UI),--no-ui) $(if $(SINCE),--since $(SINCE))

test: $(TESTING) ## the tests (slow ones left out)
	@$(ONE_THREAD) $(BIN)/python -m pytest -m 'not slow' $(WORKERS)

test-slow: $(TESTING) ## the slow tests, long matrices as a sample
	@$(ONE_THREAD) $(BIN)/python -m pytest -m slow --durations=15 $(WORKERS)

test-ci: $(TESTING) ## both, collected once, as CI runs them
	@$(ONE_THREAD) $(BIN)/python -m pytest --durations=15 $(WORKERS)

test-all: $(TESTING) ## all tests, long matrices whole
	@TEST_ALL=1 $(ONE_THREAD) $(BIN)/python -m pytest $(WORKERS)

check: $(TESTING) ## format, lint, types, import contract, tests
	@$(BIN)/ruff format memory_assets memory_assets_tests
	@$(BIN)/ruff check memory_assets memory_assets_tests
	@$(BIN)/pyright
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

bench: $(TESTING) ## ratios and limits, measured on this machine (ROWS="gold pipeline": only these; SMALL=1: see that they run)
	@$(BIN)/python -W ignore -m memory_assets_tests.bench $(if $(SMALL),--small) $(ROWS)

structure: $(TESTING) ## circles, imports against the order, lines of code, docstrings, the longest file
	@$(BIN)/python -m memory_assets_tests.structure

COMPILE = $(AS_PIP); $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-package torch \
	-c constraints.txt pyproject.toml --group weights
LOCK = $(BIN)/python -m memory_assets_tests.lock

lock: $(TESTING) ## requirements.lock and requirements-dev.lock from constraints.txt: the hashes of every package
	@$(COMPILE) | $(LOCK) > requirements.lock.part
	@$(COMPILE) --extra dev | $(LOCK) requirements.lock.part > requirements-dev.lock.part
	@mv requirements.lock.part requirements.lock
	@mv requirements-dev.lock.part requirements-dev.lock

docs: $(TESTING) ## docs/tables.md from the records, tools of agents, completion and answers from the code
	@$(BIN)/python -m memory_assets_tests.generated

clean: ## remove the virtual environment
	rm -rf $(VENV)
