// SPDX-License-Identifier: Apache-2.0
// How long an idle kernel polls before it sleeps: always as long as it is told, or as long as what
// came of late makes it worth.

#define _GNU_SOURCE
#include "one_task.h"
#include "wb/wb.h"

enum { MS = 1000000, PATIENCE_MS = 60000 };
enum { SPIN_MS = 10, LONG_MS = 40, SHORT_MS = 2, WAITS = 12, LAST = 6 };

// How long the kernel has polled in one of the last of several waits that are longer than it may
// poll: the least and the most. Linux may run another program in the midst of any of them.
struct shared {
    uint64_t least_ns, most_ns;
};

static int sleeper(struct wb_task *self)
{
    struct shared *s = wb_task_app(self)->state;
    const struct wb_counter *polled =
        &self->system->cores[wb_task_core(self)]->stats.idle_polling_ns;

    s->least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < WAITS; i++) {
        const uint64_t before_ns = wb_counter_get(polled);
        wb_sleep_until(wb_now_ns() + (uint64_t)LONG_MS * MS);
        const uint64_t ns = wb_counter_get(polled) - before_ns;
        if (i < WAITS - LAST)
            continue;
        s->least_ns = ns < s->least_ns ? ns : s->least_ns;
        s->most_ns = ns > s->most_ns ? ns : s->most_ns;
    }
    const uint64_t long_ns = wb_counter_get(polled);
    // However many short waits it takes beside other programs: each that is short doubles it.
    while (wb_counter_get(polled) - long_ns < (uint64_t)SPIN_MS * MS)
        wb_sleep_until(wb_now_ns() + (uint64_t)SHORT_MS * MS);
    return 0;
}

static struct shared run(bool adapts)
{
    const struct wb_host_config config = { .spin_ns = (uint64_t)SPIN_MS * MS,
                                           .spin_adapts = adapts };
    struct wb_host *host = one_task_open(config, sleeper, sizeof(struct shared));
    uint32_t bad_core;

    CHECK(wb_host_start(host, &bad_core) == WB_OK);
    CHECK(wb_host_wait(host, PATIENCE_MS).kind == WB_HOST_ENDED);
    const struct shared s = *(struct shared *)wb_host_system(host)->app.state;
    wb_host_close(host);
    return s;
}

TEST(a_kernel_that_adapts_polls_less_where_waits_are_long_and_again_once_they_are_short)
{
    const struct shared fixed = run(false), adapted = run(true);

    // After six waits that were too long, 10 ms have become 0.2.
    CHECK(fixed.most_ns >= (uint64_t)SPIN_MS * MS / 2);
    CHECK(adapted.least_ns < (uint64_t)SPIN_MS * MS / 4);
}
