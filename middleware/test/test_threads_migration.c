// SPDX-License-Identifier: Apache-2.0
// Requests, withdrawals and commits of hand-offs that really race.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"

enum { CORES = 3, VICTIMS = 2, ASKERS = 3, ASKED = 1000 };

static struct wb_task *victims[VICTIMS];
static struct wb_swapped inside[VICTIMS];  // how many cores run the victim
static struct wb_swapped outcomes[10];
static struct wb_swapped asking;
static uint32_t cores_seen[VICTIMS];

// Anything it owns is written without atomics: ThreadSanitizer sees it run on two cores at once.
static int be_moved(struct wb_task *self)
{
    const uint32_t me = self == victims[0] ? 0 : 1;
    uint32_t core = wb_task_core(self);

    while (wb_word_load(&asking, WB_RELAXED) != 0) {
        CHECK(wb_word_add(&inside[me], 1, WB_SEQ_CST) == 0);
        cores_seen[me] |= 1u << core;
        CHECK(wb_task_core(self) == core);
        CHECK(wb_word_sub(&inside[me], 1, WB_SEQ_CST) == 1);
        wb_checkpoint();
        wb_yield();  // to the other victim
        core = wb_task_core(self);
    }
    return 0;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static int ask(struct wb_task *self)
{
    uint32_t random = self->id;

    for (int accepted = 0; accepted < ASKED;) {
        const uint32_t victim = next_random(&random) % VICTIMS;
        const uint32_t core = next_random(&random) % CORES;
        const uint64_t timeout_ns = next_random(&random) % 4 == 0 ? 1 : 100000000;
        const enum wb_status status = wb_migrate(victims[victim], core, timeout_ns);
        CHECK(status <= WB_OK && status >= WB_ERR_NOMEM);
        wb_word_add(&outcomes[-(int)status], 1, WB_SEQ_CST);
        if (status == WB_ERR_BUSY)
            wb_sleep_until(wb_now_ns() + next_random(&random) % 20000);  // the victim may be here
        else
            accepted++;
    }
    wb_word_sub(&asking, 1, WB_SEQ_CST);
    return 0;
}

// By hand, or as the sweep of an idle core does for a time that is over.
static int withdraw(struct wb_task *self)
{
    uint32_t random = self->id;

    while (wb_word_load(&asking, WB_RELAXED) != 0) {
        if (next_random(&random) % 2 == 0)
            wb_migration_cancel(victims[next_random(&random) % VICTIMS], WB_ERR_HELD);
        else
            wb_system_sweep(self->system, wb_now_ns());
        wb_sleep_until(wb_now_ns() + next_random(&random) % 100000);
    }
    return 0;
}

static uint32_t outcome(enum wb_status status)
{
    return wb_word_load(&outcomes[-(int)status], WB_SEQ_CST);
}

TEST(every_request_has_one_outcome_and_a_task_runs_on_one_core)
{
    static const char *const names[] = { "asker 0", "asker 1", "asker 2" };
    struct wb_system *s = threads_open(CORES);

    wb_word_init(&asking, ASKERS);
    victims[0] = build_task(s, "victim 0", 0, 2, be_moved);
    victims[1] = build_task(s, "victim 1", 1, 2, be_moved);
    for (uint32_t i = 0; i < ASKERS; i++)
        build_task(s, names[i], i, 3, ask);
    build_task(s, "withdrawer", 2, 3, withdraw);
    threads_run();

    for (int v = 0; v < VICTIMS; v++) {
        CHECK(cores_seen[v] == (1 << CORES) - 1);
        CHECK(wb_task_migrations(victims[v]) > 10);
        CHECK(!wb_migration_pending(victims[v]));
    }
    CHECK(outcome(WB_OK) + outcome(WB_ERR_TIMEOUT) + outcome(WB_ERR_HELD) == ASKERS * ASKED);
    CHECK(outcome(WB_ERR_TIMEOUT) > 0 && outcome(WB_ERR_HELD) > 0 && outcome(WB_ERR_BUSY) > 0);
}
