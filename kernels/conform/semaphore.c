// SPDX-License-Identifier: Apache-2.0
// Semaphores and locks between kernels: one inside at a time, wake-ups, timeouts, and kernels that
// are killed with a lock held.

#include "suite.h"

enum { CORES = 4 };

struct state {
    struct wb_mutex mutex;
    struct wb_semaphore there, back;
    struct wb_word held;
    struct wb_swapped users, owners;
    uint32_t rounds, first, second;  // guarded by the mutex: equal whenever it is free
};

static struct harness *open_cores(uint32_t cores)
{
    struct harness *h = suite_open(cores, sizeof(struct state));
    struct state *s = suite_state(h);

    CHECK(wb_semaphore_init(&s->there, 0, 1) == WB_OK);
    CHECK(wb_semaphore_init(&s->back, 0, 1) == WB_OK);
    wb_mutex_init(&s->mutex);
    s->rounds = suite_count(5000);
    return h;
}

// ---- One at a time ------------------------------------------------------------------------------

static void use(struct wb_task *self, struct state *s)
{
    EXPECT(self, s->first == s->second);
    s->first++;
    wb_checkpoint();
    s->second++;
}

static int use_mutex(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
        use(self, s);
        EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
        wb_checkpoint();
    }
    wb_word_sub(&s->users, 1, WB_SEQ_CST);
    return 0;
}

static int use_lock(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_lock(&s->first, WB_FOREVER) == WB_OK);
        use(self, s);
        EXPECT(self, wb_unlock(&s->first) == WB_OK);
        wb_checkpoint();
    }
    wb_word_sub(&s->users, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t random = 5;

    while (wb_word_load(&s->users, WB_SEQ_CST) != 0) {
        struct wb_task *task = wb_task_find(wb_task_app(self), "user", suite_random(&random) % 3);
        const enum wb_status status = wb_migrate(task, suite_random(&random) % CORES, 2000000);
        EXPECT(self, status == WB_OK || status == WB_ERR_BUSY || status == WB_ERR_GONE ||
                         status == WB_ERR_TIMEOUT || status == WB_ERR_HELD);
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

static void one_at_a_time(wb_task_entry *user)
{
    struct harness *h = open_cores(CORES);
    struct state *s = suite_state(h);

    wb_word_init(&s->users, 3);
    for (uint32_t i = 0; i < 3; i++)
        suite_task(h, &(struct wb_task_config){ .name = "user",
                                                .index = i,
                                                .core = i,
                                                .priority = SUITE_PRIORITY + i,
                                                .entry = user,
                                                .migratable = true });
    suite_task(h, &(struct wb_task_config){
                      .name = "mover", .entry = mover, .core = 3, .priority = SUITE_PRIORITY + 4 });
    suite_run(h);
    CHECK(s->first == 3 * s->rounds && s->second == s->first);
    harness_close(h);
}

TEST(one_task_of_any_kernel_holds_a_mutex_and_moves_with_it)
{
    one_at_a_time(use_mutex);
}

TEST(one_task_of_any_kernel_holds_the_lock_of_an_address)
{
    one_at_a_time(use_lock);
}

// ---- Wake-ups and timeouts ----------------------------------------------------------------------

static int server(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_semaphore_give(&s->there) == WB_OK);
        EXPECT(self, wb_semaphore_take(&s->back, WB_FOREVER) == WB_OK);
    }
    return 0;
}

static int returner(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, (i % 2 == 0 ? wb_semaphore_take : wb_semaphore_spin)(&s->there, WB_FOREVER) ==
                         WB_OK);
        EXPECT(self, wb_semaphore_give(&s->back) == WB_OK);
    }
    return 0;
}

TEST(a_giver_on_another_kernel_wakes_the_taker)
{
    struct harness *h = open_cores(2);

    suite_task(h, &(struct wb_task_config){ .name = "server", .entry = server });
    suite_task(h, &(struct wb_task_config){ .name = "returner", .entry = returner, .core = 1 });
    suite_run(h);
    harness_close(h);
}

