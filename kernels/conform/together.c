// SPDX-License-Identifier: Apache-2.0
// Tasks that are woken together: all are ready before a kernel chooses one of them, so the most
// urgent runs first, whichever of them was added first.

#include "suite.h"
#include "wb/wb.h"

enum { SLEEPERS = 3, MEETING = SLEEPERS + 1 };

/// What the sleepers wait by, and what wakes all of them.
struct way {
    void (*wait)(struct wb_task *), (*wake)(struct wb_task *);
};

struct state {
    struct wb_condition condition;
    struct wb_semaphore semaphore, all_ran;
    struct wb_barrier barrier;
    struct wb_participant participants[MEETING];
    struct wb_swapped waiting, ran;  // so many sleepers have begun to wait, and have run, so far
    uint32_t rounds;
    const struct way *way;
};

// ---- What they wait by --------------------------------------------------------------------------

static void wait_at_condition(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    EXPECT(self, wb_condition_wait(&s->condition, NULL, WB_FOREVER) == WB_OK);
}

static void broadcast(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    wb_condition_broadcast(&s->condition);
}

static void wait_at_barrier(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
}

static void wait_by_set(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set = { .semaphore = &s->semaphore };
    EXPECT(self, wb_wait(&set, 1, WB_FOREVER) == 0);
}

static void give(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    EXPECT(self, wb_semaphore_give(&s->semaphore) == WB_OK);
}

static const struct way by_condition = { wait_at_condition, broadcast },
                        by_barrier = { wait_at_barrier, wait_at_barrier },
                        by_set = { wait_by_set, give };

// ---- The tasks ----------------------------------------------------------------------------------

// Of the waker alone: a task that naps and is more urgent than another can take all of a slow core.
static void nap(void)
{
    wb_sleep_until(wb_now_ns() + 500000);
}

// The last that has run lets the others go on.
static void wait_for_the_others(struct state *s, struct wb_task *self, uint32_t before)
{
    if (before % SLEEPERS != SLEEPERS - 1)
        EXPECT(self, wb_semaphore_take(&s->all_ran, WB_FOREVER) == WB_OK);
    else
        for (uint32_t i = 1; i < SLEEPERS; i++)
            EXPECT(self, wb_semaphore_give(&s->all_ran) == WB_OK);
}

// The least urgent has index 0, and was added first.
static int sleeper(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        (void)wb_word_add(&s->waiting, 1, WB_SEQ_CST);
        s->way->wait(self);
        // The permit stays until all have looked.
        if (s->way == &by_set && self->index == 0)
            EXPECT(self, wb_semaphore_take(&s->semaphore, 0) == WB_OK);
        const uint32_t before = wb_word_add(&s->ran, 1, WB_SEQ_CST);
        EXPECT(self, before == i * SLEEPERS + SLEEPERS - 1 - self->index);
        wait_for_the_others(s, self, before);
    }
    return 0;
}

static bool are_blocked(const struct wb_system *system)
{
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        const uint32_t owner_state = wb_word_load(&system->tasks[i].owner_state, WB_SEQ_CST);
        if (wb_task_state_of(owner_state) != WB_TASK_BLOCKED)
            return false;
    }
    return true;
}

static int waker(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    for (uint32_t i = 1; i <= s->rounds; i++) {
        while (wb_word_load(&s->waiting, WB_SEQ_CST) != i * SLEEPERS || !are_blocked(self->system))
            nap();
        s->way->wake(self);
        while (wb_word_load(&s->ran, WB_SEQ_CST) != i * SLEEPERS)
            nap();
    }
    return 0;
}

// The sleepers are on the last core, the waker on the first.
static void wake_together(uint32_t cores, const struct way *way)
{
    struct harness *h = suite_open(cores, sizeof(struct state));
    struct state *s = suite_state(h);

    s->rounds = suite_count(200);
    s->way = way;
    wb_condition_init(&s->condition);
    CHECK(wb_semaphore_init(&s->semaphore, 0, 1) == WB_OK);
    CHECK(wb_semaphore_init(&s->all_ran, 0, SLEEPERS - 1) == WB_OK);
    CHECK(wb_barrier_init(&s->barrier, s->participants, MEETING) == WB_OK);
    for (uint32_t i = 0; i < SLEEPERS; i++)
        suite_task(h, &(struct wb_task_config){ .name = "sleeper",
                                                .index = i,
                                                .entry = sleeper,
                                                .core = cores - 1,
                                                .priority = SUITE_PRIORITY + i });
    suite_task(h, &(struct wb_task_config){
                      .name = "waker", .entry = waker, .priority = SUITE_PRIORITY - 1 });
    suite_run(h);
    harness_close(h);
}

TEST(of_all_that_a_broadcast_wakes_the_most_urgent_runs_first)
{
    wake_together(1, &by_condition);
}

TEST(of_all_that_a_barrier_lets_through_the_most_urgent_runs_first)
{
    wake_together(1, &by_barrier);
}

TEST(of_all_that_have_a_permit_in_their_sets_the_most_urgent_runs_first)
{
    wake_together(1, &by_set);
}

TEST(of_all_that_are_woken_on_another_core_the_most_urgent_runs_first)
{
    wake_together(2, &by_condition);
    wake_together(2, &by_barrier);
    wake_together(2, &by_set);
}
