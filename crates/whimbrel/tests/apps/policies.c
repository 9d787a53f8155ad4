// SPDX-License-Identifier: Apache-2.0
// Tasks whose places and jobs can be watched, and a policy that comes with the application.
#define _GNU_SOURCE
#include <sys/timerfd.h>
#include <time.h>

#include "wb/policy.h"
#include "wb/wb.h"

// Computes in small pieces until the run should end.
int spinner(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        const uint64_t end_ns = wb_now_ns() + 100000;
        while (wb_now_ns() < end_ns)
            ;
        wb_checkpoint();
        wb_yield();
    }
    return 0;
}

// Does nothing, once per period.
int ticker(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        (void)wb_period_wait(self);
        wb_checkpoint();
    }
    return 0;
}

// Waits for a message that nobody but itself could send.
int waiter(struct wb_task *self)
{
    uint32_t message;

    return wb_port_receive(wb_port_find(self, "in", 0, sizeof message), &message, WB_FOREVER) ==
           WB_OK;
}

// Waits for a timer of the operating system.
int file_waiter(struct wb_task *self)
{
    const struct itimerspec in_a_moment = { .it_value.tv_nsec = 300000000 };
    struct wb_wait set = { .file = timerfd_create(CLOCK_MONOTONIC, 0), .events = WB_FILE_READABLE };

    (void)self;
    return timerfd_settime(set.file, 0, &in_a_moment, NULL) != 0 ||
           wb_wait(&set, 1, WB_FOREVER) != 0;
}

// Moves the first task to core `core`, and always a task that there is not.
static void decide(const struct wb_snapshot *snapshot, const int64_t *params,
                   struct wb_decision *decision)
{
    const uint32_t core = (uint32_t)params[0];

    if (snapshot->tasks[0].movable && snapshot->tasks[0].core != core)
        wb_decide_move(decision, 0, core);
    wb_decide_move(decision, 77, 0);
}

const struct wb_policy wb_policy_mine = {
    .name = "mine",
    .help = "moves the first task to a given core",
    .n_params = 1,
    .params = (const struct wb_policy_param[]){ { "core", "where to", 0, 0, 1 } },
    .decide = decide,
};

// No policy at all: it cannot decide.
const struct wb_policy wb_policy_hollow = { .name = "hollow" };

// It has none of the parameters that it promises.
const struct wb_policy wb_policy_bare = { .name = "bare", .n_params = 2, .decide = decide };
