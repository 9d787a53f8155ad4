# SPDX-License-Identifier: Apache-2.0
# Coverage-guided fuzzing of whatever reads what others wrote (tests/fuzz/README.md).
#
#   make fuzz [TIME=SECONDS] [TARGETS='dot sip'] [FUZZ_BUILD=fast]

FUZZ_C := avi client commands guests link module pcap plan qoi rtp sdp sigmf sip wav
FUZZ_RUST := amalthea app board client-rust control dot explore graphml lines link-rust perfetto platform recorded rtapp saved sdf3 table tgff
# `checked`: under AddressSanitizer and UBSan. `fast`: without, for many executions.
FUZZ_BUILD ?= checked
FUZZ := $(BUILD)/fuzz/$(FUZZ_BUILD)
FUZZ_CC := clang-14
FUZZ_CHECKS_checked := -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_CHECKS_fast := -O2 -fsanitize=fuzzer
FUZZ_FLAGS := -g1 -fno-omit-frame-pointer $(FUZZ_CHECKS_$(FUZZ_BUILD))
FUZZ_INCLUDE := $(INCLUDE) -Iapps -Iapps/video/jpeg -Ikernels/freertos/loader -Ikernels/freertos/loader/test -Ilauncher/board -Itests/fuzz/c

FUZZ_PHONE_C := tests/fuzz/c/phone.c $(patsubst %,apps/voip/%.c,body codec codec_g711 codec_opus g711 media pcap playout resample sdes)
FUZZ_SIP_C := $(patsubst %,apps/voip/%.c,address outcome register requests server transport turn user_agent)
FUZZ_PHONE_LIBS = $(shell pkg-config --libs libre openssl opus)

# A kernel by hand.
FUZZ_STUB_C := kernels/template/trivial.c middleware/test/build.c middleware/test/kernel_stub.c tests/fuzz/c/kernel.c

fuzz_parts_avi := apps/video/avi.c apps/video/kinds.c apps/video/picture.c apps/video/planes.c apps/video/jpeg/memory.c
fuzz_parts_client := clients/c/client.c
fuzz_parts_commands = $(fuzz_parts_plan)
fuzz_parts_guests = $(MIDDLEWARE_C) $(FUZZ_STUB_C)
fuzz_parts_link := launcher/board/link.c
fuzz_parts_module := $(filter-out kernels/freertos/loader/test/test_%,$(filter-out middleware/%,$(LOADER_C)))
fuzz_parts_pcap := apps/packets/capture.c apps/packets/link.c apps/packets/rules.c apps/packets/rules_read.c
fuzz_parts_plan := $(PLAN_TEST_C) $(MIDDLEWARE_C) $(FUZZ_STUB_C)
fuzz_parts_qoi := apps/image_filter/qoi.c
fuzz_parts_rtp := $(FUZZ_PHONE_C)
fuzz_parts_sdp := $(FUZZ_PHONE_C)
fuzz_parts_sigmf := apps/fm_radio/dsp/format.c apps/fm_radio/dsp/sigmf.c launcher/third_party/yyjson/yyjson.c
fuzz_parts_sip := $(FUZZ_PHONE_C) $(FUZZ_SIP_C)
fuzz_parts_wav := apps/common/wav.c
# What it waits for a moment is not waited for.
fuzz_libs_client := -lpthread -Wl,--wrap=poll
fuzz_libs_rtp = $(FUZZ_PHONE_LIBS)
fuzz_libs_sdp = $(FUZZ_PHONE_LIBS)
fuzz_libs_sip = $(FUZZ_PHONE_LIBS)
# Only where something is fuzzed is asked where libjpeg lies, once.
FUZZ_JPEG = $(eval FUZZ_JPEG := $$(shell apps/video/jpeg/find.sh))$(FUZZ_JPEG)
fuzz_jpeg = $(patsubst %,$(FUZZ)/jpeg/%.o,$(shell cat apps/video/jpeg/files.txt))
fuzz_objects_avi = $(fuzz_jpeg)

