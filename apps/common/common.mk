# SPDX-License-Identifier: Apache-2.0
# Builds an application that uses files of this folder, and its tests:
#
#   OWN := setup filter          # its own files, without .c
#   COMMON := crc32 file tasks    # those of this folder
#   TESTS := fuzz test_filter    # in its folder test; run under the sanitizers
#   WATCHED := filter            # what they are linked with
#   SIDE_BY_SIDE := 4            # so many files of tests in Python at once, for those that wait
#   include ../common/common.mk

SOURCES := $(OWN) $(COMMON:%=common/%)

include ../module.mk

# What takes files apart, under the sanitizers.
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
WATCHED_O := $(patsubst %,$(OBJ)/watched/%.o,$(WATCHED) $(TESTS:%=test/%) check)

test-tasks: all
	$(if $(SIDE_BY_SIDE),ls test/test_*.py | xargs -n 1 -P $(SIDE_BY_SIDE) env )PYTHONPATH=../common \
		$(PYTHON) -m pytest --quiet -p no:cacheprovider $(if $(SIDE_BY_SIDE),,test)

test-parts: $(OBJ)/tests
	$(OBJ)/tests

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
