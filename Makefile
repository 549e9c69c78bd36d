# Two commands: `make demo` and `make test`. Both set up .venv on their first call.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built

.PHONY: demo test lint types clean

demo: $(BUILT)
	mkdir -p demo
	$(BIN)/metasage generate cvrp --size 20 --count 4 --seed 1 -o demo/cvrp20.npz
	$(BIN)/metasage info demo/cvrp20.npz#0
	$(BIN)/metasage info examples/square.vrp
	$(BIN)/metasage check examples/square.vrp examples/square.sol

# Threads that wait without spinning share busy machines well.
test: export OMP_WAIT_POLICY = PASSIVE
test: lint types
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered -q

lint: $(BUILT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(BUILT)
	$(BIN)/mypy

# torch first and by itself: a pinned version takes the build for this machine.
$(INSTALLED): requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check $$(grep '^torch==' requirements.lock)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	touch $@

$(BUILT): $(INSTALLED) pyproject.toml CMakeLists.txt $(wildcard native/*)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $@

clean:
	rm -rf $(VENV) build demo
