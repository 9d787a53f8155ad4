# SPDX-License-Identifier: Apache-2.0
# Links an application's tasks into a program that they are recreated from. For a Makefile that sets
# ROOT, BUILD and CC:
#
#   NAME.task: OBJECTS $(HOSTED_O)     without any main
#   	$(call link_program,LIBRARIES)
#
# Only the application's own calls of malloc and its kin go to the task's heap: its objects are
# joined, and the names replaced (hooks.syms), before the C library comes in. Only the application's own
# functions are entries of tasks: each has a second name, whimbrel_entry_NAME.

HOST := $(ROOT)/kernels/linux
PROCESS := $(ROOT)/kernels/linux/process
HOSTED := $(BUILD)/obj/hosted
HOSTED_ARCH := $(if $(findstring aarch64,$(shell $(CC) -dumpmachine)),aarch64,x86_64)
OBJCOPY := $(patsubst %gcc,%objcopy,$(filter %gcc,$(CC)))
OBJCOPY := $(or $(OBJCOPY),objcopy)
NM := $(OBJCOPY:%objcopy=%nm)
HOSTED_C := $(wildcard $(addprefix $(ROOT)/middleware/src/,*.c */*.c */*/*.c)) $(HOST)/program/hosted.c $(HOST)/program/main.c \
	$(HOST)/clock.c $(HOST)/compute.c $(HOST)/doorbell.c $(PROCESS)/fault.c $(HOST)/halt.c $(PROCESS)/hooks.c $(ROOT)/launcher/api/heap.c $(HOST)/robust.c \
	$(ROOT)/kernels/template/trivial.c
HOSTED_O := $(patsubst $(ROOT)/%.c,$(HOSTED)/%.o,$(HOSTED_C)) $(HOSTED)/context.o $(HOSTED)/layout.o
# What the program and its kernel must have in common.
HOSTED_LAYOUT := $(sort $(wildcard $(ROOT)/middleware/include/wb/*.h $(PROCESS)/*.h $(HOST)/*.h))
HOSTED_FLAGS := -std=c11 -O2 -g -fno-omit-frame-pointer -fno-pie -Wall -Wextra -Wpedantic -Wconversion \
	-Wshadow -Werror -MMD -MP -ffile-prefix-map=$(abspath $(ROOT))=. -I$(ROOT)/middleware/include -I$(PROCESS) -I$(ROOT)/launcher/api -I$(ROOT)/launcher/plan -I$(HOST) -I$(PROCESS)/arch/$(HOSTED_ARCH)

define link_program
@mkdir -p $(@D)
@echo 'LD $@'
@$(CC) -r -nostdlib -o $@.o $(filter-out $(HOSTED_O),$(filter %.o,$^))
@$(OBJCOPY) --redefine-syms=$(HOST)/program/hooks.syms $@.o
@$(CC) -static -no-pie -o $@ $@.o $(HOSTED_O) $(1) \
	$$($(NM) -g --defined-only $@.o | sed -n 's/.* [TW] \([A-Za-z0-9_]*\)$$/-Wl,--defsym=whimbrel_entry_\1=\1/p')
@rm -f $@.o
endef

$(HOSTED)/%.o: $(ROOT)/%.c $(HOST)/program/program.mk
	@mkdir -p $(@D)
	@echo 'CC hosted $*.c'
	@$(CC) $(HOSTED_FLAGS) -c -o $@ $<

$(HOSTED)/layout.c: $(HOST)/program/layout.sh $(HOSTED_LAYOUT)
	@mkdir -p $(@D)
	@sh $(HOST)/program/layout.sh $(HOSTED_LAYOUT) > $@

$(HOSTED)/layout.o: $(HOSTED)/layout.c
	@$(CC) $(HOSTED_FLAGS) -c -o $@ $<

$(HOSTED)/context.o: $(PROCESS)/arch/$(HOSTED_ARCH)/context.S
	@mkdir -p $(@D)
	@$(CC) -c -o $@ $<

-include $(patsubst %.o,%.d,$(HOSTED_O))
