# Commands for developers and first-time users; `make` without a target lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# A test run starts a thousand processes, and a demo dozens: keep compiled modules for them.
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
UV_VERSION := 0.13.8
ZIG_VERSION := 0.17.1
BIN := .venv/bin
CARGO := cargo --config net.retry=5
MANIFEST := --manifest-path native/Cargo.toml

# rustup's cargo looks for its toolchains under $$HOME; when HOME differs from the one
# that installed it, they are still next to the cargo that was found on PATH.
RUSTUP_BESIDE := $(shell dirname "$$(dirname "$$(dirname "$$(command -v cargo)")")")/.rustup
ifeq ($(origin RUSTUP_HOME),undefined)
ifneq ($(wildcard $(RUSTUP_BESIDE)/toolchains),)
export RUSTUP_HOME := $(RUSTUP_BESIDE)
endif
endif

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## set up, measure the embedded directory, site and web server, report
	@$(BIN)/sitebench demo

# Most tests wait for a window or a server, so more processes than cores are used. Tests that others would disturb
# run afterwards.
.PHONY: test
test: build system-packages ## run every Python test, real servers included
	@$(BIN)/pytest -m "not alone and not long and not servers and not truth" --numprocesses 7 --dist loadfile --no-loadscope-reorder
	@$(BIN)/pytest -m "alone and not long" $$(grep -rl "mark.alone" tests --include="*.py")

.PHONY: long-test
long-test: build system-packages ## run the tests that take many minutes, on a quiet machine
	@$(BIN)/pytest -m long

.PHONY: server-tests
server-tests: build ## run the tests on 389-DS, ApacheDS and Samba (as root)
	@.ci/system-packages servers
	@CI=true $(BIN)/pytest -m servers

# Examples are compiled by `make check`; no test needs them.
NATIVE_TEST = $(if $(CI),PROPTEST_RNG_SEED=1997) $(CARGO) test $(MANIFEST) --workspace
NATIVE_TESTS = { $(NATIVE_TEST) --tests && $(NATIVE_TEST) --doc; }

.PHONY: native-test
native-test: rust ## run the Rust tests; with CI set, always on the same random cases
	@$(NATIVE_TESTS) || { echo "failed above; once more:" && $(NATIVE_TESTS); }

# Each fault is built in a worktree of the last commit, under build/.
.PHONY: truth-faults
truth-faults: build rust ## put faults into the engine, one at a time; fail if the truth matrix finds one not (takes long)
	@$(BIN)/python -m tests.truth.faults

# For the command line, workers, Locust, the web page and the portable client; `make test` covers the engine alone.
.PHONY: truth
truth: build system-packages ## compare what each way to run a test reports with a server's log
	@$(BIN)/pytest -m truth tests/truth

.PHONY: truth-intervals
truth-intervals: build ## compare percentile intervals with closed forms and simulated queues (SEED=1; takes long)
	@$(BIN)/python -m tests.truth.intervals --seed $(or $(SEED),1)

# The long run of docs/safety-evidence.md is: make soak MINUTES=60 PEOPLE=1m
.PHONY: soak
soak: build ## load the embedded directory for MINUTES (2) with PEOPLE (100k); fail if it leaks, slows or loses operations
	@$(BIN)/python -m benches.soak --measure $(or $(MINUTES),2)m --entries $(or $(PEOPLE),100k)

.PHONY: fuzz
fuzz: build ## fuzz the parsers of untrusted input, MINUTES (10) for each target; TARGETS names some of them
	@native/fuzz/run $(TARGETS)
	@[ -n "$(TARGETS)" ] || \
	    FUZZ_MINUTES=$(or $(MINUTES),10) $(BIN)/pytest --quiet --capture=no tests/trust/test_hostile_files.py

.PHONY: sanitize
sanitize: rust ## run the Rust tests under AddressSanitizer and ThreadSanitizer (needs nightly Rust; takes long)
	@native/sanitize

# Downloads their sources once.
.PHONY: client-suites
client-suites: build ## run the own tests of python-ldap and ldapts against the embedded directory (needs the network and Node.js 20)
	@.ci/system-packages client-suites
	@$(BIN)/python -m tests.conformance.client_suites

