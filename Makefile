.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
SOURCES := shared client services tests
HOST ?= 127.0.0.1
PORT ?= 8080

.PHONY: help
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

##@ Use

.PHONY: setup
setup: .venv/.runtime ## Install what VICW needs into .venv (the first time builds llama.cpp)

.PHONY: serve
serve: setup ## Set everything up, then serve on http://127.0.0.1:8080 (HOST=, PORT=)
	$(BIN)/vicw serve --host $(HOST) --port $(PORT)

##@ Develop

.PHONY: dev
dev: .venv/.dev ## Install the tools for development, too

.PHONY: test
test: lint ## Everything: lint, types, import rules, all tests on real processes
	$(BIN)/pytest

.PHONY: test-fast
test-fast: lint ## Lint, types, import rules, and the tests that start no process
	$(BIN)/pytest -m "not process and not crash and not servers"

.PHONY: lint
lint: dev ## Style, types, import rules
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: dev ## Format the code
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

.PHONY: clean
clean: ## Remove .venv and caches; never your data
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

INPUTS := uv.lock pyproject.toml $(wildcard shared/pyproject.toml client/pyproject.toml services/*/pyproject.toml)

.venv/.runtime: $(INPUTS)
	scripts/setup --no-dev --inexact
	@touch $@

.venv/.dev: $(INPUTS)
	scripts/setup
	@touch $@ .venv/.runtime
