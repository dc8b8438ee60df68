# `make run` and `make test` set up everything they need in .venv. Plain `make` lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
STAMPS := $(VENV)/stamps

.DEFAULT_GOAL := help
.PHONY: help run batch test lint types contracts unit captures pictures clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(STAMPS)/run ## set up and open the explorer (without a terminal: export everything to out/)
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/sparktrace; \
	else echo "no terminal: exporting to out/ instead (sparktrace --batch out)" >&2; $(BIN)/sparktrace --batch out; fi

batch: $(STAMPS)/run ## export everything there is to out/
	$(BIN)/sparktrace --batch out

test: lint types contracts unit ## set up and pass lint, types, import contracts and tests

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	$(BIN)/mypy

contracts: $(STAMPS)/dev
	$(BIN)/lint-imports

unit: $(STAMPS)/dev
	$(BIN)/python -m pytest -n auto --dist loadfile

captures: $(STAMPS)/dev ## make the emulated capture sets and frozen prompts again
	scripts/make_captures.sh

pictures: $(STAMPS)/dev ## make the pictures of the README again
	$(BIN)/python scripts/pictures.py

clean: ## remove what the targets made
	rm -rf $(VENV) out build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The extras are a help, not a condition: one that cannot be installed is one warning.
$(STAMPS)/run: pyproject.toml constraints.txt | $(VENV)/bin/python
	@mkdir -p $(STAMPS)
	$(PIP) install -c constraints.txt -e .
	@for extra in compile nsight; do \
	  $(PIP) install -c constraints.txt -e ".[$$extra]" >$(STAMPS)/$$extra.log 2>&1 \
	  || echo "warning: the extra '$$extra' could not be installed (see $(STAMPS)/$$extra.log)" >&2; done
	@if command -v nvcc >/dev/null && [ -e /proc/driver/nvidia/version ]; then \
	  $(PIP) install -c constraints.txt -e ".[gpu]" >$(STAMPS)/gpu.log 2>&1 \
	  || echo "warning: the extra 'gpu' could not be installed (see $(STAMPS)/gpu.log)" >&2; fi
	@touch $@

$(STAMPS)/dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@mkdir -p $(STAMPS)
	$(PIP) install -c constraints.txt -e ".[compile,nsight,dev]"
	@touch $@