# Uses the engine that `build` made, and downloads both environments from the package index.
.PHONY: bounds
bounds: build ## test the command line with the oldest and with the newest dependencies allowed (needs the network)
	@rm -rf build/bounds
	@MATURIN_STRIP=false $(BIN)/maturin build --release --locked --quiet --out build/bounds
	@for resolution in lowest-direct highest; do \
	    echo "tests/cli with $$resolution dependencies"; \
	    home=build/bounds/$$resolution; \
	    $(BIN)/uv venv --quiet --python $(BIN)/python $$home; \
	    $(BIN)/uv pip install --quiet --python $$home --resolution $$resolution \
	        --requirement pyproject.toml --all-extras build/bounds/*.whl; \
	    $(BIN)/uv pip install --quiet --python $$home hypothesis pytest pytest-timeout; \
	    $$home/bin/python -m pytest --quiet -p no:cacheprovider tests/cli; \
	done

# Both tools fetch their data from the network, and fail without it.
.PHONY: audit
audit: build ## check the locked dependencies for known vulnerabilities (needs the network and cargo-deny)
	@$(BIN)/uv export --frozen --quiet --no-emit-project --all-groups --output-file build/requirements.txt >/dev/null
	@$(BIN)/uv tool run pip-audit --strict --disable-pip --require-hashes --requirement build/requirements.txt
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is missing: cargo install cargo-deny" >&2; exit 1; }
	@cargo-deny $(MANIFEST) check --config $(CURDIR)/deny.toml advisories

# With SINCE=main~5, only for files that changed since then. All files take half an hour.
.PHONY: mutants
mutants: build ## put faults into the functions that make numbers; list those that no test notices (SINCE=REVISION)
	@$(BIN)/python -m tests.mutation $(if $(SINCE),--since $(SINCE))

.PHONY: native-mutants
native-mutants: rust ## the same of the load engine, with cargo-mutants (takes hours); FILES names some of them
	@command -v cargo-mutants >/dev/null || $(CARGO) install --locked cargo-mutants
	@cd native && cargo mutants --package sitebench-load $(foreach file,$(FILES),--file $(file))

.PHONY: lines
lines: ## count the lines of product, tests and docs by room, without blank lines and comments
	@$(PYTHON) -m tests.lines

.PHONY: check
check: build rust ## check lint, format, types, stubs and docs, in both languages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/stubtest sitebench._engine
	@$(BIN)/python -m tests.notices --check
	@$(BIN)/python -m tests.vocabulary --check
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@$(CARGO) fmt $(MANIFEST) --all --check
	@$(CARGO) clippy $(MANIFEST) --workspace --all-targets -- -D warnings
	@! command -v cargo-deny >/dev/null || \
	    cargo-deny --offline $(MANIFEST) check --config $(CURDIR)/deny.toml licenses bans sources

.PHONY: docs
docs: build ## regenerate the command reference and build the docs site into build/site
	@$(BIN)/python -m tests.docs.cli_page
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: screenshots
screenshots: build system-packages ## retake the docs' screenshots of the web UI and of a report
	@$(BIN)/python -m tests.docs.screenshots

# First in CI: a later build would add missing entries to the lock files.
.PHONY: locks
locks: rust $(BIN)/uv ## check that the committed lock files are complete
	@$(CARGO) fetch $(MANIFEST) --locked --quiet
	@$(BIN)/uv lock --check --quiet

.PHONY: bench
bench: build system-packages ## measure the speed and memory ratios (takes minutes)
	@$(BIN)/python -m benches

# rustix uses the C library, because its own reading of the auxiliary vector ends in SIGSEGV under valgrind.
.PHONY: instructions
instructions: build ## count the load engine's instructions per operation, under callgrind; CASES names some
	@command -v valgrind >/dev/null || { echo "valgrind is missing: apt-get install valgrind" >&2; exit 1; }
	@RUSTFLAGS="--cfg rustix_use_libc" $(CARGO) build $(MANIFEST) --release --package sitebench-load --example job \
	    --target-dir native/target/profiling
	@$(BIN)/python -m benches.instructions $(CASES)

# Copies pages and examples to their place in a wheel, for `sitebench docs`. A checkout needs no copy.
.PHONY: data
data:
	@rm -rf sitebench/data/docs sitebench/data/examples
	@mkdir -p sitebench/data/docs
	@cp docs/*.md sitebench/data/docs
	@cp -r examples sitebench/data
	@find sitebench/data -name __pycache__ -prune -exec rm -rf {} +

# uv rebuilds the extension only when a file named in [tool.uv] cache-keys changed;
# otherwise this takes a tenth of a second. The engine keeps line numbers and symbols for perf and debuggers; the
# engine of a wheel is linked again without them.
.PHONY: build
build: rust $(BIN)/uv data ## build .venv and the native extension, if out of date
	@ls sitebench/_engine*.so >/dev/null 2>&1 || \
	    echo "building the engine (Rust): 2 to 4 minutes the first time"
	@MATURIN_STRIP=false $(BIN)/uv sync --frozen --quiet
	@$(MAKE) --silent sitebench/data/charts.js

# Generates the chart library of reports from the locked vl-convert.
sitebench/data/charts.js: uv.lock sitebench/report/bundle.py
	@mkdir -p $(@D)
	@$(BIN)/python -m sitebench.report.bundle > $@.part
	@mv $@.part $@

# Compiled in native/target like `build`; the tag follows from the C library of this machine. With TARGET, zig is the
# C compiler and linker, because it contains the C libraries of other processors and old versions.
.PHONY: wheel
wheel: build ## build the wheel of this platform into dist/, to install where there is no compiler (TARGET=TRIPLE: of another)
ifdef TARGET
	@rustup target add $(TARGET)
	@$(BIN)/uv run --quiet --no-sync --with ziglang==$(ZIG_VERSION) \
	    maturin build --release --locked --quiet --zig --target $(TARGET) --out dist
else
	@$(BIN)/maturin build --release --locked --quiet --out dist
endif
	@ls dist/*.whl

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "sitebench needs Python 3.11 or later; set PYTHON=/path/to/it" >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

.PHONY: rust
rust:
	@cargo --version >/dev/null 2>&1 || \
	    { echo "sitebench needs Rust's cargo on PATH: https://rustup.rs" >&2; exit 1; }

.PHONY: system-packages
system-packages:
	@.ci/system-packages

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf .venv native/target dist sitebench/_engine*.so sitebench/data .mypy_cache .ruff_cache .pytest_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +
