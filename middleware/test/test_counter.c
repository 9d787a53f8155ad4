// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/word.h where there are no 64-bit atomics.
// with: check.c build.c kernel_stub.c
#define _GNU_SOURCE
#define WB_COUNTER_HALVES  // this machine would have them whole
#include "wb/word.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "counter_case.h"

// A carry is three stores: the high half, the low half, the high half again.
TEST(a_writer_killed_in_the_carry_leaves_the_old_value_or_the_new)
{
    struct wb_counter c = { 0 };

    wb_counter_set(&c, UINT32_MAX - 5);
    wb_word_store(&c.high, 1, WB_SEQ_CST);
    CHECK(wb_counter_get(&c) == UINT32_MAX - 5);
    wb_word_store(&c.low, 7, WB_SEQ_CST);
    CHECK(wb_counter_get(&c) == (1ull << 32) + 7);
}

TEST(the_next_writer_repairs_what_a_killed_one_left)
{
    struct wb_counter c = { 0 };

    wb_counter_set(&c, UINT32_MAX);
    wb_word_store(&c.high, 1, WB_SEQ_CST);
    wb_word_store(&c.low, 7, WB_SEQ_CST);
    wb_counter_add(&c, 0x90000000);
    CHECK(wb_counter_get(&c) == (1ull << 32) + 0x90000007);
}

// Every other step of the writer carries, so that readers are often in a carry.
enum { READS = 400000, READS_AT_ONCE = 1000 };
static const uint64_t STEP = 0x7fffffff;
static struct wb_counter shared;
static WB_STORED(int) stop;

static void *write_on(void *arg)
{
    for (uint64_t i = 1; wb_word_load(&stop, WB_SEQ_CST) == 0; i++)
        wb_counter_set(&shared, i * STEP);
    return arg;
}

TEST(no_reader_ever_sees_a_torn_value)
{
    pthread_t writer;
    uint64_t last = 0;
    int distinct = 0;
    const struct timespec pause = { .tv_nsec = 10000 };

    alarm(60);  // for a counter that does not move
    CHECK(pthread_create(&writer, NULL, write_on, NULL) == 0);
    for (int reads = 0; reads < READS || distinct <= 10; reads++) {
        const uint64_t value = wb_counter_get(&shared);
        CHECK(value % STEP == 0);
        CHECK(value >= last);
        distinct += value != last;
        last = value;
        if (reads % READS_AT_ONCE == 0)
            nanosleep(&pause, NULL);  // the writer's turn, should both share a processor
    }
    wb_word_store(&stop, 1, WB_SEQ_CST);
    CHECK(pthread_join(writer, NULL) == 0);
    alarm(0);
}

// ---- Stamps -------------------------------------------------------------------------------------

// Setting one is three stores: two halves where the last value is not, then the sequence.
TEST(a_writer_killed_while_it_stamps_leaves_the_stamp_before)
{
    struct wb_stamp s = { 0 };

    wb_stamp_set(&s, 9ull << 32 | 9);
    wb_word_store(&s.at[0].low, 7, WB_SEQ_CST);
    CHECK(wb_stamp_get(&s) == (9ull << 32 | 9));
    wb_word_store(&s.at[0].high, 7, WB_SEQ_CST);
    CHECK(wb_stamp_get(&s) == (9ull << 32 | 9));
    wb_stamp_set(&s, 3);
    CHECK(wb_stamp_get(&s) == 3);
}

static struct wb_stamp stamp;

// Both halves are the same number, which jumps forth and back.
static void *stamp_on(void *arg)
{
    for (uint32_t i = 1; wb_word_load(&stop, WB_SEQ_CST) == 0; i++)
        wb_stamp_set(&stamp, (uint64_t)(i * 2654435769u) << 32 | i * 2654435769u);
    return arg;
}

TEST(no_reader_ever_sees_a_torn_stamp_however_far_it_jumps)
{
    pthread_t writer;
    uint64_t last = 0;
    int distinct = 0;
    const struct timespec pause = { .tv_nsec = 10000 };

    alarm(60);
    wb_word_store(&stop, 0, WB_SEQ_CST);
    CHECK(pthread_create(&writer, NULL, stamp_on, NULL) == 0);
    for (int reads = 0; reads < READS || distinct <= 10; reads++) {
        const uint64_t value = wb_stamp_get(&stamp);
        CHECK(value >> 32 == (uint32_t)value);
        distinct += value != last;
        last = value;
        if (reads % READS_AT_ONCE == 0)
            nanosleep(&pause, NULL);
    }
    wb_word_store(&stop, 1, WB_SEQ_CST);
    CHECK(pthread_join(writer, NULL) == 0);
    alarm(0);
}
