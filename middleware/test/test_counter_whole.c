// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/word.h as this machine has it.
// with: check.c build.c kernel_stub.c
#include "counter_case.h"

TEST(adding_wraps_at_64_bits)
{
    struct wb_counter c = { 0 };

    wb_counter_set(&c, UINT64_MAX);
    wb_counter_add(&c, 2);
    CHECK(wb_counter_get(&c) == 1);
}
