# OML on one page of make. `make` alone explains; every target works from a fresh clone.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help run stop install lock test chaos check reference demo clients conformance oracle bench-recall bench-load bench-records bench-scan bench-journal bench-reassign format

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## start everything (own Postgres, broker, web, worker) and print URL, logins, keys; Ctrl-C ends it
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.embedded run

stop: ## end what `make run` started, from another terminal, and nothing else
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.embedded stop

install: ## the virtual environment with the tools for tests and checks
	@$(PYTHON) oml/embedded/environment.py --dev

lock: install ## compile requirements*.txt from pyproject.toml, with hashes
	@for pair in "requirements.txt" "requirements-dev.txt --extra dev"; do set -- $$pair; out=$$1; shift; \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    "$$@" --output-file $$out pyproject.toml || exit 1; done

test: install ## the whole test suite on a throw-away Postgres of its own (ARGS="-k name")
	@exec $(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

chaos: install ## kill, stop and lose everything in turn for ROUNDS=20 rounds (SEED=word), and check that nothing was lost
	@OML_CHAOS_ROUNDS=$(or $(ROUNDS),20) OML_CHAOS_SEED=$(SEED) exec $(BIN)/python -m pytest tests/chaos $(ARGS)

check: install ## lint, format, types, import walls, migrations, deployment settings
	@exec $(BIN)/python -m oml.embedded.check

format: install ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

reference: install ## write docs/reference/ from the code (a test compares it)
	@exec $(BIN)/python -m oml.reference

demo: ## the main job as a story over MCP and HTTP, against a running `make run` or one of its own
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.demo

clients: install ## every real MCP client we know against a running server (installs them into .omltest/)
	@OML_CLIENTS=all exec $(BIN)/python -m pytest tests/clients $(ARGS)

oracle: install ## a million authorization decisions against the small independent model (DECISIONS=, SEED=)
	@OML_ORACLE_DECISIONS=$(or $(DECISIONS),1000000) OML_ORACLE_SEED=$(or $(SEED),20261129) \
	  exec $(BIN)/python -m pytest -s tests/properties/test_oracle.py $(ARGS)

conformance: install ## the official MCP conformance suite, both revisions, against the checked-in baseline
	@exec $(BIN)/python -m pytest tests/clients/test_conformance.py $(ARGS)

bench-recall: ## recall@1/5/10 and MRR on LoCoMo through the product's own doors (SET=folder)
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.embedded.test -- $(BIN)/python bench/recall.py $(if $(SET),--set $(SET))

bench-records: ## ingest and read of source records beside raw SQL, and the memory of 100 MB (ARGS="--records 100000")
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.embedded.test -- $(BIN)/python bench/records.py $(ARGS)

bench-load: ## submit and recall over /v1 and MCP beside the same raw SQL, eight clients
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python bench/load.py $(ARGS)

bench-scan: ## what the scanners find and what they wrongly suspect, on the public sets
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python bench/scan.py

bench-reassign: ## move a subtree of 10,000 claims beside the bare UPDATE, recall before and after
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.embedded.test -- $(BIN)/python bench/reassign.py $(ARGS)

bench-journal: ## what order, chain and proofs of the journal cost beside the same inserts without them
	@$(PYTHON) oml/embedded/environment.py
	@exec $(BIN)/python -m oml.embedded.test --durable -- $(BIN)/python bench/journal.py $(ARGS)
