// SPDX-License-Identifier: Apache-2.0
// Shared memory that tasks of several kernels allocate, pass on and free, at once, while they move
// and end.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"
#include "wb/wb.h"

enum { CORES = 3, BLOCKS = 6000, SLOTS = 4, EARLY = 100 };

static uint32_t sent;

struct message {
    uint32_t *block;
};

// Sends blocks of many sizes, each full of its number; now and then one of several pages.
static int allocate(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < BLOCKS && !threads_are_late(); i++) {
        const size_t words = i % 97 == 0 ? 5000 : 2 + i % 600;
        struct message m;

        while ((m.block = wb_shared_malloc(words * sizeof *m.block)) == NULL)
            wb_yield();
        m.block[0] = i;
        m.block[1] = (uint32_t)words;
        for (size_t k = 2; k < words; k++)
            m.block[k] = i * 7;
        CHECK(wb_port_send(out, &m, WB_FOREVER) == WB_OK);
        if (i % 100 == 0)
            CHECK(wb_migrate(self, (wb_task_core(self) + 1) % CORES, WB_FOREVER) == WB_OK);
        sent++;
    }
    return 0;
}

static void check(const uint32_t *block, uint32_t number)
{
    CHECK(block[0] == number);
    for (uint32_t k = 2; k < block[1]; k++)
        CHECK(block[k] == number * 7);
}

// Frees every third block, passes the others on, some of them as a copy of its own.
static int relay(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    struct message m;

    for (uint32_t i = 0; wb_port_receive(in, &m, WB_FOREVER) == WB_OK; i++) {
        check(m.block, i);
        if (i % 3 == 0) {
            wb_shared_free(m.block);
            continue;
        }
        if (i % 3 == 1) {
            const size_t bytes = m.block[1] * sizeof *m.block;
            uint32_t *copy;
            while ((copy = wb_shared_realloc(m.block, bytes * 3)) == NULL)
                wb_yield();
            m.block = copy;
        }
        CHECK(wb_port_send(out, &m, WB_FOREVER) == WB_OK);
    }
    return 0;
}

static int release(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    struct message m;

    while (wb_port_receive(in, &m, WB_FOREVER) == WB_OK) {
        check(m.block, m.block[0]);
        wb_shared_free(m.block);
    }
    return 0;
}

static uint32_t claimed(const struct wb_system *s)
{
    uint32_t pages = 0;

    for (uint32_t i = 0; i < s->pool->n_words; i++)
        pages += (uint32_t)__builtin_popcount(wb_word_load(&s->pool->words[i], WB_SEQ_CST));
    return pages;
}

TEST(blocks_shared_among_cores_are_whole_and_the_pool_gets_them_all_back)
{
    struct wb_system *s = threads_open(CORES);
    struct wb_task *a = build_task(s, "a", 0, 3, allocate);
    struct wb_task *b = build_task(s, "b", 1, 3, relay), *c = build_task(s, "c", 2, 3, release);
    struct wb_channel *first = build_channel(s, "ab", SLOTS, sizeof(struct message), false);
    struct wb_channel *second = build_channel(s, "bc", SLOTS, sizeof(struct message), false);

    build_port(a, first, WB_OUT);
    build_port(b, first, WB_IN);
    build_port(b, second, WB_OUT);
    build_port(c, second, WB_IN);
    threads_run();
    // Whoever freed last gave back what the others had left.
    CHECK(claimed(s) == 0);
    CHECK(wb_shared_used_bytes(&a->shared) == 0 && wb_shared_used_bytes(&b->shared) == 0);
    CHECK(wb_task_migrations(a) == (sent + 99) / 100);
}

// ---- The end of an owner, while others free what it left ----------------------------------------

static uint32_t *left[CORES][EARLY];
static struct wb_word ready[CORES];

// Leaves blocks to the next core, and ends while that one frees them.
static int leave(struct wb_task *self)
{
    const uint32_t me = self->id, before = (me + CORES - 1) % CORES;

    for (uint32_t i = 0; i < EARLY; i++) {
        uint32_t *block = wb_shared_malloc(16 + 8 * i);
        CHECK(block != NULL);
        *block = i;
        left[me][i] = block;
    }
    wb_word_store(&ready[me], 1, WB_RELEASE);
    while (wb_word_load(&ready[before], WB_ACQUIRE) == 0)
        wb_yield();
    for (uint32_t i = 0; i < EARLY; i++) {
        CHECK(*left[before][i] == i);
        wb_shared_free(left[before][i]);
    }
    return 0;
}

TEST(what_is_freed_while_its_owner_ends_goes_back_to_the_pool)
{
    static const char *const names[CORES] = { "a", "b", "c" };

    for (int round = 0; round < 20; round++) {
        struct wb_system *s = threads_open(CORES);
        for (uint32_t i = 0; i < CORES; i++) {
            wb_word_store(&ready[i], 0, WB_SEQ_CST);
            build_task(s, names[i], i, 3, leave);
        }
        threads_run();
        CHECK(claimed(s) == 0);
    }
}

// ---- Large runs, which are claimed word by word -------------------------------------------------

static int want_large(struct wb_task *self)
{
    for (uint32_t i = 0, got = 0; got == 0 || (got < 2000 && !threads_are_late()); i++) {
        uint32_t *block = wb_shared_malloc(i % 4 == 0 ? 100000 : 200000);
        if (block == NULL) {
            wb_sleep_until(wb_now_ns() + 20000);  // those that have it want the processor
            continue;
        }
        block[0] = self->id;
        wb_yield();
        CHECK(block[0] == self->id);
        wb_shared_free(block);
        got++;
    }
    return 0;
}

TEST(large_blocks_that_several_cores_want_go_to_one_of_them)
{
    static const char *const names[CORES] = { "a", "b", "c" };
    struct wb_system *s = threads_open(CORES);

    for (uint32_t i = 0; i < CORES; i++)
        build_task(s, names[i], i, 3, want_large);
    threads_run();
    CHECK(claimed(s) == 0);
}
