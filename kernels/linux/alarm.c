// SPDX-License-Identifier: Apache-2.0
// A signal at a given time. The running task may do nothing but checkpoints, which read no clock,
// while a more urgent one's sleep ends.

#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "private.h"

// This process's own; `armed_ns` is 0 when no signal is to come.
static timer_t the_timer;
static bool has_timer;
static WB_STORED(uint64_t) armed_ns;
static void (*on_alarm)(void);

static void on_signal(int number)
{
    (void)number;
    wb_word_store(&armed_ns, 0, WB_RELAXED);
    on_alarm();
}

void alarm_init(void (*ring)(void))
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };

    on_alarm = ring;
    sigfillset(&action.sa_mask);
    has_timer = sigaction(SIGRTMIN, &action, NULL) == 0 &&
                timer_create(CLOCK_MONOTONIC, &event, &the_timer) == 0;
}

void alarm_set(uint64_t at_ns, uint64_t now_ns)
{
    const uint64_t armed = wb_word_load(&armed_ns, WB_RELAXED);
    const uint64_t left_ns = at_ns > now_ns ? at_ns - now_ns : 1;
    const struct itimerspec when = { .it_value = { .tv_sec = (time_t)(left_ns / 1000000000),
                                                   .tv_nsec = (long)(left_ns % 1000000000) } };

    // One that comes too early does no harm: whoever it interrupts looks, and sets it anew.
    if (!has_timer || (armed != 0 && armed <= at_ns))
        return;
    wb_word_store(&armed_ns, at_ns, WB_RELAXED);
    timer_settime(the_timer, 0, &when, NULL);
}
