# SPDX-License-Identifier: Apache-2.0
# Builds the module of an application (BUILD/apps/NAME.so), and the program that its tasks are recreated
# from (BUILD/apps/NAME.task).
#
#   NAME := hello
#   SOURCES := hello common/tasks   # without .c or .cc; common/: of ../common
#   STANDARD := gnu11            # left out: c11; c++20 and LIBS := -lstdc++ for C++
#   OPTIMISE := -O3              # left out: -O2
#   LIBS := -lm
#   WITHOUT_PROGRAM := yes       # its tasks are not recreated
#   SOURCE_FILES := hello.c ../watcher.c   # of a board's image; left out: $(SOURCES)
#   SOURCE_OPTIONS := -I$(CURDIR)/include  # for them
#   include ../module.mk
#
#   make [BUILD=DIR] [MARCH=native] [CC=gcc] [EXTRA=FLAGS]     all | sources | clean

BUILD ?= ../../build
MARCH ?= native
STANDARD ?= c11
OPTIMISE ?= -O2
SOURCE_FILES ?= $(patsubst common/%,../common/%,$(SOURCES:%=%.c))
SOURCE_OPTIONS ?= -I$(abspath ..)
ROOT ?= ../..
MIDDLEWARE := $(ROOT)/middleware
OBJ := $(BUILD)/obj/$(NAME)
MODULE := $(BUILD)/apps/$(NAME).so
OBJECTS := $(SOURCES:%=$(OBJ)/%.o)
PROGRAM := $(BUILD)/apps/$(NAME).task

# -fstack-clash-protection: an overflow of a task's stack touches the guard below it, however large the
# frame.
CFLAGS := -std=$(STANDARD) $(OPTIMISE) -march=$(MARCH) -fPIC -fstack-clash-protection -g -Wall -Wextra -Wpedantic \
	-Wconversion -Wshadow -Werror -MMD -MP -I.. -I$(MIDDLEWARE)/include -ffile-prefix-map=$(abspath $(ROOT))=. $(EXTRA)
# The kernels share the module's writable data: nothing may be bound late, by one of them only.
MODULE_LDFLAGS := -shared -Wl,-z,now

.DEFAULT_GOAL := all

# Tests of what is linked with nothing of the middleware, and of tasks.
.PHONY: all clean sources test test-parts test-tasks
test: test-parts test-tasks
all: $(MODULE) $(if $(WITHOUT_PROGRAM),,$(PROGRAM))

# What a board's image is compiled of: the options on a line, then the files.
sources:
	@echo '-std=$(STANDARD) $(OPTIMISE) $(SOURCE_OPTIONS)'
	@printf '%s\n' $(abspath $(SOURCE_FILES))

clean:
	rm -rf $(OBJ) $(MODULE) $(PROGRAM)

$(MODULE): $(OBJECTS)
	@mkdir -p $(@D)
	@echo 'LD $@'
	@$(CC) $(CFLAGS) $(MODULE_LDFLAGS) -o $@ $^ $(LIBS)

include $(ROOT)/kernels/linux/program/program.mk

$(PROGRAM): $(OBJECTS) $(HOSTED_O)
	$(call link_program,$(LIBS))

$(OBJ)/%.o: %.c Makefile $(ROOT)/apps/module.mk
	@mkdir -p $(@D)
	@echo 'CC $<'
	@$(CC) $(CFLAGS) $(REPORT) -c -o $@ $<

$(OBJ)/%.o: %.cc Makefile $(ROOT)/apps/module.mk
	@mkdir -p $(@D)
	@echo 'CXX $<'
	@$(CXX) $(CFLAGS) -c -o $@ $<

$(OBJ)/common/%.o: ../common/%.c Makefile $(ROOT)/apps/module.mk
	@mkdir -p $(@D)
	@echo 'CC $<'
	@$(CC) $(CFLAGS) -c -o $@ $<

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
