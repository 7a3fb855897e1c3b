# Everything a developer does. `make` alone does what CI does; `make help` lists the rest.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; exit; }; done)
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# Distributions often have an older Rust, whose own message names a lock file.
RUST_MINOR := $(shell sed -n 's/^rust-version = "1\.\([0-9]*\).*/\1/p' Cargo.toml)
# Modules that macros declare: cargo fmt does not find them.
LISTED := --edition 2024 $(wildcard crates/control/src/marking/*.rs crates/control/src/echo/*.rs \
	crates/control/src/response/*.rs crates/control/tests/contract/out_of_tree/*/*.rs \
	crates/scenario/src/sections/topology/*.rs)
# With other flags, the site would document all crates once more.
RUSTDOC := RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet
PACKAGING := target/packaging
# Zig links against an older glibc than that of this machine: 2.28, as RHEL 8 has it.
PORTABLE := $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux_2_28)
DEMO := santos2003/fig2 santos2003/fig5
# A wheel that is at hand: the demo then compiles nothing. `make demo WHEEL=` compiles all the same.
WHEEL ?= $(lastword $(sort $(wildcard target/wheels/becalm-*.whl)))
DEMO_BIN := $(if $(WHEEL),target/demo-venv/bin,$(BIN))

# No folder of whoever builds becalm belongs into the compiled module, and the same sources give the same one anywhere.
CARGO_HOME ?= $(HOME)/.cargo
export RUSTFLAGS += --remap-path-prefix=$(CURDIR)=becalm --remap-path-prefix=$(CARGO_HOME)/registry/src=crates

.DEFAULT_GOAL := ci
.DELETE_ON_ERROR:

.PHONY: ci
ci: lint test guard ## all linters, all tests and the instruction count (the default)

.PHONY: demo
demo: demo-announced $(if $(WHEEL),demo-wheel,build) ## reproduce two figures and write a report; WHEEL=FILE, or a wheel in target/wheels, avoids compiling
	@echo '2. Two figures of santos2003 beside what the paper prints: about 10 s'
	@# Exit code 1 says that a sentence fails: the table shows which and why, and nothing went wrong.
	@$(DEMO_BIN)/becalm reproduce $(DEMO) --out figures --overwrite || [ $$? -eq 1 ]
	@echo '3. The same scene as a report: 2 s'
	@mkdir -p target && rm -rf target/demo target/demo.html
	@$(DEMO_BIN)/becalm run --example congestion_spreading --out target/demo --report target/demo.html --quiet
	@echo 'For the browser: target/demo.html. Figures: figures/santos2003.'
	@echo 'Now yours: . $(DEMO_BIN)/activate; becalm run --example storage_incast; becalm play'

.PHONY: demo-announced
demo-announced:
	@echo 'becalm: a demo in three steps'
	@$(if $(WHEEL),echo '1. Install $(WHEEL) into target/demo-venv: about 20 s',\
		[ -e $(VENV)/.built ] && echo '1. becalm is set up' || \
		echo '1. Set up $(VENV) and compile becalm into it: 3 to 6 minutes the first time')

.PHONY: demo-wheel
demo-wheel: need-python
	@$(PYTHON) -m venv --clear target/demo-venv
	@target/demo-venv/bin/python -m pip install --quiet --disable-pip-version-check $(WHEEL)

.PHONY: test
test: test-rust test-python ## set up everything and run all tests

.PHONY: test-rust
test-rust: need-rust ## Rust tests
	cargo test --workspace --locked --quiet

.PHONY: test-python
test-python: build ## Python tests, including the examples of the documentation, on all cores
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

.PHONY: system
system: build ## long tests: killed workers and clients, overhead of sweeps, estimates of memory, runs stopped late, a tuning of a 32-host tree
	$(BIN)/python tests/system/kill_sweep.py
	$(BIN)/python tests/system/two_checkouts.py
	$(BIN)/python tests/system/overhead.py
	$(BIN)/python tests/system/memory_draws.py
	$(BIN)/python tests/system/stop_late.py
	$(BIN)/python tests/system/tune_tree.py
	$(BIN)/python tests/system/first_picture.py

.PHONY: nightly
nightly: claims fuzz system ## tests that take hours: all claims, long fuzzing, long tests; `make -k` runs all three

.PHONY: claims
claims: build ## run all claims of all papers and compare the verdicts with those of docs/reproductions
	rm -rf target/nightly
	@mkdir -p target/nightly
	$(BIN)/python tools/reproductions.py target/nightly
	$(BIN)/python tools/verdicts.py target/nightly

.PHONY: claims-cheap
claims-cheap: build ## the same for experiments of two seconds or less: about a minute
	rm -rf target/cheap
	@mkdir -p target/cheap
	$(BIN)/python tools/reproductions.py target/cheap --cost 2
	$(BIN)/python tools/verdicts.py target/cheap --part

.PHONY: planted
planted: build ## plant wrong mechanisms into the papers' scenes and list the claims that detect each
	$(BIN)/python tools/planted.py

FUZZ_SECONDS ?= 600

.PHONY: fuzz
fuzz: build need-rust ## malformed input for every reader and random fabrics, FUZZ_SECONDS (600) each
	PROPTEST_CASES=$$(($(FUZZ_SECONDS) * 500)) cargo test --release --locked --quiet -p becalm-fabric --test integration -- \
		nothing_is_lost trees_never_deadlock
	PROPTEST_CASES=$$(($(FUZZ_SECONDS) * 5)) cargo test --release --locked --quiet -p becalm-fabric --test integration -- \
		threads_change_nothing
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --locked --quiet -p becalm-scenario --test fuzz -- --nocapture --test-threads 1
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest tests/fuzz
	SCENES=300 DAMAGE=1 $(BIN)/python -m pytest tests/test_valid_scenes.py tests/test_damage.py
	MEANING=20 MEANING_SEED=$$(date +%s) $(BIN)/python -m pytest tests/meaning

.PHONY: mutations
mutations: build ## change constants of the advice in a copy and check that a test fails for each: a minute or two
	$(BIN)/python tools/mutations.py

.PHONY: meaning-planted
meaning-planted: build need-rust ## put old defects back into a copy of the core and check that `make meaning` finds each: ten minutes each
	$(BIN)/python tools/planted_meaning.py

.PHONY: meaning
meaning: build ## relations between scenarios that mean the same, and between tables, on random scenes: two minutes
	$(BIN)/python -m pytest tests/meaning

.PHONY: lint
lint: lint-rust lint-python ## formatting, clippy, ruff, imports, mypy, and stubs against the compiled module

.PHONY: lint-rust
lint-rust: need-rust ## rustfmt, clippy and rustdoc
	cargo fmt --all --check
	rustfmt --check $(LISTED)
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(RUSTDOC)

.PHONY: lint-python
lint-python: build ## ruff, import-linter, mypy and stubtest
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest becalm._core

.PHONY: format
format: $(VENV)/.done ## format everything
	cargo fmt --all
	rustfmt $(LISTED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: build
build: $(VENV)/.built ## virtual environment with an editable becalm

.PHONY: docs
docs: build ## write the generated pages: schemes, scenario keys, JSON Schema, result columns
	$(BIN)/python tools/generate.py

.PHONY: snapshots
snapshots: need-rust ## accept the messages and numbers of the core's snapshots; then look at `git diff`
	INSTA_UPDATE=always cargo test --locked --quiet -p becalm-scenario --test integration -- golden bad

.PHONY: advice
advice: build ## run the population bench of `becalm tune` and write the tables of docs/advice.md: half an hour
	$(BIN)/python tools/advice.py

.PHONY: gallery
gallery: build ## run the pages of the gallery and write their output, pictures and times
	$(BIN)/python tools/gallery.py

.PHONY: site
site: build need-rust ## build the documentation as a static site in target/site
	$(RUSTDOC)
	$(BIN)/python tools/site_build.py

.PHONY: site-check
site-check: site ## build the site, check its links, anchors and assets, and open it in a browser
	$(BIN)/python tools/site_check.py target/site
	BECALM_SITE=target/site $(BIN)/python -m pytest tests/report/test_built_site.py

.PHONY: api-check
api-check: build ## check that CHANGELOG.md names everything that breaks programs for the last release
	$(BIN)/python tools/public_api.py

.PHONY: api-write
api-write: build ## update the list of the public API: part of each release
	$(BIN)/python tools/public_api.py --write

.PHONY: release-check
release-check: build ## check that this version can be released: numbers, changelog, list of the public API
	$(BIN)/python tools/release.py check

.PHONY: reproduce
reproduce: build ## run all papers with several seeds and write their pages: about two hours of one core
	$(BIN)/python tools/reproductions.py docs/reproductions

.PHONY: compare
compare: build ## run every scheme, published and tuned, on every scene and write docs/comparison.md: 20 minutes
	$(BIN)/python tools/comparison_tune.py
	$(BIN)/becalm compare --json > docs/comparison.jsonl.new
	mv docs/comparison.jsonl.new docs/comparison.jsonl
	$(BIN)/python tools/comparison_tables.py
	$(BIN)/python tools/comparison_figure.py
	$(BIN)/python tools/comparison_objections.py

.PHONY: crosscheck
crosscheck: build ## compare becalm with other simulators and write docs/crosschecks.md
	$(BIN)/python tools/crosscheck/pages.py

.PHONY: hardware
hardware: build ## replay the core's calls on the modules of hardware/ with Verilator and synthesize them with Yosys: half an hour
	$(BIN)/python tools/hardware/replay.py
	$(BIN)/python tools/hardware/costs.py

.PHONY: hardware-check
hardware-check: build ## a short replay; compare the costs of the smallest modules with the committed ones
	$(BIN)/python tools/hardware/replay.py --short
	$(BIN)/python tools/hardware/costs.py --check

.PHONY: hardware-write
hardware-write: build ## the same as hardware; also write the tables of docs/hardware.md and the data of the papers' claims
	$(BIN)/python tools/hardware/replay.py --write
	$(BIN)/python tools/hardware/costs.py --write

.PHONY: pictures
pictures: build ## draw the pictures of the README and of the docs
	$(BIN)/python tools/pictures/victim.py
	$(BIN)/python tools/pictures/design.py
	$(BIN)/python tools/pictures/fabric.py

.PHONY: web
web: web/node_modules/.done ## build the pages from web/: reports, and the playground with its current core
	cd web && npm run --silent check && npm run --silent build && node play.mjs

.PHONY: web-check
web-check: web/node_modules/.done build ## check that the committed pages are built from web/ and read what Python writes
	@mkdir -p target
	cd web && npm run --silent check && node build.mjs ../target/template.html
	cmp target/template.html python/becalm/reports/template.html
	cd web && node play.mjs ../python/becalm/reports/play.html ../target/play.html
	cmp target/play.html python/becalm/reports/play.html
	cd web && PYTHON=$(CURDIR)/$(BIN)/python npm run --silent test

CORE := target/wasm32-unknown-unknown/web/becalm_wasm.wasm

.PHONY: playground
playground: build $(CORE) web/node_modules/.done ## build the playground, python/becalm/reports/play.html, with a new core
	cd web && npm run --silent check && PYTHON=$(CURDIR)/$(BIN)/python node play.mjs ../$(CORE)

.PHONY: same
same: build web/node_modules/.done ## check that the committed playground has the fingerprints of this becalm
	cd web && PYTHON=../$(BIN)/python node test/same.mjs ../python/becalm/reports/play.html ../scenarios/*.toml scenes/*.toml

.PHONY: same-core
same-core: build $(CORE) web/node_modules/.done ## the same for a newly compiled core
	cd web && PYTHON=../$(BIN)/python node test/same.mjs ../$(CORE) ../scenarios/*.toml scenes/*.toml

.PHONY: wasm-check
wasm-check: need-wasm ## check that the core compiles to WebAssembly, without clocks, threads and files
	cargo check --target wasm32-unknown-unknown --locked --quiet -p becalm-scenario -p becalm-report

$(CORE): $(RUST) | need-wasm
	cargo build --profile web --target wasm32-unknown-unknown --locked --quiet -p becalm-wasm
	@touch $@

web/node_modules/.done: web/package.json web/package-lock.json | need-node
	cd web && npm ci --silent --no-audit --no-fund
	@touch $@

.PHONY: bench
bench: need-rust ## packet-hops per core-second on fixed scenarios
	cargo run --release --locked --quiet -p becalm-bench

.PHONY: bench-docs
bench-docs: build ## measure all scenarios, two runs each, and add this version to docs/performance.md
	cargo run --release --locked --quiet -p becalm-bench -- --all --runs 2 --json > target/performance.jsonl
	$(BIN)/python tools/bench_table.py target/performance.jsonl

.PHONY: guard
guard: need-rust need-valgrind ## compare instructions per packet-hop with the committed ones; fail at growth above 5%
	cargo run --release --locked --quiet -p becalm-bench -- --guard crates/bench/guard.json

.PHONY: guard-write
guard-write: need-rust need-valgrind ## update the committed instructions per packet-hop
	cargo run --release --locked --quiet -p becalm-bench -- --guard crates/bench/guard.json --write

.PHONY: wheel
wheel: $(PACKAGING)/.done need-rust ## a wheel in target/wheels; TARGET=aarch64-unknown-linux-gnu for another machine
	PATH="$(CURDIR)/$(PACKAGING)/bin:$$PATH" maturin build --release --locked \
	    $(if $(findstring apple,$(TARGET)),--zig,$(PORTABLE)) $(addprefix --target ,$(TARGET))

.PHONY: same-wheel
same-wheel: need-python need-rust ## build the committed sources in two folders, and compare the wheels: 12 minutes
	rm -rf target/same
	for folder in target/same/one target/same/other/folder; do \
	    git clone --quiet . $$folder && env -u RUSTFLAGS $(MAKE) -C $$folder wheel || exit; done
	cmp target/same/one/target/wheels/*.whl target/same/other/folder/target/wheels/*.whl

.PHONY: packages
packages: $(PACKAGING)/.done need-rust need-cc ## build source distribution and wheel, and run both in clean environments
	PATH="$(CURDIR)/$(PACKAGING)/bin:$$PATH" .ci/packages $(PYTHON) maturin $(PORTABLE)

.PHONY: licences
licences: need-rust ## check the licences of all crates and that NOTICES is current
	$(PYTHON) .ci/licences
	$(PYTHON) .ci/notices --check

.PHONY: sbom
sbom: need-rust ## write the bill of materials of a wheel, target/becalm.cdx.json
	@mkdir -p target
	$(PYTHON) .ci/sbom target/becalm.cdx.json

.PHONY: audit
audit: need-rust need-python ## compare the locked dependencies with advisory databases; skipped without a network
	.ci/audit $(PYTHON)

.PHONY: notices
notices: need-rust ## write NOTICES: the licence texts of all code in wheels
	$(PYTHON) .ci/notices

.PHONY: lock
lock: need-python ## update requirements.lock: versions with hashes for every Python and platform
	$(PYTHON) -m venv target/lock
	target/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	target/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --all-extras \
		--no-annotate --custom-compile-command 'make lock' pyproject.toml --output-file requirements.lock

.PHONY: clean
clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) target python/becalm/*.so

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# What compiling needs is looked for first: the environment takes a minute.
$(VENV)/.done: requirements.lock | need-python need-rust need-cc
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		-r requirements.lock
	@touch $@

$(PACKAGING)/.done: | need-python
	$(PYTHON) -m venv $(PACKAGING)
	$(PACKAGING)/bin/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2' ziglang
	@touch $@

$(VENV)/.built: $(VENV)/.done pyproject.toml $(RUST) | need-rust need-cc
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

.PHONY: need-python need-rust need-cc need-valgrind need-node need-wasm
need-python:
	@[ -n "$(PYTHON)" ] || { echo 'becalm needs Python 3.11 or newer: https://www.python.org/downloads/' >&2; exit 1; }

need-rust:
	@command -v cargo >/dev/null && rustc --version | awk '{ split($$2, v, "."); exit v[1] == 1 && v[2] < $(RUST_MINOR) }' || \
		{ echo 'becalm needs Rust 1.$(RUST_MINOR) or newer: https://rustup.rs' >&2; exit 1; }

need-cc:
	@command -v cc >/dev/null || { echo 'becalm needs a C compiler, such as gcc (Debian: apt install gcc)' >&2; exit 1; }

need-node:
	@command -v npm >/dev/null || { echo 'the page is built with Node 20 or newer: https://nodejs.org' >&2; exit 1; }

need-wasm: need-rust
	@rustc --print target-libdir --target wasm32-unknown-unknown | xargs test -d || \
		rustup target add wasm32-unknown-unknown || \
		{ echo 'the playground needs the target wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown' >&2; exit 1; }

need-valgrind:
	@command -v valgrind >/dev/null || { echo 'the guard counts with valgrind (Debian: apt install valgrind)' >&2; exit 1; }
