# SPDX-License-Identifier: Apache-2.0
# The middleware for boards: compiled as a user of FreeRTOS would, without a C library, and linked
# four times with the parts that each link names (wb/system.h). The kernel is not counted, nor are
# memcpy and memset; the compiler's own library (libgcc) is.

BOARDS := arm rv32
BOARD_arm := arm-none-eabi-
BOARD_rv32 := riscv64-unknown-elf-
FLAGS_arm := -mcpu=cortex-a9 -mthumb
FLAGS_rv32 := -march=rv32imc -mabi=ilp32
BOARD_FLAGS := -Os -ffreestanding -ffunction-sections -fdata-sections

# What a link is asked for: what the launcher, the kernel, and tasks call.
CALLED := wb_system_bytes wb_system_init wb_task_add wb_channel_add wb_port_add wb_system_start \
	wb_task_main wb_task_resumed wb_task_paused wb_task_departed wb_checkpoint_wanted wb_agent_serve \
	wb_port_send wb_port_receive wb_checkpoint_enter wb_migration_request
CALLED_hand_off := $(CALLED)
CALLED_agents := $(CALLED) wb_agent_tick wb_system_set_policy wb_policy_balance
CALLED_deaths := $(CALLED) wb_core_died wb_system_sweep wb_mutex_lock wb_mutex_unlock wb_lock wb_unlock \
	wb_semaphore_init wb_semaphore_take wb_semaphore_give
LINKS := hand_off agents deaths everything

board_objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(filter-out middleware/src/parts.c,$(MIDDLEWARE_C)))
board_links = $(LINKS:%=$(BUILD)/$(1)/%.elf)

define board
$$(BUILD)/$(1)/%.o: %.c middleware/size.mk tools/c.mk
	@mkdir -p $$(@D)
	@$$(BOARD_$(1))gcc $$(WARN) $$(FLAGS_$(1)) $$(BOARD_FLAGS) -Imiddleware/include -MMD -MP -c -o $$@ $$<

$$(BUILD)/$(1)/everything.elf: $$(call board_objects,$(1)) $$(BUILD)/$(1)/middleware/src/parts.o
	@$$(BOARD_$(1))gcc $$(FLAGS_$(1)) -nostdlib -Wl,--unresolved-symbols=ignore-all -Wl,-e,0 -o $$@ $$^ -lgcc

$$(BUILD)/$(1)/%.elf: $$(BUILD)/$(1)/middleware/links/%.o $$(call board_objects,$(1))
	@$$(BOARD_$(1))gcc $$(FLAGS_$(1)) -nostdlib -Wl,--gc-sections -Wl,--unresolved-symbols=ignore-all -Wl,-e,0 \
		$$(CALLED_$$*:%=-Wl,-u,%) -o $$@ $$^ -lgcc
endef

$(foreach b,$(BOARDS),$(eval $(call board,$(b))))

.PHONY: size-boards lint-boards
size-boards: $(foreach b,$(BOARDS),$(call board_links,$(b)))
	@echo 'text of the middleware in bytes, $(BOARD_FLAGS); arm: $(FLAGS_arm); rv32: $(FLAGS_rv32)'
	@python3 tools/c_links.py $(BUILD) '$(BOARD_arm)' '$(BOARD_rv32)' $(LINKS)

# No circle of files: who calls whom is read from the objects.
lint-boards: $(foreach b,$(BOARDS),$(call board_objects,$(b))) $(BUILD)/arm/hand_off.elf
	@python3 tools/c_circles.py '$(BOARD_arm)nm' $(call board_objects,arm)
	@python3 tools/c_atomics.py
