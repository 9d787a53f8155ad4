// SPDX-License-Identifier: Apache-2.0
// The index of waiters of a system with many tasks: nobody who waits is missed, and few others are
// looked at.
// with: check.c build.c kernel_stub.c
#include <stdio.h>
#include <string.h>

#include "../src/sync/wait_queue.h"
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { TASKS = 300, QUEUES = 64 };

static struct wb_wait_queue queues[QUEUES];
static struct wb_system *s;

static void build(void)
{
    static _Alignas(WB_LINE_BYTES) unsigned char memory[4 << 20];

    memset(memory, 0, sizeof memory);
    stub_use(memory, sizeof memory);
    s = stub_open(&(struct wb_system_config){
        .cores = 1, .tasks = TASKS, .core_align = WB_LINE_BYTES, .offer_timeout_ns = 1000 });
    for (uint32_t i = 0; i < TASKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "task%u", (unsigned)i);
        (void)stub_task(name, 0);
    }
    CHECK(s->waiters != NULL);
}

static void enter(uint32_t queue, uint32_t task)
{
    wb_part_waiters.enter(&queues[queue], &s->tasks[task]);
}

static void leave(uint32_t task)
{
    wb_part_waiters.leave(&s->tasks[task]);
}

// ---- Who is looked at ---------------------------------------------------------------------------

struct seen {
    uint32_t n, times[TASKS];
    uint32_t last, places;
    bool in_order;
};

static void see(struct wb_task *task, void *with)
{
    struct seen *seen = with;

    seen->times[task->id]++;
    seen->in_order = seen->in_order && (seen->n == 0 || task->id > seen->last);
    seen->last = task->id;
    seen->n++;
}

static struct seen seen_at(uint32_t queue)
{
    struct seen seen = { .in_order = true };

    seen.places = wb_part_waiters.look(&queues[queue], s, see, &seen);
    return seen;
}

static struct seen seen_in_order(uint32_t queue)
{
    struct seen seen = { .in_order = true };

    wb_part_waiters.look_in_order(&queues[queue], s, see, &seen);
    return seen;
}

TEST(a_system_of_few_tasks_has_no_index)
{
    stub_use(NULL, 0);
    CHECK(stub_system(1)->waiters == NULL);
}

TEST(who_has_entered_at_a_wait_queue_is_looked_at_and_few_others_are)
{
    uint32_t places = 0, others = 0;

    build();
    for (uint32_t i = 0; i < TASKS; i++)
        enter(i % QUEUES, i);
    for (uint32_t i = 0; i < QUEUES; i++) {
        const struct seen seen = seen_at(i);
        for (uint32_t task = i; task < TASKS; task += QUEUES)
            CHECK(seen.times[task] == 1);
        places += seen.places;
        others += seen.n - (TASKS - i + QUEUES - 1) / QUEUES;
    }
    // Five wait at each; all of them were 300.
    CHECK(places < 40 * QUEUES);
    CHECK(others < 15 * QUEUES);
}

TEST(all_that_wait_at_one_wait_queue_are_looked_at_once_each)
{
    build();
    for (uint32_t i = 0; i < TASKS; i++) {
        enter(7, i);
        CHECK(seen_at(7).n == i + 1);
    }
    const struct seen seen = seen_at(7);
    for (uint32_t i = 0; i < TASKS; i++)
        CHECK(seen.times[i] == 1);
}

TEST(where_all_have_left_a_look_is_as_short_as_it_was)
{
    build();
    for (uint32_t turn = 0; turn < 20; turn++) {
        const uint32_t before = seen_at(turn).places;
        for (uint32_t i = 0; i < TASKS; i++)
            enter(turn, i);
        CHECK(seen_at(turn).n == TASKS);
        for (uint32_t i = 0; i < TASKS; i++)
            leave(turn % 2 != 0 ? i : TASKS - 1 - i);
        CHECK(seen_at(turn).n == 0 && seen_at(turn).places == before);
    }
}

TEST(who_went_past_a_full_block_is_looked_at_after_others_have_left_it)
{
    build();
    for (uint32_t i = 0; i < TASKS; i++)
        enter(2, i);
    for (uint32_t i = 0; i < TASKS; i++) {
        CHECK(seen_at(2).times[i] == 1);
        leave(i);
        CHECK(seen_at(2).n == TASKS - 1 - i);
    }
}

TEST(all_are_looked_at_once_in_the_order_of_their_numbers)
{
    build();
    for (uint32_t i = 0; i < TASKS; i++)
        enter(3, TASKS - 1 - i);
    struct seen seen = seen_in_order(3);
    CHECK(seen.n == TASKS && seen.in_order);
    for (uint32_t i = 0; i < TASKS; i++)
        leave(i);
    for (uint32_t i = 0; i < 5; i++)
        enter(3, 290 - 20 * i);
    seen = seen_in_order(3);
    CHECK(seen.n == 5 && seen.in_order && seen.times[210] == 1 && seen.times[290] == 1);
}

TEST(to_leave_once_more_takes_nothing_from_others)
{
    build();
    enter(1, 4);
    leave(4);
    for (uint32_t i = 5; i < TASKS; i++)
        enter(1, i);
    leave(4);
    leave(4);
    const struct seen seen = seen_at(1);
    CHECK(seen.n == TASKS - 5 && seen.times[4] == 0);
}

// ---- Whom a wait queue wakes --------------------------------------------------------------------

static struct wb_semaphore semaphores[3];
static uint32_t woken;

static void take(uint64_t until_ns)
{
    (void)until_ns;
    stub.unblocked = NULL;
    stub_become(0, &s->tasks[1]);
    CHECK(wb_semaphore_give(&semaphores[woken]) == WB_OK);
    CHECK(stub.unblocked == &s->tasks[0]);
    stub_become(0, &s->tasks[0]);
}

TEST(who_waits_for_one_of_several_among_many_tasks_is_woken_by_each)
{
    build();
    for (uint32_t i = 0; i < 3; i++)
        CHECK(wb_semaphore_init(&semaphores[i], 0, 1) == WB_OK);
    stub_start(s);
    stub_run(&s->tasks[0]);
    stub.on_block = take;
    for (woken = 0; woken < 3; woken++) {
        struct wb_wait set[3] = { { .semaphore = &semaphores[0] },
                                  { .semaphore = &semaphores[1] },
                                  { .semaphore = &semaphores[2] } };
        CHECK(wb_wait(set, 3, WB_FOREVER) == (int)woken);
        CHECK(wb_semaphore_take(&semaphores[woken], 0) == WB_OK);
    }
    woken = 0;
    CHECK(wb_semaphore_take(&semaphores[0], WB_FOREVER) == WB_OK);
}
