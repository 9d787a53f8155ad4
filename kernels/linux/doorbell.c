// SPDX-License-Identifier: Apache-2.0
// The doorbell: how a kernel sleeps, and how the others end that.

#include "clock.h"
#include "private.h"

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
        futex(sleeping, FUTEX_WAIT, 1, until_ns == WB_FOREVER ? WB_FOREVER : until_ns - now_ns);
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

    // See doorbell_sleep(). Only the one that clears the flag makes the system call.
    if (wb_word_load(sleeping, WB_SEQ_CST) != 0 && wb_word_swap(sleeping, 0, WB_RELAXED) != 0)
        futex(sleeping, FUTEX_WAKE, 1, WB_FOREVER);
}
