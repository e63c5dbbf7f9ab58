# Everything that a person or CI types. `make help` lists it.

PYTHON ?= python3
SUITE ?= lab-operation
AGENT ?= control:reference
CLUSTER ?= embedded
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
STRANDLINE := $(BIN)/strandline

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@echo "setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed; set PYTHON=..."; exit 4; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: setup
setup: $(READY) ## Set up the virtual environment

.PHONY: run
run: $(READY) ## Run a suite with an agent (SUITE=, AGENT=, CLUSTER=, JOBS=); sets everything up first
	@$(STRANDLINE) run --suite $(SUITE) --agent $(AGENT) --cluster $(CLUSTER) --jobs $(JOBS)

.PHONY: validate
validate: $(READY) ## Prove the suite: every control scores what it must
	@$(STRANDLINE) validate $(SUITE) --cluster $(CLUSTER) --jobs $(JOBS)

.PHONY: validate-all
validate-all: $(READY) ## Prove every suite: all controls, all tasks, all truths, live (an hour)
	@$(STRANDLINE) validate lab-operation --cluster $(CLUSTER) --jobs $(JOBS)
	@$(STRANDLINE) validate lab-recovery --cluster $(CLUSTER) --jobs $(JOBS)

.PHONY: provision
provision: $(READY) ## Start a cluster that stays between runs (CLUSTER=embedded, kind or existing)
	@$(STRANDLINE) provision --cluster $(CLUSTER)

.PHONY: ready
ready: $(READY) ## Wait until the cluster's guard rails hold
	@$(STRANDLINE) ready --cluster $(CLUSTER)

.PHONY: verify
verify: $(READY) ## Run the safety specs on the live cluster
	@$(STRANDLINE) verify --cluster $(CLUSTER)

.PHONY: policies
policies: toolchain ## Run the safety specs as pytest items on a cluster of their own
	@$(BIN)/pytest policies --strandline-cluster $(CLUSTER) -q

.PHONY: teardown
teardown: $(READY) ## End the cluster and all on it
	@$(STRANDLINE) teardown --cluster $(CLUSTER)

.PHONY: sweep
sweep: $(READY) ## Take down what a killed run left behind
	@$(STRANDLINE) sweep

.PHONY: doctor
doctor: $(READY) ## Say what this machine has and what is missing
	@$(STRANDLINE) doctor

.PHONY: toolchain
toolchain: $(READY) ## Find every binary, and build what is nowhere
	@$(STRANDLINE) doctor --build

.PHONY: test-toolchain
test-toolchain: $(READY) ## What the tests need besides: OpenTofu, and nodes for an embedded cluster
	@$(STRANDLINE) doctor --build --also tofu --also kube-scheduler --also kwok

.PHONY: image
image: $(READY) ## Build the image of the laboratory's services
	@$(STRANDLINE) image lab

.PHONY: node-image
node-image: $(READY) ## Build a node image for kind, where none can be pulled; needs root
	@$(STRANDLINE) image node

.PHONY: lint
lint: $(READY) ## Style, types, layers, spelling, suites
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/codespell
	@$(STRANDLINE) tasks lint

.PHONY: format
format: $(READY) ## Format Python
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

.PHONY: unit
unit: $(READY) ## Unit tests; no cluster
	@$(BIN)/pytest tests/unit -n auto -q

.PHONY: virtual
virtual: toolchain ## Whole attempts in memory over many seeds, and graders that are wrong
	@$(BIN)/pytest tests/virtual tests/mutants -n 2 -q

.PHONY: integration
integration: test-toolchain ## Tests on real Terraform and the embedded cluster
	@$(BIN)/pytest tests/integration -n 2 --dist loadfile -q

.PHONY: suite
suite: toolchain ## Tests of the suite and of whole runs
	@$(BIN)/pytest tests/suite -n 2 --dist loadfile -p no:randomly -q

.PHONY: test
test: lint test-toolchain unit virtual integration suite ## Everything that CI runs

.PHONY: test-kind
test-kind: toolchain ## Tests of the suite on a real kind cluster; needs Docker or podman
	@$(BIN)/pytest tests/kind -p no:randomly -q

.PHONY: bench
bench: toolchain ## Measure everything beside its peers, in one run (ARGS=--kind for seconds by phase)
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: docs
docs: $(READY) ## Write the generated reference again
	@$(BIN)/python -m harness.lab.lifecycle --write
	@$(BIN)/python -m harness.report.schema

.PHONY: lock
lock: ## Write requirements.lock again; needs uv
	@uv pip compile pyproject.toml --group dev --generate-hashes --universal --python-version 3.11 --no-header --no-annotate --quiet -o requirements.lock

.PHONY: clean
clean: ## Remove the virtual environment and caches; runs/ stays
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
