# SPDX-License-Identifier: Apache-2.0
# What is built for boards: CMake does it, as is the custom among users of FreeRTOS, and knows what
# it depends on.

# The middleware is compiled alike in many folders: for the suite, for an application, for measuring.
export CMAKE_C_COMPILER_LAUNCHER := $(shell command -v ccache)
export CCACHE_DIR := $(abspath $(BUILD))/ccache
export CCACHE_NOHASHDIR := 1
# Also for a board of the same processor: headers of each board's folder have names relative to it.
export CCACHE_BASEDIR := $(CURDIR)

# What the counts of the conformance suite are multiplied by on a board.
BOARD_SCALE ?= 0.2

IMAGES_virt_a64 := conform ordinary
IMAGES_vexpress_a9 := conform ordinary fault_injection fault_injection_heap fault_injection_overrun fault_injection_stack
IMAGES_realview_pbx_a9 := conform
IMAGES_sabrelite := conform
IMAGES_rv32_soc := conform

# The folder, and its lock, are those of `whimbrel run --board`, which names an application. A variant
# of a board has one of its own, and the settings of board.toml.
BOARD_CONFORM := $(patsubst %,$(BUILD)/boards/%/conform,vexpress_a9 realview_pbx_a9 sabrelite virt_a64 rv32_soc rv32_soc_hardware)
SOURCE_rv32_soc_hardware := rv32_soc
IMAGES_rv32_soc_hardware := conform
SETTINGS_rv32_soc_hardware := -DWHIMBREL_SCHEDULER=hardware
.PHONY: $(BOARD_CONFORM)
$(BOARD_CONFORM): $(BUILD)/boards/%/conform:
	@mkdir -p $(@D)
	+@flock $(@D)/lock sh -c 'cmake -S boards/$(or $(SOURCE_$*),$*) -B $(@D) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DCMAKE_RULE_MESSAGES=OFF $(SETTINGS_$*) -DCONFORM_SCALE=$(BOARD_SCALE) -DWHIMBREL_APP_NAME= >/dev/null && \
		cmake --build $(@D) --target $(IMAGES_$*)'

# A guest's program, of a system that tests/mixed lays out.
MIXED := $(BUILD)/boards/virt_a64_guest
.PHONY: $(MIXED)/exchange.elf
$(MIXED)/exchange.elf:
	@mkdir -p $(@D)
	+@flock $(@D)/lock sh -c 'cmake -S boards/virt_a64 -B $(@D) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_RULE_MESSAGES=OFF \
		-DWHIMBREL_GUEST=ON -DWHIMBREL_APP_NAME=exchange -DWHIMBREL_APP_TABLES=$(abspath tests/mixed/exchange_plan.c) \
		-DWHIMBREL_APP_SOURCES=$(abspath tests/mixed/exchange.c) -DWHIMBREL_APP_OPTIONS=-O2 >/dev/null && \
		cmake --build $(@D) --target image'

# What Whimbrel adds to an image of FreeRTOS.
.PHONY: size-freertos
size-freertos:
	@cmake -S kernels/freertos/size -B $(BUILD)/freertos_size -DCMAKE_RULE_MESSAGES=OFF >/dev/null
	+@cmake --build $(BUILD)/freertos_size >/dev/null 2>&1
	@python3 tools/freertos_size.py $(BUILD)/freertos_size
