// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "watch.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "private.h"

// How often is looked, for each time that is had patience for; and how many looks more a task has
// to get to its next charge.
enum { POLLS = 10, GRACE = 2, PATIENCE_MS = 10000 };

static struct {
    uint64_t seen_ps;
    uint32_t polls;  // in a row at which no time had passed
    uint32_t patience_ms;
    bool expired;
    struct watch_report report;
} watch;

// Interrupts the one thread there is, in the event loop or outside.
static void look_at_time(int number)
{
    (void)number;
    if (!sim.run.on || sim.run.halted || sim.engine->now_ps != watch.seen_ps) {
        watch.polls = 0;
        watch.seen_ps = sim.run.on ? sim.engine->now_ps : 0;
        return;
    }
    if (++watch.polls < POLLS)
        return;
    watch.expired = true;
    watch.report = (struct watch_report){
        .task = sim.self,
        .core = sim.here != NULL ? sim.here->core->index : WB_CORE_NONE,
        .patience_ms = watch.patience_ms,
    };
    // Best is to leave where the engine is whole.
    sim.pause_at.event = sim.counted.events + 2;
    sim_count(1);
    if (watch.polls > POLLS + GRACE)
        sim_halt();
}

void watch_open(void)
{
    const char *given = getenv("WHIMBREL_SIM_PATIENCE_MS");
    const long ms = given != NULL ? strtol(given, NULL, 10) : 0;

    watch.patience_ms = ms > 0 && ms < PATIENCE_MS ? (uint32_t)ms : PATIENCE_MS;
    const long every_ns = (long)watch.patience_ms * 1000000L / POLLS;
    const struct timespec every = { .tv_sec = every_ns / 1000000000,
                                    .tv_nsec = every_ns % 1000000000 };
    // On a stack of its own (fault_catch()): the task's may be small.
    const struct sigaction action = { .sa_handler = look_at_time,
                                      .sa_flags = SA_RESTART | SA_ONSTACK };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM };
    timer_t timer;

    sigaction(SIGVTALRM, &action, NULL);
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
        timer_settime(timer, 0, &(struct itimerspec){ .it_interval = every, .it_value = every },
                      NULL);
}

void watch_begin(void)
{
    watch.polls = 0;
    watch.expired = false;
}

bool watch_expired(void)
{
    return watch.expired;
}

struct watch_report watch_report(void)
{
    return watch.report;
}
