# Two commands: `make demo` and `make test`. Both set up .venv on their first call.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built
TOOLS := build/tools
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: demo test fuzz sanitize races lint types stubs lock audit clean

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
	$(BIN)/python -m fuzz.coverage 60

# The extension once more, in environments of their own that borrow all other packages: with the
# sanitizers of addresses and undefined behaviour for all tests that enter C++, and, by clang, with
# the sanitizer of threads for those that enter it with several.
sanitize races: export OMP_WAIT_POLICY = PASSIVE
sanitize: export ASAN_OPTIONS = detect_leaks=0
sanitize: build/sanitize/.built
	LD_PRELOAD=$$(c++ -print-file-name=libasan.so) build/sanitize/bin/python -P -m pytest -q -x \
		-o pythonpath= tests/native tests/rollout tests/improve

# The sanitizer of threads has to be a part of the program, so Python is linked anew.
races: export TSAN_OPTIONS = ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66
races: export OMP_TOOL_LIBRARIES = $(shell clang++ -print-resource-dir)/../../libarcher.so
races: build/races/.built
	echo 'int Py_BytesMain(int, char **); int main(int n, char **a) { return Py_BytesMain(n, a); }' | \
		clang -x c - -fsanitize=thread -rdynamic -o build/races/bin/python-races $$($(BIN)/python -c \
		"from sysconfig import get_config_var as v; d = v('LIBDIR'); print(f'-L{d} -Wl,-rpath,{d} -lpython' + v('LDVERSION'))")
	build/races/bin/python-races -P -m pytest -q -x -o pythonpath= -k "thread or deadline or lanes" \
		tests/native tests/rollout tests/improve tests/adaptation

build/sanitize/.built: SANITIZERS = address,undefined
build/races/.built: SANITIZERS = thread
build/races/.built: export CXX = clang++
build/%/.built: $(BUILT)
	test -x build/$*/bin/python || $(PYTHON) -m venv --without-pip build/$*
	realpath $(VENV)/lib/python*/site-packages > $$(echo build/$*/lib/python*/site-packages)/borrowed.pth
	$(BIN)/pip --python build/$*/bin/python install --quiet --no-build-isolation --no-deps \
		--force-reinstall -C build-dir=build/$*/objects -C cmake.define.METASAGE_SANITIZERS=$(SANITIZERS) .
	touch $@

lint: $(BUILT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports > $(VENV)/imports.txt || (cat $(VENV)/imports.txt; exit 1)
	$(BIN)/clang-format --dry-run --Werror $$(find native tests/native -name '*.h' -o -name '*.cpp')

types: $(BUILT)
	$(BIN)/mypy

# torch by itself: which build a pinned version is, and what it needs, differ between machines.
$(INSTALLED): requirements.lock requirements-torch.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) -r requirements-torch.txt
	touch $@

$(BUILT): $(INSTALLED) pyproject.toml CMakeLists.txt $(shell find native -type f)
	$(PIP) --no-build-isolation --no-deps --editable .
	! command -v c++ > /dev/null || $(BIN)/python -c "import metasage._native"
	touch $@

# The types of the C++ extension, from the signatures of its bindings.
stubs: $(BUILT)
	$(BIN)/python -m nanobind.stubgen -q -m metasage._native -p native/stub_patterns.txt -o metasage/_native.pyi
	$(BIN)/ruff check -q --fix metasage/_native.pyi
	$(BIN)/ruff format -q metasage/_native.pyi

# The hashes of the versions that stand in requirements.lock.
lock: $(TOOLS)
	sed -n 's/^\([A-Za-z0-9._-]*==.*[^ ]\) *\\$$/\1/p' requirements.lock > build/versions.txt
	$(TOOLS)/bin/uv pip compile --quiet --universal --no-deps --generate-hashes --no-annotate \
		--no-header --upgrade -o requirements.lock build/versions.txt

# Whether anything is known against the packages that are used; asks a public list of advisories.
audit: $(TOOLS) $(BUILT)
	$(TOOLS)/bin/pip-audit --path $$(realpath $(VENV)/lib/python*/site-packages)

$(TOOLS):
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet --disable-pip-version-check uv pip-audit

clean:
	rm -rf $(VENV) build demo
