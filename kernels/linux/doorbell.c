// SPDX-License-Identifier: Apache-2.0
// The doorbell: how a kernel sleeps, and how the others end that.

#define _GNU_SOURCE
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "guest.h"
#include "private.h"

// Where the system has guests, a kernel sleeps at an eventfd, which emulators know.
static void sleep_at(int doorbell, uint64_t ns)
{
    const struct timespec timeout = { .tv_sec = (time_t)(ns / 1000000000u),
                                      .tv_nsec = (long)(ns % 1000000000u) };
    struct pollfd look = { .fd = doorbell, .events = POLLIN };
    uint64_t rings;

    // Nobody reads it but this kernel. A signal ends the sleep, as it ends that at the futex.
    if (ppoll(&look, 1, ns == WB_FOREVER ? NULL : &timeout, NULL) > 0)
        (void)!read(doorbell, &rings, sizeof rings);
}

// Of a system with guests, one for each core. The kernels inherit them; -1: none.
static struct {
    int doorbells[WB_GUEST_CORES];
    bool are_used, is_guest[WB_GUEST_CORES];
} d;

void doorbell_use(uint32_t core, int doorbell, bool is_guest)
{
    d.are_used = true;
    d.doorbells[core] = doorbell;
    d.is_guest[core] = is_guest;
}

void doorbell_use_none(void)
{
    d.are_used = false;
}

static void sleep_for(struct wb_core *core, uint64_t ns)
{
    if (d.are_used)
        sleep_at(d.doorbells[core->index], ns);
    else
        futex(&linux_core(core)->sleeping, FUTEX_WAIT, 1, ns);
}

static void ring(int doorbell)
{
    const uint64_t one = 1;

    (void)!write(doorbell, &one, sizeof one);
}

bool doorbell_sleep(struct wb_core *core, uint64_t until_ns, bool idle)
{
    struct wb_swapped *sleeping = &linux_core(core)->sleeping;
    const uint64_t now_ns = clock_now_ns();
    bool slept = false;

    // seq_cst against wb_kernel_doorbell(): either we see the note, or that all tasks are over, or
    // the ringer sees us asleep.
    (void)wb_word_swap(sleeping, 1, WB_SEQ_CST);
    if (wb_word_load(&core->inbox.summary, WB_SEQ_CST) == 0 &&
        wb_word_load(&core->system->live, WB_SEQ_CST) != 0 && until_ns > now_ns) {
        if (idle)
            wb_record_event(core, WB_EVENT_SLEEP, UINT32_MAX, 0, 0, now_ns);
        sleep_for(core, until_ns == WB_FOREVER ? WB_FOREVER : until_ns - now_ns);
        if (idle)
            wb_record_event(core, WB_EVENT_AWAKE, UINT32_MAX, 0, 0, clock_now_ns());
        slept = true;
    }
    (void)wb_word_swap(sleeping, 0, WB_RELAXED);
    return slept;
}

void wb_kernel_doorbell(uint32_t core)
{
    struct wb_swapped *sleeping = &linux_core(kernel_system()->cores[core])->sleeping;

    // What its cores do meanwhile is a guest's own business.
    if (d.are_used && d.is_guest[core]) {
        ring(d.doorbells[core]);
        return;
    }
    // See doorbell_sleep(). Only the one that clears the flag makes the system call.
    if (wb_word_load(sleeping, WB_SEQ_CST) == 0 || wb_word_swap(sleeping, 0, WB_RELAXED) == 0)
        return;
    if (d.are_used)
        ring(d.doorbells[core]);
    else
        futex(sleeping, FUTEX_WAKE, 1, WB_FOREVER);
}
