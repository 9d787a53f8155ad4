# SPDX-License-Identifier: Apache-2.0
# Builds an application that uses files of this folder, and its tests:
#
#   OWN := setup filter          # its own files, without .c
#   COMMON := crc32 file tasks    # those of this folder
#   TESTS := fuzz test_filter    # in its folder test; run under the sanitizers
#   WATCHED := filter            # what they are linked with
#   SIDE_BY_SIDE := 4            # so many files of tests in Python at once, for those that wait
#   PART_TESTS := test_crc       # tests in Python that use what test-parts builds; left out: none
#   include ../common/common.mk

SOURCES := $(OWN) $(COMMON:%=common/%)

include ../module.mk

# What takes files apart, under the sanitizers.
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
WATCHED_O := $(patsubst %,$(OBJ)/watched/%.o,$(WATCHED) $(TESTS:%=test/%) check)

PYTEST := PYTHONPATH=../common $(PYTHON) -m pytest --quiet -p no:cacheprovider
PART_TESTS_PY := $(PART_TESTS:%=test/%.py)
TASK_TESTS_PY := $(filter-out $(PART_TESTS_PY),$(wildcard test/test_*.py))

test-tasks: all
	$(if $(SIDE_BY_SIDE),echo $(TASK_TESTS_PY) | xargs -n 1 -P $(SIDE_BY_SIDE) env $(PYTEST),$(PYTEST) $(TASK_TESTS_PY))

test-parts: $(OBJ)/tests
	$(OBJ)/tests
	$(if $(PART_TESTS),$(PYTEST) $(PART_TESTS_PY))

$(OBJ)/tests: $(WATCHED_O)
	@echo 'LD $@'
	@$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(LIBS)

$(OBJ)/watched/%.o: CFLAGS += -I$(MIDDLEWARE)/test $(SANITIZE)

$(OBJ)/watched/check.o: $(MIDDLEWARE)/test/check.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c -o $@ $<

$(OBJ)/watched/common/%.o: ../common/%.c Makefile
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c -o $@ $<

$(OBJ)/watched/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c -o $@ $<
