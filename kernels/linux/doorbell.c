// SPDX-License-Identifier: Apache-2.0
// The doorbell: how a kernel sleeps, and how the others end that.

#include "clock.h"
#include "private.h"

bool doorbell_sleep(struct wb_core *core, uint64_t until_ns, bool idle)
{
    _Atomic uint32_t *sleeping = &linux_core(core)->sleeping;
    const uint64_t now_ns = clock_now_ns();
    bool slept = false;

    // seq_cst against wb_kernel_doorbell(): either we see the note, or that all tasks are over, or
    // the ringer sees us asleep.
    atomic_store_explicit(sleeping, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&core->inbox.summary, memory_order_seq_cst) == 0 &&
        atomic_load_explicit(&core->system->live, memory_order_seq_cst) != 0 && until_ns > now_ns) {
        if (idle)
            wb_record_event(core, WB_EVENT_SLEEP, UINT32_MAX, 0, 0, now_ns);
        futex(sleeping, FUTEX_WAIT, 1, until_ns == WB_FOREVER ? WB_FOREVER : until_ns - now_ns);
        if (idle)
            wb_record_event(core, WB_EVENT_AWAKE, UINT32_MAX, 0, 0, clock_now_ns());
        slept = true;
    }
    atomic_store_explicit(sleeping, 0, memory_order_relaxed);
    return slept;
}

void wb_kernel_doorbell(uint32_t core)
{
    _Atomic uint32_t *sleeping = &linux_core(kernel_system()->cores[core])->sleeping;

    // See doorbell_sleep(). Only the one that clears the flag makes the system call.
    if (atomic_load_explicit(sleeping, memory_order_seq_cst) != 0 &&
        atomic_exchange_explicit(sleeping, 0, memory_order_relaxed) != 0)
        futex(sleeping, FUTEX_WAKE, 1, WB_FOREVER);
}
