# Everything works in a virtual environment of its own, .venv, with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Prints a setting of pip's, for uv, which does not read them: where to look for packages.
SETTING = setting() { for at in :env: global; do $(BIN)/python -m pip config get $$at.$$1 2>/dev/null && return; done; }
# Two workers that each compute with every core get in each other's way.
ONE_THREAD := OMP_NUM_THREADS=1
# The tests of a file stay in one worker, where they share what they build. Journeys, the longest, come before the stages by name.
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install run test test-slow test-all check bench structure lock docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Lets uv look for packages where pip does; uv does not read pip's settings.
AS_PIP = $(SETTING); links=$$(setting find-links | tr ' ' ,) index=$$(setting index-url); \
	test -z "$$links" || export UV_FIND_LINKS="$$links"; test -z "$$index" || export UV_DEFAULT_INDEX="$$index"

# torch and the packages of its CUDA builds are not in requirements.lock: which build there is depends on the machine.
$(INSTALLED): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (half a minute the first time, more on a slow network) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep -o '^uv==[0-9.]*' requirements.lock)"
	@$(AS_PIP); $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements.lock
	@$(AS_PIP); $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]'
	@touch $@

install: $(INSTALLED) ## the virtual environment with everything in it

run: $(INSTALLED) ## take in transcripts, build the memory, serve the Dagster UI (NO_UI=1: do not serve)
	@$(BIN)/memory up $(if $(NO_UI),--no-ui) $(if $(SINCE),--since $(SINCE))

test: $(INSTALLED) ## the tests (slow ones left out)
	@$(ONE_THREAD) $(BIN)/python -m pytest -m 'not slow' $(WORKERS)

test-slow: $(INSTALLED) ## the slow tests, long matrices as a sample
	@$(ONE_THREAD) $(BIN)/python -m pytest -m slow --durations=15 $(WORKERS)

test-all: $(INSTALLED) ## all tests, long matrices whole
	@TEST_ALL=1 $(ONE_THREAD) $(BIN)/python -m pytest $(WORKERS)

check: $(INSTALLED) ## format, lint, types, import contract, tests
	@$(BIN)/ruff format memory_assets memory_assets_tests
	@$(BIN)/ruff check memory_assets memory_assets_tests
	@$(BIN)/pyright
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

bench: $(INSTALLED) ## ratios and limits, measured on this machine (ROWS="gold pipeline": only these; SMALL=1: see that they run)
	@$(BIN)/python -W ignore -m memory_assets_tests.bench $(if $(SMALL),--small) $(ROWS)

structure: $(INSTALLED) ## circles, imports against the order, lines of code, docstrings, the longest file
	@$(BIN)/python -m memory_assets_tests.structure

lock: $(INSTALLED) ## requirements.lock from constraints.txt: the hashes of every package
	@$(AS_PIP); $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-package torch \
		--extra dev -c constraints.txt pyproject.toml | $(BIN)/python -m memory_assets_tests.lock > requirements.lock.part
	@mv requirements.lock.part requirements.lock

docs: $(INSTALLED) ## docs/tables.md from the records, tools of agents, completion and answers from the code
	@$(BIN)/python -m memory_assets_tests.generated

clean: ## remove the virtual environment
	rm -rf $(VENV)
