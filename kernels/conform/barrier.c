// SPDX-License-Identifier: Apache-2.0
// Barriers between kernels: rounds of tasks that move, and tasks that come no more.

#include "suite.h"

enum { CORES = 2, COMERS = 3 };

struct state {
    struct wb_barrier barrier;
    struct wb_participant participants[COMERS];
    struct wb_word came[COMERS];  // for how many rounds, by each
    struct wb_word stop;
    struct wb_swapped users, let_through, owners, tried, gone;
    uint32_t rounds;
};

static struct harness *open_cores(uint32_t rounds)
{
    struct harness *h = suite_open(CORES, sizeof(struct state));
    struct state *s = suite_state(h);

    CHECK(wb_barrier_init(&s->barrier, s->participants, COMERS) == WB_OK);
    wb_word_init(&s->users, COMERS);
    s->rounds = rounds;
    return h;
}

static void add_comers(struct harness *h, wb_task_entry *entry)
{
    struct state *s = suite_state(h);

    for (uint32_t i = 0; i < COMERS; i++) {
        struct wb_task *task =
            suite_task(h, &(struct wb_task_config){ .name = "comer",
                                                    .index = i,
                                                    .core = i % CORES,
                                                    .priority = SUITE_PRIORITY + i,
                                                    .entry = entry,
                                                    .migratable = true,
                                                    .restart = true });
        CHECK(wb_barrier_join(&s->barrier, task) == WB_OK);
    }
}

// ---- Rounds -------------------------------------------------------------------------------------

static int comer(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 1; i <= s->rounds; i++) {
        wb_word_store(&s->came[wb_task_index(self)], i, WB_RELAXED);
        const int status = wb_barrier_wait(&s->barrier, WB_FOREVER);
        EXPECT(self, status >= 0);
        wb_word_add(&s->let_through, (uint32_t)status, WB_RELAXED);
        for (uint32_t j = 0; j < COMERS; j++) {
            // Some may have come for the next round meanwhile.
            const uint32_t came = wb_word_load(&s->came[j], WB_RELAXED);
            EXPECT(self, came == i || came == i + 1);
        }
        wb_checkpoint();
    }
    wb_word_sub(&s->users, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t random = 13;

    while (wb_word_load(&s->users, WB_SEQ_CST) != 0) {
        suite_move_anywhere(self, &self->system->tasks[suite_random(&random) % COMERS], &random);
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

TEST(nobody_passes_a_barrier_before_all_have_come_and_one_lets_them_through)
{
    struct harness *h = open_cores(suite_count(3000));
    const struct state *s = suite_state(h);

    add_comers(h, comer);
    suite_task(h, &(struct wb_task_config){
                      .name = "mover", .entry = mover, .core = 1, .priority = SUITE_PRIORITY + 4 });
    suite_run(h);
    CHECK(wb_word_load(&s->let_through, WB_SEQ_CST) == s->rounds);
    harness_close(h);
}

// ---- Who comes no more --------------------------------------------------------------------------

static void await_tried(struct state *s, uint32_t by)
{
    while (wb_word_load(&s->tried, WB_SEQ_CST) < by)
        wb_sleep_until(wb_now_ns() + 100000);
}

// The first comes alone, and ends when the others have waited in vain for its next time.
static int leaver(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    if (wb_task_index(self) == 0) {
        EXPECT(self, wb_barrier_wait(&s->barrier, 0) == WB_ERR_EMPTY);
        wb_word_add(&s->tried, 1, WB_SEQ_CST);
        EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
        await_tried(s, COMERS);
        return 0;
    }
    await_tried(s, 1);
    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
    EXPECT(self, wb_barrier_wait(&s->barrier, 10000) == WB_ERR_TIMEOUT);
    wb_word_add(&s->tried, 1, WB_SEQ_CST);
    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) == WB_ERR_GONE);
    wb_word_add(&s->gone, 1, WB_SEQ_CST);
    return 0;
}

TEST(who_waits_at_a_barrier_for_a_task_that_ends_is_told)
{
    struct harness *h = open_cores(0);
    const struct state *s = suite_state(h);

    add_comers(h, leaver);
    suite_run(h);
    CHECK(wb_word_load(&s->gone, WB_SEQ_CST) == COMERS - 1);
    harness_close(h);
}

// ---- Killed kernels -----------------------------------------------------------------------------

// Comes until another comes no more, which is the task of the kernel that is not killed: it comes
// some more times after it is told to stop.
static int steady(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t left = 10;

    while (left != 0) {
        const int status = wb_barrier_wait(&s->barrier, WB_FOREVER);
        if (status == WB_ERR_GONE)
            break;
        EXPECT(self, status >= 0 || status == WB_ERR_OWNER);
        wb_word_add(&s->owners, status == WB_ERR_OWNER, WB_SEQ_CST);
        if (wb_task_index(self) == 1 && wb_word_load(&s->stop, WB_SEQ_CST) != 0)
            left--;
        wb_checkpoint();
    }
    return 0;
}

TEST(a_barrier_goes_on_with_the_next_life_of_a_task_killed_at_any_time)
{
    uint32_t random = 77;

    for (uint32_t round = 0; round < suite_count(30); round++) {
        struct harness *h = open_cores(0);
        struct state *s = suite_state(h);

        add_comers(h, steady);
        harness_start(h);
        suite_compute(suite_random(&random) % 1000000);
        if (!suite_kill(h, 0))
            return;
        wb_word_store(&s->stop, 1, WB_SEQ_CST);
        suite_wait(h);
        CHECK(wb_word_load(&s->owners, WB_SEQ_CST) <= COMERS);
        harness_close(h);
    }
}

static int deserted(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
    wb_word_add(&s->users, 1, WB_SEQ_CST);
    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) == WB_ERR_GONE);
    wb_word_add(&s->gone, 1, WB_SEQ_CST);
    return 0;
}

static int deserter(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
    while (wb_word_load(&s->users, WB_SEQ_CST) != 2 * COMERS - 1)
        wb_sleep_until(wb_now_ns() + 10000);
    wb_word_store(&s->stop, 1, WB_SEQ_CST);
    for (;;)
        suite_compute(1000000);
}

TEST(who_waits_at_a_barrier_for_a_task_that_is_lost_is_told)
{
    struct harness *h = open_cores(0);
    const struct state *s = suite_state(h);

    suite_task(h, &(struct wb_task_config){ .name = "deserter", .entry = deserter });
    for (uint32_t i = 1; i < COMERS; i++)
        suite_task(h, &(struct wb_task_config){
                          .name = "deserted", .index = i, .entry = deserted, .core = 1 });
    harness_start(h);
    suite_wait_for(h, &s->stop, 1);
    if (!suite_kill(h, 0))
        return;
    suite_wait(h);
    CHECK(wb_word_load(&s->gone, WB_SEQ_CST) == COMERS - 1);
    harness_close(h);
}
