// SPDX-License-Identifier: Apache-2.0
// The index of waiters among threads: while some tasks enter and leave, a look finds all that wait
// from before its begin to after its end.
// with: check.c build.c kernel_stub.c
#include <pthread.h>
#include <stdio.h>

#include "../src/sync/wait_queue.h"
#include "check.h"
#include "kernel_stub.h"

enum { TASKS = 120, THREADS = 3, LOOKS = 20000 };

static struct wb_wait_queue queues[3];
static struct wb_system *s;
// Of each task, of which it counts the turns: odd while it waits at the first wait queue.
static struct wb_word turns[TASKS];
static struct wb_word over;

static void build(void)
{
    static _Alignas(WB_LINE_BYTES) unsigned char memory[2 << 20];

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

// As wait_queue.c: enters, says so, takes that back, leaves. Of three turns one is at another.
static void turn(uint32_t task, uint32_t n)
{
    const uint32_t before = wb_word_load(&turns[task], WB_RELAXED);

    if (before % 2 != 0) {
        wb_word_store(&turns[task], before + 1, WB_RELAXED);
        // Pairs with that of a look, which has missed the task: it sees why.
        wb_word_fence(WB_SEQ_CST);
        wb_part_waiters.leave(&s->tasks[task]);
    } else if (n % 3 == 0) {
        wb_part_waiters.enter(&queues[1 + n % 2], &s->tasks[task]);
        wb_part_waiters.leave(&s->tasks[task]);
    } else {
        wb_part_waiters.enter(&queues[0], &s->tasks[task]);
        // Release: whoever sees it finds the task.
        wb_word_store(&turns[task], before + 1, WB_RELEASE);
    }
}

static void *enter_and_leave(void *first)
{
    uint32_t random = 1 + *(const uint32_t *)first;

    for (uint32_t n = 0; wb_word_load(&over, WB_RELAXED) == 0; n++) {
        random = random * 1664525u + 1013904223u;
        // Each thread has every third task.
        turn((random >> 8) % (TASKS / THREADS) * THREADS + *(const uint32_t *)first, n);
    }
    return NULL;
}

struct seen {
    uint32_t times[TASKS];
};

static void see(struct wb_task *task, void *with)
{
    ((struct seen *)with)->times[task->id]++;
}

// Returns: how many waited all the while.
static uint32_t look(bool in_order)
{
    uint32_t before[TASKS], n = 0;
    struct seen seen = { 0 };

    for (uint32_t i = 0; i < TASKS; i++)
        before[i] = wb_word_load(&turns[i], WB_ACQUIRE);
    if (in_order)
        wb_part_waiters.look_in_order(&queues[0], s, see, &seen);
    else
        (void)wb_part_waiters.look(&queues[0], s, see, &seen);
    // See turn().
    wb_word_fence(WB_SEQ_CST);
    for (uint32_t i = 0; i < TASKS; i++) {
        const bool waited = before[i] % 2 != 0 && wb_word_load(&turns[i], WB_RELAXED) == before[i];
        CHECK(!waited || seen.times[i] != 0);
        CHECK(!in_order || seen.times[i] <= 1);
        n += waited;
    }
    return n;
}

TEST(nobody_who_waits_is_missed_while_others_come_and_go)
{
    static const uint32_t firsts[THREADS] = { 0, 1, 2 };
    pthread_t threads[THREADS];
    uint32_t waited = 0;

    build();
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, enter_and_leave, (void *)&firsts[i]) == 0);
    // As long as it takes until the others have run.
    for (uint32_t i = 0; i < LOOKS || waited <= LOOKS; i++)
        waited += look(i % 2 != 0);
    wb_word_store(&over, 1, WB_RELAXED);
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    // All have left: the looks are short again.
    for (uint32_t i = 0; i < TASKS; i++)
        wb_part_waiters.leave(&s->tasks[i]);
    struct seen seen = { 0 };
    CHECK(wb_part_waiters.look(&queues[0], s, see, &seen) == 8);
}