fuzz_objects = $(patsubst %.c,$(FUZZ)/c/%.o,tests/fuzz/c/$(1).c $(fuzz_parts_$(1))) $(fuzz_objects_$(1))

define fuzz_target
$(FUZZ)/$(1): $(call fuzz_objects,$(1))
	@echo 'LD $$@'
	@$(FUZZ_CC) $(FUZZ_FLAGS) -o $$@ $$^ $$(fuzz_libs_$(1)) -lm
endef
$(foreach t,$(FUZZ_C),$(eval $(call fuzz_target,$(t))))

$(FUZZ)/c/%.o: %.c tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	@echo 'CC fuzz $<'
	@$(FUZZ_CC) -std=gnu11 -w $(FUZZ_FLAGS) $(FUZZ_INCLUDE) $(FUZZ_SYSTEM) -MMD -MP -c -o $@ $<

$(FUZZ)/c/apps/video/picture.o $(FUZZ)/c/apps/video/jpeg/memory.o $(FUZZ)/c/tests/fuzz/c/avi.o: FUZZ_SYSTEM = -isystem $(FUZZ_JPEG)
$(patsubst %.c,$(FUZZ)/c/%.o,$(FUZZ_PHONE_C) $(patsubst %,tests/fuzz/c/%.c,rtp sdp sip) $(FUZZ_SIP_C)): FUZZ_SYSTEM = $(VOIP_INCLUDE)

# yyjson demands that its accessors are inlined, hundreds of times: a compiler takes four times as long for
# their checks, and minutes with each of their steps checked.
$(FUZZ)/c/launcher/third_party/%.o: FUZZ_FLAGS += -fno-sanitize=undefined -Dyyjson_inline=__inline__

# libjpeg shifts as it likes, so that only its addresses are watched.
$(FUZZ)/jpeg/%.o: tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	@$(FUZZ_CC) -w $(FUZZ_FLAGS) -fno-sanitize=undefined -Iapps/video/jpeg -c -o $@ $(FUZZ_JPEG)/$*.c

# ---- Rust ---------------------------------------------------------------------------------------

# The targets are one program, which asks by what name it was started.
# What cargo-fuzz asks LLVM for, of the stable compiler. All crates are compiled with it once more, which
# `make test` leaves out: a test of the crate takes the corpora there.
FUZZ_RUSTFLAGS := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=4
FUZZ_HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# With a target named, macros and build scripts are compiled without the flags. Nothing in it depends
# on FUZZ_BUILD.
FUZZ_CARGO := $(BUILD)/fuzz/cargo

.PHONY: fuzz-rust fuzz-built
fuzz-rust: cargo-is-there
	export RUSTFLAGS='$(FUZZ_RUSTFLAGS)' FUZZ_RUNTIME=$$($(FUZZ_CC) -print-file-name=libclang_rt.fuzzer-$(ARCH).a); \
		$(CARGO) build --locked --profile fuzz --package whimbrel-fuzz --features libfuzzer --target $(FUZZ_HOST) --target-dir ../$(FUZZ_CARGO)
	@for target in $(FUZZ_RUST); do ln -sf whimbrel-fuzz $(FUZZ_CARGO)/$(FUZZ_HOST)/fuzz/$$target; done

FUZZ_PROGRAMS = $(FUZZ_C:%=$(FUZZ)/%) $(FUZZ_RUST:%=$(FUZZ_CARGO)/$(FUZZ_HOST)/fuzz/%)
TARGETS ?= $(FUZZ_C) $(FUZZ_RUST)
TIME ?= 60

fuzz-built: $(FUZZ_C:%=$(FUZZ)/%)

fuzz: fuzz-built fuzz-rust  ## fuzz whatever reads what others wrote: TIME=SECONDS of each of TARGETS
	python3 tests/fuzz/run.py --seconds $(TIME) --work $(BUILD)/fuzz/found \
		$(foreach t,$(TARGETS),$(filter %/$(t),$(FUZZ_PROGRAMS)))

test-fuzz: fuzz-built
	python3 tests/fuzz/run.py --seconds 4 --work $(BUILD)/fuzz/found $(FUZZ_C:%=$(FUZZ)/%)
