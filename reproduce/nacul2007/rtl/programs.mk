# SPDX-License-Identifier: Apache-2.0
# Programs that measure the SoC: the same sources over the HW-RTOS and over FreeRTOS.

NACUL := reproduce/nacul2007/rtl
NACUL_BUILD := $(BUILD)/rtl/nacul2007
NACUL_CC = $(RISCV_CC) -O2 -std=gnu11 -Wall -Wextra -Werror -nostartfiles -Wl,--no-warn-rwx-segments -Irtl/soc \
	-Irtl/soc/programs -Irtl/lock_unit -Irtl/hw_rtos -I$(NACUL) -T rtl/soc/programs/link.ld
NACUL_MEMORY := boards/rv32_soc/memory.c
NACUL_SOC := rtl/soc/programs/start.S rtl/soc/programs/soc.c $(NACUL_MEMORY) -fno-tree-loop-distribute-patterns
FREERTOS := $(BUILD)/rtl/freertos
FREERTOS_PORT := $(FREERTOS)/portable/GCC/RISC-V

NACUL_HW_RTOS := -I$(NACUL)/hw_rtos $(NACUL)/hw_rtos/os.c $(NACUL)/hw_rtos/switch.S $(NACUL_SOC)
# With FreeRTOS's own header of the chip, and its handler behind every vector.
NACUL_FREERTOS := -I$(NACUL)/freertos -isystem $(FREERTOS)/include -isystem $(FREERTOS_PORT) \
	-isystem $(FREERTOS_PORT)/chip_specific_extensions/RISCV_MTIME_CLINT_no_extensions -Wno-int-to-pointer-cast \
	-Wl,--defsym=trap=freertos_risc_v_trap_handler $(NACUL)/freertos/os.c \
	$(addprefix $(FREERTOS)/,list.c queue.c tasks.c portable/MemMang/heap_1.c) \
	$(FREERTOS_PORT)/port.c $(FREERTOS_PORT)/portASM.S $(NACUL_SOC)

$(FREERTOS): kernels/freertos/source/Cargo.lock kernels/freertos/find.cmake $(NACUL)/freertos/find.cmake
	@mkdir -p $(@D)
	cmake -DLINK=$(abspath $@) -P $(NACUL)/freertos/find.cmake

NACUL_FILES := $(wildcard $(NACUL)/*.[ch] $(NACUL)/*/*.[chS] rtl/soc/programs/* rtl/soc/*.h rtl/*/*_regs.h) $(NACUL_MEMORY) $(NACUL)/programs.mk

# How a task waits: by a call of C, inside of its function, or in FreeRTOS.
$(NACUL_BUILD)/switch_%.elf: $(NACUL_FILES) | $(FREERTOS)
	@mkdir -p $(@D)
	$(NACUL_CC) -o $@ $(NACUL)/switch.c $(SWITCH_$*)

SWITCH_freertos := $(NACUL_FREERTOS)
SWITCH_call := $(NACUL_HW_RTOS)
SWITCH_here := $(NACUL_HW_RTOS) -DRECEIVE=rtos_receive_here
SWITCH_call_stages := $(SWITCH_call) -DSTAMPS=3
SWITCH_here_stages := $(SWITCH_here) -DSTAMPS=3
NACUL_PROGRAMS := $(patsubst %,$(NACUL_BUILD)/switch_%.elf,freertos call here call_stages here_stages)

# The applications of apps/: their tasks unchanged, what app.toml says as tables.
NACUL_APP := -ffunction-sections -Wl,--gc-sections -I$(NACUL)/app -Iapps -Imiddleware/include $(NACUL)/app/ports.c \
	$(NACUL)/app/files.c $(NACUL)/app/launch.c apps/common/crc32.c apps/common/tasks.c
APP_image_filter := -Iapps/image_filter -DINPUT='"apps/image_filter/data/hopper.qoi"' $(wildcard apps/image_filter/*.c)
APP_packets := -Iapps/packets -DINPUT='"apps/packets/data/loopback.pcap"' $(wildcard apps/packets/*.c)
# What its operations take; it reads nothing.
APP_operations := -DINPUT='"apps/image_filter/data/hopper_small.qoi"'
APP_small := $(subst hopper,hopper_small,$(APP_image_filter))

OS_hw_rtos = $(NACUL_HW_RTOS)
OS_freertos = $(NACUL_FREERTOS)
NACUL_APPS := $(foreach app,image_filter packets small operations,$(foreach os,hw_rtos freertos,$(NACUL_BUILD)/app/$(app).$(os).elf))
NACUL_PROGRAMS += $(NACUL_APPS)

# APPLICATION.SYSTEM.elf
$(NACUL_BUILD)/app/%.elf: $(NACUL_FILES) $(wildcard $(NACUL)/app/* apps/*/*.[ch] apps/*/data/*) | $(FREERTOS)
	@mkdir -p $(@D)
	$(NACUL_CC) -o $@ $(NACUL_APP) $(APP_$(basename $*)) $(NACUL)/app/$(patsubst small,image_filter,$(basename $*)).c \
		$(OS_$(subst .,,$(suffix $*))) -lm

# What the middleware's operations cost, with the kernel of kernels/riscv: CMake knows what it is made of.
# Where tasks are scheduled by the HW-RTOS: in costs_hardware.
MEASURING := $(NACUL_BUILD)/costs/costs $(NACUL_BUILD)/costs/moving
.PHONY: $(MEASURING) $(NACUL_BUILD)/costs_hardware/costs
$(MEASURING) $(NACUL_BUILD)/costs_hardware/costs:
	@mkdir -p $(@D)
	@flock $(@D)/lock cmake -S boards/rv32_soc -B $(@D) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_RULE_MESSAGES=OFF \
		-DWHIMBREL_SCHEDULER=$(if $(findstring _hardware,$(@D)),hardware,software) -DWHIMBREL_APP_NAME= >/dev/null
	+@flock $(@D)/lock cmake --build $(@D) --target $(@F) >/dev/null
