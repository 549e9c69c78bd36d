# Two commands: `make demo` and `make test`. Both set up .venv on their first call.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built

.PHONY: demo test fuzz sanitize lint types stubs clean

demo: $(BUILT)
	mkdir -p demo
	$(BIN)/metasage info examples/town200.vrp
	$(BIN)/metasage solve examples/town200.vrp --method sage --time-limit 20 -o demo/town200.sol --plot demo/town200.png
	$(BIN)/metasage check examples/town200.vrp demo/town200.sol
	@echo "the picture is demo/town200.png"

# Threads that wait without spinning share busy machines well.
test: export OMP_WAIT_POLICY = PASSIVE
test: lint types
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --cov --cov-report=term:skip-covered -q

# Odd files, settings, networks, signals and limits, other ones each time: some minutes.
fuzz: export OMP_WAIT_POLICY = PASSIVE
fuzz: $(BUILT)
	$(BIN)/python -m fuzz

# The extension once more, with the sanitizers of addresses and undefined behaviour, in an
# environment of its own that borrows all other packages; then the tests that enter C++.
SANITIZED := build/sanitize
sanitize: export LD_PRELOAD = $(shell c++ -print-file-name=libasan.so)
sanitize: export ASAN_OPTIONS = detect_leaks=0
sanitize: export OMP_WAIT_POLICY = PASSIVE
sanitize: $(SANITIZED)/.built
	$(SANITIZED)/bin/python -P -m pytest -q -x -o pythonpath= tests/native tests/rollout tests/improve

$(SANITIZED)/.built: $(BUILT)
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv --without-pip $(SANITIZED)
	realpath $(VENV)/lib/python*/site-packages > $$(echo $(SANITIZED)/lib/python*/site-packages)/borrowed.pth
	LD_PRELOAD= $(BIN)/pip --python $(SANITIZED)/bin/python install --quiet --no-build-isolation --no-deps \
		--force-reinstall -C cmake.define.METASAGE_SANITIZERS=address,undefined .
	touch $@

lint: $(BUILT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports > $(VENV)/imports.txt || (cat $(VENV)/imports.txt; exit 1)
	$(BIN)/clang-format --dry-run --Werror $$(find native tests/native -name '*.h' -o -name '*.cpp')

types: $(BUILT)
	$(BIN)/mypy

# torch first and by itself: a pinned version takes the build for this machine.
$(INSTALLED): requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check $$(grep '^torch==' requirements.lock)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	touch $@

$(BUILT): $(INSTALLED) pyproject.toml CMakeLists.txt $(shell find native -type f)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	! command -v c++ > /dev/null || $(BIN)/python -c "import metasage._native"
	touch $@

# The types of the C++ extension, from the signatures of its bindings.
stubs: $(BUILT)
	$(BIN)/python -m nanobind.stubgen -q -m metasage._native -p native/stub_patterns.txt -o metasage/_native.pyi
	$(BIN)/ruff check -q --fix metasage/_native.pyi
	$(BIN)/ruff format -q metasage/_native.pyi

clean:
	rm -rf $(VENV) build demo
