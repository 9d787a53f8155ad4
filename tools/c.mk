# SPDX-License-Identifier: Apache-2.0
# The C side: the middleware, the Linux kernels and their tests, in several variants.
#
#   $(BUILD)/VARIANT/…   VARIANT: release, asan, tsan, aarch64

CC := gcc
QEMU := qemu-aarch64 -L /usr/aarch64-linux-gnu

WARN := -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
INCLUDE := -Imiddleware/include -Iclients/c -Ilauncher/plan -Ilauncher/api -Ikernels/linux/process -Ilauncher/protocol -isystem launcher/third_party/yyjson -Ikernels/linux -Ikernels/sim -Ikernels/sim/conform -Imiddleware/test -Ikernels/conform -Ibench/linux

# Each variant is for this machine but one, which is run by an emulator elsewhere.
ARCH := $(shell uname -m)
CC_aarch64 := aarch64-linux-gnu-gcc
OBJCOPY_aarch64 := aarch64-linux-gnu-objcopy
ARCH_aarch64 := aarch64
ifeq ($(ARCH),aarch64)
CC_aarch64 := gcc
OBJCOPY_aarch64 := objcopy
QEMU :=
endif
# Debug information names files from the tree's root, wherever that is: two trees give the same bytes.
ANYWHERE := -ffile-prefix-map=$(CURDIR)=.
# Frame pointers: a profile or a debugger walks a task's stack without unwind tables.
# What costs no instruction that can be measured (docs/decisions/0072). Compilers of some systems fortify anyway.
HARDENING := -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
HARDENING_LINK := -Wl,-z,relro,-z,now
# Link-time optimisation: a message passes a dozen small functions of as many files. Fat objects, so
# that `make size` has something to measure.
FLAGS_release := -O3 -flto=auto -ffat-lto-objects -g $(ANYWHERE) -fno-omit-frame-pointer $(HARDENING)
# What runs in virtual time is as fast as its instructions are few: no frame pointers (there are
# unwind tables), fixed addresses, only what modules call is visible, so that the rest can be inlined
# for good, pointers are followed through the whole program, and no pairs of words go through vector
# registers.
FLAGS_sim = $(filter-out -fno-omit-frame-pointer -ffat-lto-objects,$(FLAGS_release)) -fomit-frame-pointer -fno-pie -no-pie \
	-fvisibility=hidden -fno-tree-slp-vectorize -fipa-pta -DWB_CONFIG='"sim_config.h"'
# The middleware of protocols under faults, in any variant: every access to a word is a moment.
WORDS := -DWB_CONFIG='"sim_config.h"' -include kernels/sim/conform/words.h
FLAGS_asan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# -Wno-tsan: it does not model fences. Ours order only "am I waiting" against "is there something";
# what is published is published by a release store, which it does model.
FLAGS_tsan := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread -Wno-tsan
FLAGS_aarch64 := -O1 -g1

