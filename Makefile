.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
SOURCES := shared client services training examples tests
HOST ?= $(or $(VICW_HOST),127.0.0.1)
PORT ?= $(or $(VICW_PORT),8080)
WORKERS ?= 2
# A worker takes a whole file, for what its tests share; files go out in their order, which has the long ones first.
# A worker that dies ends the run: pytest-xdist may wait for ever for the work of one that it replaces.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0
ENV_FILE := $(if $(SIZE),deploy/$(SIZE).env)
# A size is read before .env, which Compose reads by itself only where no other file is named.
COMPOSE := docker compose $(if $(ENV_FILE),$(addprefix --env-file ,$(ENV_FILE) $(wildcard .env)))

.PHONY: help
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

##@ Use

.PHONY: setup
setup: .venv/.runtime ## Install what VICW needs into .venv: seconds, and no compiler

.PHONY: serve
serve: setup ## Set everything up, then serve on http://127.0.0.1:8080 (HOST=, PORT=)
	$(BIN)/vicw serve --host $(HOST) --port $(PORT)

##@ The platform, in containers (SIZE=16gb for a large machine)

.PHONY: up
up: ## Build and start all services; return when they are healthy
	@# Built once each: Compose marks an image with its service, and another mark is another image to it.
	$(COMPOSE) build prepare model
	$(COMPOSE) up -d --no-build --wait
	@echo "ingest: http://$$($(COMPOSE) port ingest 8080)  retrieval: http://$$($(COMPOSE) port retrieval 8080)  (API: /docs)"
	@echo "a key: docker compose run --rm vicw keys create --platform"

.PHONY: down
down: ## Stop all services; what they stored stays
	$(COMPOSE) down

.PHONY: logs
logs: ## Follow the logs of all services
	$(COMPOSE) logs --follow --tail 100

.PHONY: backup
backup: ## Back up into backups/DATE (or TO=); ingestion pauses meanwhile
	VICW_ENV_FILE=$(ENV_FILE) deploy/backup $(TO)

.PHONY: restore
restore: ## Replace everything by a backup: FROM=backups/DATE; asks first, unless VICW_YES=1
	VICW_ENV_FILE=$(ENV_FILE) deploy/restore $(FROM)

##@ Develop

.PHONY: dev
dev: .venv/.dev ## Install all extras and the tools for development, too (llama.cpp is built the first time)

.PHONY: test
test: lint ## Everything: lint, types, import rules, all tests on real processes (WORKERS=2)
	$(PYTEST)

.PHONY: test-fast
test-fast: lint ## Lint, types, import rules, and the tests that start no process
	$(PYTEST) -m "not process and not crash and not servers"

.PHONY: test-compose
test-compose: dev ## The platform in containers: needs Docker, builds the images
	VICW_TEST_COMPOSE=1 $(BIN)/pytest tests/compose -s

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

.PHONY: dist
dist: ## Build the packages that are published into dist/, and check them
	scripts/dist

.PHONY: clean
clean: ## Remove .venv and caches; never your data
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

INPUTS := uv.lock pyproject.toml shared/pyproject.toml client/pyproject.toml

.venv/.runtime: $(INPUTS)
	scripts/setup --no-dev --inexact
	@touch $@

.venv/.dev: $(INPUTS)
	scripts/setup
	@touch $@ .venv/.runtime
