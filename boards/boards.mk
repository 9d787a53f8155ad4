# SPDX-License-Identifier: Apache-2.0
# What is built for boards: CMake does it, as is the custom among users of FreeRTOS, and knows what
# it depends on.

# What the counts of the conformance suite are multiplied by on a board.
BOARD_SCALE ?= 0.3

BOARD_IMAGES := conform trials trials_heap trials_stack

.PHONY: $(BUILD)/vexpress_a9/conform
$(BUILD)/vexpress_a9/conform:
	@cmake -S boards/vexpress_a9 -B $(@D) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_RULE_MESSAGES=OFF -DCONFORM_SCALE=$(BOARD_SCALE) >/dev/null
	+@cmake --build $(@D) --target $(BOARD_IMAGES)