MIDDLEWARE_C := $(wildcard middleware/src/*.c middleware/src/*/*.c middleware/src/*/*/*.c)
# What a helper of the command is made of besides its kernels, and the kernels themselves.
CONFORM_C := $(filter-out %/checkpoint_cost.c %/launcher.c %/processes.c,$(wildcard kernels/conform/*.c))
# yyjson is another project's: it is built as it came, without our warnings.
HELPER_C := $(wildcard launcher/protocol/*.c launcher/plan/*.c) launcher/third_party/yyjson/yyjson.c
PLAN_TEST_C := $(wildcard launcher/plan/*.c) $(addprefix launcher/protocol/,lines.c object.c parse.c) launcher/third_party/yyjson/yyjson.c
PROCESS_C := $(wildcard launcher/api/*.c kernels/linux/process/*.c)
LINUX_C := $(PROCESS_C) $(filter-out kernels/linux/main.c,$(wildcard kernels/linux/*.c))
SIM_MAIN_C := kernels/sim/main.c kernels/sim/asked.c kernels/sim/islands.c
SIM_C := $(PROCESS_C) $(filter-out $(SIM_MAIN_C),$(wildcard kernels/sim/*.c))
FAULTS_C := $(wildcard kernels/sim/conform/*.c) kernels/conform/launcher.c kernels/conform/processes.c kernels/conform/scripted.c kernels/conform/suite.c
ENGINE := $(TARGET)/release/libwhimbrel_engine.a
ENGINE_aarch64 := $(TARGET)/aarch64-unknown-linux-gnu/release/libwhimbrel_engine.a
UNIT_TESTS := $(notdir $(basename $(wildcard middleware/test/test_*.c)))
THREAD_TESTS := $(filter test_counter test_threads_%,$(UNIT_TESTS))
LINUX_TESTS := $(notdir $(basename $(wildcard launcher/protocol/test/test_*.c kernels/linux/test/test_*.c)))
LOADER_TESTS := $(notdir $(basename $(wildcard kernels/freertos/loader/test/test_*.c)))
LOADER_C := $(wildcard kernels/freertos/loader/*.c) $(filter-out kernels/freertos/loader/test/test_%,$(wildcard kernels/freertos/loader/test/*.c)) middleware/test/check.c
# Needs a board's compiler, which warns as much.
BOARD_C := boards/% launcher/board/% kernels/freertos/% kernels/riscv/% reproduce/nacul2007/rtl/% reproduce/acquaviva2008/soc/% rtl/soc/programs/% examples/freertos/%
# These include the headers of other libraries, one fetched, the others installed.
JPEG_C := apps/video/picture.c apps/video/jpeg/memory.c
FFMPEG_C := apps/video/source_ffmpeg.c
VOIP_C := $(patsubst %,apps/voip/%.c,address bridge canceller codec_g722 codec_opus media outcome pcap \
	phone register requests sdes server server_setup setup test/fuzz transport turn user_agent)
VOIP_INCLUDE = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags libre opus speexdsp alsa))
C_FILES := $(filter-out launcher/third_party/%,$(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.cc' '*.hpp' 2>/dev/null))

# What a variant is made with, and for.
cc = $(or $(CC_$(1)),$(CC))
objcopy = $(or $(OBJCOPY_$(1)),objcopy)
arch = $(or $(ARCH_$(1)),$(ARCH))
engine = $(or $(ENGINE_$(1)),$(ENGINE))

# Link-time optimisation is for what ships: a test of a part, or of protocols, is linked without. But
# for the suite on kernels as whimbrel-sim has them, with what only these do (WB_KERNEL_WAKES).
test_flags = $(if $(filter -ffat-lto-objects,$(FLAGS_$(1))),$(filter-out -flto=auto,$(FLAGS_$(1))) -fno-lto,$(FLAGS_$(1)))

# Without counters of two halves, which no counter here is.
words_objects = $(patsubst %,$(BUILD)/$(1)/words/%.o,$(basename $(filter-out middleware/src/word/counter.c,$(MIDDLEWARE_C))))
# What others have written is compiled once per processor.
objects = $(patsubst $(BUILD)/$(1)/launcher/third_party/%,$(BUILD)/$(or $(filter aarch64,$(1)),release)/launcher/third_party/%,\
	$(patsubst %,$(BUILD)/$(1)/%.o,$(basename $(2))))
linux_objects = $(call objects,$(1),$(MIDDLEWARE_C) $(LINUX_C) kernels/linux/process/arch/$(call arch,$(1))/context.S) $(BUILD)/$(1)/layout.o
sim_kernel_objects = $(call objects,$(1),$(SIM_C) kernels/linux/process/arch/$(call arch,$(1))/context.S)
sim_objects = $(call objects,$(1),$(MIDDLEWARE_C)) $(call sim_kernel_objects,$(1))
# A unit test names what it is linked with in its head: `// with: check.c kernel_stub.c`.
WITH := $(shell awk '$$2 == "with:" { for (i = 3; i <= NF; i++) print FILENAME ":" $$i }' middleware/test/test_*.c)
with = $(patsubst middleware/test/$(1).c:%,middleware/test/%,$(filter middleware/test/$(1).c:%,$(WITH)))

# The suite finds the functions of its tasks by name, in the program itself.
$(BUILD)/sim/kernels/conform/%.o: FLAGS_sim += -fvisibility=default
$(BUILD)/sim/recreated-sim.o: FLAGS_sim += -fvisibility=default

MIDDLEWARE_O := $(call objects,release,$(MIDDLEWARE_C))
LINUX_O := $(call objects,release,$(LINUX_C) $(HELPER_C) kernels/linux/main.c)

define variant
$$(BUILD)/$(1)/launcher/third_party/%.o: WARN := -std=c11 -w
$$(BUILD)/$(1)/launcher/third_party/%.o: FLAGS_$(1) := -O1 -g $(ANYWHERE) $(HARDENING)

$$(BUILD)/$(1)/%.o: %.c tools/c.mk
	@mkdir -p $$(@D)
	@echo 'CC $(1) $$<'
	@$$(call cc,$(1)) $$(WARN) $$(FLAGS_$(1)) $$(INCLUDE) -Ikernels/linux/process/arch/$$(call arch,$(1)) -MMD -MP -c -o $$@ $$<

$$(BUILD)/$(1)/words/%.o: %.c tools/c.mk
	@mkdir -p $$(@D)
	@echo 'CC $(1) $$< (words)'
	@$$(call cc,$(1)) $$(WARN) $$(call test_flags,$(1)) $$(WORDS) $$(INCLUDE) -MMD -MP -c -o $$@ $$<

$$(BUILD)/$(1)/layout.o: $$(BUILD)/obj/hosted/layout.c tools/c.mk
	@mkdir -p $$(@D)
	@$$(call cc,$(1)) $$(WARN) $$(FLAGS_$(1)) -c -o $$@ $$<

$$(BUILD)/$(1)/%.o: %.S tools/c.mk
	@mkdir -p $$(@D)
	@$$(call cc,$(1)) -c -o $$@ $$<

$$(BUILD)/$(1)/conform-linux: $$(call linux_objects,$(1)) $$(call objects,$(1),$$(CONFORM_C) kernels/conform/launcher.c kernels/conform/processes.c $$(wildcard kernels/linux/conform/*.c) middleware/test/check.c)
	@echo 'LD $$@'
	@$$(call cc,$(1)) $$(FLAGS_$(1)) -rdynamic -o $$@ $$^ -ldl -lpthread -lm

# The suite's recreated tasks, in the simulator's own process: as program.mk has it, only their calls
# of malloc and its kin go to the task's heap. No link-time optimisation: it would undo the renaming.
$$(BUILD)/$(1)/recreated-sim.o: kernels/conform/program/recreated.c kernels/linux/program/hooks.syms tools/c.mk
	@mkdir -p $$(@D)
	@echo 'CC $(1) $$<'
	@$$(call cc,$(1)) $$(WARN) $$(filter-out -flto=auto,$$(FLAGS_$(1))) -fPIC $$(INCLUDE) -MMD -MP -c -o $$@ $$<
	@$$(call objcopy,$(1)) --redefine-syms=kernels/linux/program/hooks.syms $$@

$$(BUILD)/$(1)/conform-sim: $$(call sim_objects,$(1)) $$(call objects,$(1),$$(CONFORM_C) kernels/conform/launcher.c kernels/conform/processes.c kernels/sim/conform/harness.c middleware/test/check.c) $$(BUILD)/$(1)/recreated-sim.o $$(call engine,$(1))
	@echo 'LD $$@'
	@$$(call cc,$(1)) $$(call test_flags,$(1)) -rdynamic -o $$@ $$^ -ldl -lpthread -lm

$$(BUILD)/$(1)/faults-sim: $$(call words_objects,$(1)) $$(call sim_kernel_objects,$(1)) $$(call objects,$(1),$$(FAULTS_C) middleware/test/check.c) $$(BUILD)/$(1)/recreated-sim.o $$(call engine,$(1))
	@echo 'LD $$@'
	@$$(call cc,$(1)) $$(call test_flags,$(1)) -rdynamic -Wl,--wrap=wb_checkpoint_wanted -o $$@ $$^ -ldl -lpthread -lm

$$(BUILD)/$(1)/test_link: $$(BUILD)/$(1)/launcher/protocol/test/test_link.o $$(call objects,$(1),launcher/board/link.c middleware/test/check.c)
	@$$(call cc,$(1)) $$(call test_flags,$(1)) -o $$@ $$^

$$(BUILD)/$(1)/test_deadlock: $$(call objects,$(1),launcher/protocol/deadlock.c)
$$(BUILD)/$(1)/test_emit: $$(call objects,$(1),$(addprefix launcher/protocol/,emit.c emit_power.c) launcher/third_party/yyjson/yyjson.c)
$$(BUILD)/$(1)/test_plan: $$(call objects,$(1),$(PLAN_TEST_C))
$$(BUILD)/$(1)/test_commands: $$(call objects,$(1),launcher/protocol/commands.c)
$$(BUILD)/$(1)/test_commands: WRAPPED := -Wl,--wrap=calloc
$$(BUILD)/$(1)/test_commands $$(BUILD)/$(1)/test_emit $$(BUILD)/$(1)/test_plan $$(BUILD)/$(1)/test_deadlock: $$(BUILD)/$(1)/%: $$(BUILD)/$(1)/launcher/protocol/test/%.o $$(call objects,$(1),$(MIDDLEWARE_C) kernels/template/trivial.c middleware/test/build.c middleware/test/kernel_stub.c middleware/test/check.c)
	@$$(call cc,$(1)) $$(call test_flags,$(1)) $$(WRAPPED) -o $$@ $$^

$$(BUILD)/$(1)/test_frequency $$(BUILD)/$(1)/test_sysfs $$(BUILD)/$(1)/test_program $$(BUILD)/$(1)/test_following $$(BUILD)/$(1)/test_guests $$(BUILD)/$(1)/test_restart $$(BUILD)/$(1)/test_polling: $$(BUILD)/$(1)/%: $$(BUILD)/$(1)/kernels/linux/test/%.o $$(call linux_objects,$(1)) $$(BUILD)/$(1)/middleware/test/check.o
	@$$(call cc,$(1)) $$(call test_flags,$(1)) -pie -rdynamic -o $$@ $$^ -ldl -lpthread

$$(LOADER_TESTS:%=$$(BUILD)/$(1)/%): $$(BUILD)/$(1)/%: $$(BUILD)/$(1)/kernels/freertos/loader/test/%.o $$(call objects,$(1),$$(LOADER_C))
	@$$(call cc,$(1)) $$(call test_flags,$(1)) -o $$@ $$^

$$(foreach t,$$(UNIT_TESTS),$$(eval $$(call unit_test,$(1),$$(t))))
endef

define unit_test
$(BUILD)/$(1)/$(2): $(call objects,$(1),$(MIDDLEWARE_C) kernels/template/trivial.c middleware/test/$(2).c $(call with,$(2)))
	@$$(call cc,$(1)) $$(call test_flags,$(1)) -o $$@ $$^ -lpthread -lm
endef

$(foreach v,release sim asan tsan aarch64,$(eval $(call variant,$(v))))

# What others have made, Python packages and Verilator, has files of that name as well.
-include $(shell find $(BUILD) \( -path '$(BUILD)/venv*' -o -path $(BUILD)/rtl -o -path $(BUILD)/portable \) -prune -o -name '*.d' -print 2>/dev/null)

# ---- Programs that tasks are recreated from ------------------------------------------------------

ROOT := .
include kernels/linux/program/program.mk

$(BUILD)/release/recreated.task: $(BUILD)/obj/recreated.o $(BUILD)/obj/processes.o $(HOSTED_O)
	$(call link_program)

# The task's own process knows nothing of the sanitizer.
$(BUILD)/asan/recreated.task: $(BUILD)/release/recreated.task
	@mkdir -p $(@D)
	@cp $< $@

$(BUILD)/obj/recreated.o $(BUILD)/obj/processes.o: $(BUILD)/obj/%.o: kernels/conform/program/%.c tools/c.mk
	@mkdir -p $(@D)
	@$(CC) $(WARN) -O2 -g $(ANYWHERE) -fno-pie $(INCLUDE) -MMD -MP -c -o $@ $<

$(BIN)/whimbrel-bench.task: $(BUILD)/obj/bench/linux/program/mover.o $(BUILD)/obj/bench/linux/carry.o $(HOSTED_O)
	$(call link_program)

$(BUILD)/obj/bench/%.o: bench/%.c tools/c.mk
	@mkdir -p $(@D)
	@$(CC) $(WARN) -O2 -g $(ANYWHERE) -fno-pie $(INCLUDE) -MMD -MP -c -o $@ $<

# ---- The middleware for boards --------------------------------------------------------------------

include middleware/size.mk

# ---- The helpers of the command -----------------------------------------------------------------

$(BIN)/whimbrel-linux: $(LINUX_O) $(call linux_objects,release)
	@mkdir -p $(@D)
	@echo 'LD $@'
	@$(CC) $(FLAGS_release) $(HARDENING_LINK) -rdynamic -o $@ $^ -ldl -lpthread

$(BIN)/whimbrel-sim: $(call objects,sim,$(HELPER_C) $(SIM_MAIN_C)) $(call sim_objects,sim) $(ENGINE)
	@mkdir -p $(@D)
	@echo 'LD $@'
	@$(CC) $(FLAGS_sim) $(HARDENING_LINK) -rdynamic -o $@ $^ -ldl -lpthread -lm

# For processes that attach to a run: of itself, with its texts of outcomes. Without intermediate code
# and debug information: they name the folder, and compilers of another version cannot read the former.
CLIENT := $(BUILD)/release/libwhimbrel-client.a
$(CLIENT): $(call objects,release,clients/c/client.c middleware/src/word/status.c)
	@echo 'AR $@'
	@rm -f $@
	@$(AR) rcsD $@ $^
	@strip --strip-debug --enable-deterministic-archives --remove-section='.gnu.lto_*' $@

# Cargo knows what it depends on.
.PHONY: always
always:
ifndef BUILT
$(ENGINE) $(ENGINE_aarch64): always
endif
$(ENGINE):
	$(CARGO_BUILD)
$(ENGINE_aarch64):
	$(CARGO) build --release --locked --package whimbrel-engine --target aarch64-unknown-linux-gnu

# The simulator of a second machine, with the module that it is compared by: a tree as the first's.
SECOND := $(BUILD)/second

$(SECOND)/bin/whimbrel-sim.aarch64: $(call objects,aarch64,$(HELPER_C) $(SIM_MAIN_C)) $(call sim_objects,aarch64) $(ENGINE_aarch64)
	@mkdir -p $(@D)
	@echo 'LD $@'
	@$(CC_aarch64) $(FLAGS_aarch64) -rdynamic -o $@ $^ -ldl -lpthread -lm

$(SECOND)/bin/whimbrel-sim: tools/c.mk
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec $(QEMU) "$$(dirname "$$0")/whimbrel-sim.aarch64"\n' > $@
	@chmod +x $@

$(SECOND)/build/apps/synthetic.so: apps/synthetic/synthetic.c tools/c.mk
	@mkdir -p $(@D)
	@$(CC_aarch64) -std=c11 $(MODULE_FLAGS) -o $@ $<

$(BIN)/whimbrel-bench: $(call linux_objects,release) $(call objects,release,$(wildcard bench/linux/*.c))
	@mkdir -p $(@D)
	@echo 'LD $@'
	@$(CC) $(FLAGS_release) $(HARDENING_LINK) -rdynamic -o $@ $^ -ldl -lpthread -lm

# What `make bench-check` counts the instructions of: kernels as they ship, and a module for every
# processor, as valgrind does not know all instructions of the newest.
$(BUILD)/release/counted: $(call linux_objects,release) $(call objects,release,bench/counts/counted.c bench/linux/system.c)
	@echo 'LD $@'
	@$(CC) $(FLAGS_release) $(HARDENING_LINK) -rdynamic -o $@ $^ -ldl -lpthread

$(BUILD)/counts/synthetic.so: apps/synthetic/synthetic.c tools/c.mk
	@mkdir -p $(@D)
	@$(CC) -std=c11 $(MODULE_FLAGS) -o $@ $<

# ---- Tests --------------------------------------------------------------------------------------

TEST_MODULES := $(patsubst crates/whimbrel/tests/apps/%,$(BUILD)/test-apps/%.so,$(basename $(wildcard crates/whimbrel/tests/apps/*.c*)))
# A stack frame larger than the guard must touch it: without this, an overflow may jump over it.
MODULE_FLAGS := -Wall -Wextra -Wpedantic -Werror -O2 -g $(ANYWHERE) -fPIC -fstack-clash-protection -shared -Imiddleware/include

.PHONY: test-modules template
test-modules: $(TEST_MODULES) $(BUILD)/test-apps/board_end

# The end of a board's line, for the tests of the command's end.
$(BUILD)/test-apps/board_end: crates/whimbrel/tests/board_end.c launcher/board/link.c launcher/board/link.h
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) -O2 -o $@ $(filter %.c,$^)

$(BUILD)/test-apps/%.so: crates/whimbrel/tests/apps/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(MODULE_FLAGS) -o $@ $<

$(BUILD)/test-apps/%.so: crates/whimbrel/tests/apps/%.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(MODULE_FLAGS) -o $@ $<

# The launcher's side of a guest, for tests/mixed.
$(BUILD)/release/mixed_launcher: $(call objects,release,$(MIDDLEWARE_C) kernels/template/trivial.c tests/mixed/kernel.c tests/mixed/launcher.c)
	@$(CC) $(call test_flags,release) -o $@ $^

template: $(call objects,release,$(wildcard kernels/template/*.c))

test-c: template $(UNIT_TESTS:%=$(BUILD)/release/%) $(LINUX_TESTS:%=$(BUILD)/release/%) $(LOADER_TESTS:%=$(BUILD)/release/%) $(BUILD)/release/conform-linux $(BUILD)/release/conform-sim $(BUILD)/sim/conform-sim $(BUILD)/release/faults-sim $(BUILD)/release/recreated.task $(BUILD)/release/checkpoint-cost
	@for t in $(UNIT_TESTS) $(LINUX_TESTS) $(LOADER_TESTS); do $(BUILD)/release/$$t || exit 1; done
	$(BUILD)/release/checkpoint-cost
	CONFORM_SCALE=0.2 $(BUILD)/release/conform-linux
	CONFORM_SCALE=0.5 $(BUILD)/release/conform-sim
	CONFORM_SCALE=0.1 $(BUILD)/sim/conform-sim
	CONFORM_PREEMPTS=1 CONFORM_SCALE=0.2 $(BUILD)/release/conform-sim
	CONFORM_PREEMPTS=7 CONFORM_SCALE=0.1 $(BUILD)/release/conform-sim
	CONFORM_FAIR=1 CONFORM_SCALE=0.1 $(BUILD)/release/conform-sim
	CONFORM_SCALE=0.04 $(BUILD)/release/faults-sim

$(BUILD)/release/checkpoint-cost: kernels/conform/checkpoint_cost.c tools/c.mk
	@mkdir -p $(@D)
	$(CC) $(WARN) -O3 -fPIC $(INCLUDE) -o $@ $<

# ThreadSanitizer has nothing to find in a test of one thread. Protocols under faults, and preemption
# without fair shares, are tried without sanitizers too (`make test-c`): with them by `make soak`.
test-sanitizers: $(UNIT_TESTS:%=$(BUILD)/asan/%) $(THREAD_TESTS:%=$(BUILD)/tsan/%) $(LINUX_TESTS:%=$(BUILD)/asan/%) $(LOADER_TESTS:%=$(BUILD)/asan/%) $(BUILD)/asan/conform-linux $(BUILD)/asan/conform-sim $(BUILD)/asan/recreated.task
	@for t in $(LINUX_TESTS) $(LOADER_TESTS) $(UNIT_TESTS); do $(BUILD)/asan/$$t || exit 1; done
	@for t in $(THREAD_TESTS); do TSAN_OPTIONS=halt_on_error=1 $(BUILD)/tsan/$$t || exit 1; done
	CONFORM_SCALE=0.03 $(BUILD)/asan/conform-linux
	CONFORM_SCALE=0.03 $(BUILD)/asan/conform-sim
	CONFORM_FAIR=1 CONFORM_PREEMPTS=7 CONFORM_SCALE=0.02 $(BUILD)/asan/conform-sim

# Kernels that do not preempt run the same suite for this machine (`make test-c`).
test-aarch64: build $(PYTHON) $(UNIT_TESTS:%=$(BUILD)/aarch64/%) $(BUILD)/aarch64/conform-linux $(BUILD)/aarch64/conform-sim $(addprefix $(SECOND)/,bin/whimbrel-sim.aarch64 bin/whimbrel-sim build/apps/synthetic.so)
	@for t in $(UNIT_TESTS); do $(QEMU) $(BUILD)/aarch64/$$t || exit 1; done
	CONFORM_NO_PROGRAMS=1 CONFORM_SCALE=0.02 $(QEMU) $(BUILD)/aarch64/conform-linux
	CONFORM_PREEMPTS=7 CONFORM_SCALE=0.02 $(QEMU) $(BUILD)/aarch64/conform-sim
	$(PYTHON) -m pytest --quiet tests/second_machine.py

# ---- Lint ---------------------------------------------------------------------------------------

# Each file once, until it or a header of it changes, or CI or ALL is set. gnu11: some use GNU's extensions.
LINTED_C := $(filter-out $(BOARD_C),$(filter %.c,$(C_FILES))) $(wildcard kernels/freertos/loader/*.c kernels/freertos/loader/test/*.c)
LINT_FLAGS := $(INCLUDE) -Iapps -Ikernels/linux/process/arch/$(ARCH)
linted = $(patsubst %.c,$(BUILD)/lint/%.ok,$(1))
$(call linted,$(JPEG_C)): LINT_FLAGS = -Iapps/video/jpeg -isystem $$(apps/video/jpeg/find.sh)
$(call linted,$(VOIP_C)): LINT_FLAGS = $(INCLUDE) -Iapps $(VOIP_INCLUDE)
$(BUILD)/lint/tests/fuzz/%.ok: LINT_FLAGS = $(FUZZ_INCLUDE) $(VOIP_INCLUDE) -isystem $$(apps/video/jpeg/find.sh)

$(BUILD)/lint/%.ok: %.c tools/c.mk $(if $(CI)$(ALL),always)
	@mkdir -p $(@D)
	@$(CC) $(WARN) -std=gnu11 -O2 -fsyntax-only -MMD -MP -MF $(@:.ok=.d) -MT $@ $(LINT_FLAGS) $<
	@touch $@

lint-c: lint-boards $(call linted,$(filter-out $(FFMPEG_C),$(LINTED_C)))
	@clang-format --dry-run -Werror $(C_FILES)