static int hasty(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint64_t begin_ns = wb_now_ns(), wait_ns = 2000000;

    while (wb_word_load(&s->held, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    EXPECT(self, wb_semaphore_take(&s->there, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_semaphore_spin(&s->there, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_mutex_lock(&s->mutex, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_lock(&s->first, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_now_ns() - begin_ns >= 4 * wait_ns);
    (void)wb_word_swap(&s->users, 1, WB_SEQ_CST);
    return 0;
}

static int stubborn(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_mutex_lock(&s->mutex, 0) == WB_OK && wb_lock(&s->first, 0) == WB_OK);
    EXPECT(self, wb_migrate(self, 1, WB_FOREVER) == WB_ERR_HELD);
    wb_word_store(&s->held, 1, WB_SEQ_CST);
    while (wb_word_load(&s->users, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    EXPECT(self, wb_unlock(&s->first) == WB_OK);
    suite_hop(self);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
    return 0;
}

TEST(who_waits_in_vain_times_out_and_who_locked_an_address_stays)
{
    struct harness *h = open_cores(2);

    suite_task(
        h, &(struct wb_task_config){ .name = "stubborn", .entry = stubborn, .migratable = true });
    suite_task(h, &(struct wb_task_config){ .name = "hasty", .entry = hasty, .core = 1 });
    suite_run(h);
    harness_close(h);
}

// ---- Killed holders -----------------------------------------------------------------------------

static int holder(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
    EXPECT(self, wb_lock(&s->first, WB_FOREVER) == WB_OK);
    wb_word_store(&s->held, 1, WB_SEQ_CST);
    for (;;)
        suite_compute(1000000);
}

static int successor(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (wb_word_load(&s->held, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    wb_word_store(&s->held, 2, WB_SEQ_CST);
    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_ERR_OWNER);
    EXPECT(self, wb_lock(&s->first, WB_FOREVER) == WB_ERR_OWNER);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK && wb_unlock(&s->first) == WB_OK);
    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
    (void)wb_word_swap(&s->owners, 1, WB_SEQ_CST);
    return 0;
}

TEST(the_death_of_a_holder_is_told_to_who_waits_for_it)
{
    struct harness *h = open_cores(2);
    struct state *s = suite_state(h);

    suite_task(h, &(struct wb_task_config){ .name = "holder", .entry = holder });
    struct wb_task *to = suite_task(
        h, &(struct wb_task_config){ .name = "successor", .entry = successor, .core = 1 });
    harness_start(h);
    suite_wait_for(h, &s->held, 2);
    suite_wait_for_state(h, to, WB_TASK_BLOCKED);
    if (!suite_kill(h, 0))
        return;
    suite_wait(h);
    CHECK(wb_word_load(&s->owners, WB_SEQ_CST) == 1);
    harness_close(h);
}

// Whoever takes over repairs what it guards.
static int repairer(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (!wb_stopping(self)) {
        const enum wb_status status = wb_mutex_lock(&s->mutex, WB_FOREVER);
        EXPECT(self, status == WB_OK || status == WB_ERR_OWNER);
        if (status == WB_ERR_OWNER) {
            wb_word_add(&s->owners, 1, WB_SEQ_CST);
            s->second = s->first;
        }
        use(self, s);
        EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

TEST(kernels_killed_at_any_time_leave_a_mutex_that_can_be_taken)
{
    uint32_t random = 977;

    for (uint32_t round = 0; round < suite_count(30); round++) {
        struct harness *h = open_cores(CORES);
        const struct state *s = suite_state(h);

        for (uint32_t i = 0; i < CORES; i++)
            suite_task(h, &(struct wb_task_config){ .name = "repairer",
                                                    .index = i,
                                                    .core = i,
                                                    .priority = SUITE_PRIORITY + i,
                                                    .entry = repairer,
                                                    .restart = true });
        harness_start(h);
        for (uint32_t core = 0; core < CORES - 1; core++) {
            suite_compute(suite_random(&random) % 1500000);
            if (!suite_kill(h, core))
                return;
        }
        wb_system_stop(harness_system(h));
        suite_wait(h);
        // The last kernel may have been killed in between, and its task told to stop.
        CHECK(s->first - s->second <= 1);
        harness_close(h);
    }
}
