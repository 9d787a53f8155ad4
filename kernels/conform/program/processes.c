// SPDX-License-Identifier: Apache-2.0
// The tasks of the suite's program that need a process of their own.
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#include <unistd.h>

#include "recreated.h"
#include "wb/wb.h"

int leaver(struct wb_task *self);
int computer(struct wb_task *self);
int worker(struct wb_task *self);
int waiter(struct wb_task *self);

int leaver(struct wb_task *self)
{
    (void)self;
    _exit(7);
}

static uint64_t processor_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// Says how much of the time it has the core.
int computer(struct wb_task *self)
{
    struct recreated *s = wb_task_app(self)->state;
    const uint64_t began_ns = wb_now_ns(), ran_ns = processor_ns();

    while (wb_now_ns() - began_ns < 400000000)
        wb_checkpoint();
    s->ran_ns = processor_ns() - ran_ns;
    s->took_ns = wb_now_ns() - began_ns;
    return 0;
}

// One job of 20 ms, without a checkpoint.
int worker(struct wb_task *self)
{
    const uint64_t end_ns = processor_ns() + 20000000;

    while (processor_ns() < end_ns)
        ;
    (void)wb_period_wait(self);
    return 0;
}

// Until a word says so that the application's state begins with.
int waiter(struct wb_task *self)
{
    const struct wb_word *over = wb_task_app(self)->state;

    while (wb_word_load(over, WB_ACQUIRE) == 0)
        wb_checkpoint();
    return 0;
}
