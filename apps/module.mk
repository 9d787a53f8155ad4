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
#   PROGRAM_SOURCES := hello     # of the program, and PROGRAM_LIBS; left out: as the module
#   SOURCE_FILES := hello.c ../watcher.c   # of a board's image; left out: $(SOURCES)
#   SOURCE_OPTIONS := -I$(CURDIR)/include  # for them
#   include ../module.mk
#
# An application outside of Whimbrel's tree includes $(shell whimbrel new --module-mk);
# without BUILD, its module and its program then lie beside its app.toml, and its objects in build.
#
#   make [BUILD=DIR] [MARCH=native] [CC=gcc] [EXTRA=FLAGS]     all | sources | clean

MODULE_MK := $(lastword $(MAKEFILE_LIST))
ROOT ?= $(dir $(MODULE_MK))..
ifeq ($(BUILD)$(filter $(realpath $(ROOT))/%,$(CURDIR)),)
BUILD := build
MADE := .
else
BUILD ?= $(ROOT)/build
MADE := $(BUILD)/apps
endif
MARCH ?= native
STANDARD ?= c11
OPTIMISE ?= -O2
PROGRAM_SOURCES ?= $(SOURCES)
PROGRAM_LIBS ?= $(LIBS)
SOURCE_FILES ?= $(patsubst common/%,../common/%,$(SOURCES:%=%.c))
SOURCE_OPTIONS ?= -I"$(abspath ..)"
MIDDLEWARE := $(ROOT)/middleware
OBJ := $(BUILD)/obj/$(NAME)
MODULE := $(MADE)/$(NAME).so
OBJECTS := $(SOURCES:%=$(OBJ)/%.o)
PROGRAM := $(MADE)/$(NAME).task

# Boards are asked for sources without a compiler for this machine.
ifneq ($(MAKECMDGOALS),sources)
COMPILERS := $(firstword $(CC)) $(if $(wildcard $(SOURCES:%=%.cc)),$(firstword $(CXX)))
MISSING := $(foreach one,$(COMPILERS),$(if $(shell command -v $(one) 2>/dev/null),,$(one)))
ifneq ($(strip $(MISSING)),)
$(error the compiler $(strip $(MISSING)) is not found: install gcc or g++, or name another with CC= and CXX=)
endif
endif

# -fstack-clash-protection: an overflow of a task's stack touches the guard below it, however large the
# frame.
CFLAGS := -std=$(STANDARD) $(OPTIMISE) -march=$(MARCH) -fPIC -fstack-clash-protection -g -Wall -Wextra -Wpedantic \
	-Wconversion -Wshadow -Werror -MMD -MP -I.. -I$(MIDDLEWARE)/include -ffile-prefix-map=$(abspath $(ROOT))=. $(EXTRA)
# The kernels share the module's writable data: nothing may be bound late, by one of them only.
MODULE_LDFLAGS := -shared -Wl,-z,now

.DEFAULT_GOAL := all

# Tests of what is linked with nothing of the middleware, and of tasks.
.PHONY: all clean sources test test-parts test-tasks
all: $(MODULE) $(if $(WITHOUT_PROGRAM),,$(PROGRAM))
test: test-parts test-tasks

# What a board's image is compiled of: the options on a line, then the files.
sources:
	@echo '-std=$(STANDARD) $(OPTIMISE) $(SOURCE_OPTIONS)'
	@realpath --no-symlinks --canonicalize-missing $(SOURCE_FILES)

clean:
	rm -rf $(OBJ) $(MODULE) $(PROGRAM)

$(MODULE): $(OBJECTS)
	@mkdir -p $(@D)
	@echo 'LD $@'
	@$(CC) $(CFLAGS) $(MODULE_LDFLAGS) -o $@ $^ $(LIBS)

include $(ROOT)/kernels/linux/program/program.mk

$(PROGRAM): $(PROGRAM_SOURCES:%=$(OBJ)/%.o) $(HOSTED_O)
	$(call link_program,$(PROGRAM_LIBS))

$(OBJ)/%.o: %.c Makefile $(MODULE_MK)
	@mkdir -p $(@D)
	@echo 'CC $<'
	@$(CC) $(CFLAGS) $(REPORT) -c -o $@ $<

$(OBJ)/%.o: %.cc Makefile $(MODULE_MK)
	@mkdir -p $(@D)
	@echo 'CXX $<'
	@$(CXX) $(CFLAGS) -c -o $@ $<

$(OBJ)/common/%.o: ../common/%.c Makefile $(MODULE_MK)
	@mkdir -p $(@D)
	@echo 'CC $<'
	@$(CC) $(CFLAGS) -c -o $@ $<

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
