// SPDX-License-Identifier: Apache-2.0
// What calls between the kernels and the middleware go through where its words are moments
// (words.h).
#include "protocol.h"
#include "sim_host.h"

bool __real_wb_checkpoint_wanted(const struct wb_task *task);
bool __wrap_wb_checkpoint_wanted(const struct wb_task *task);

// The kernel looks, in one step (tools/c.mk lets its calls come here).
bool __wrap_wb_checkpoint_wanted(const struct wb_task *task)
{
    const bool quiet = sim.quiet;

    sim.quiet = true;
    const bool wanted = __real_wb_checkpoint_wanted(task);
    sim.quiet = quiet;
    return wanted;
}

void words_unblock(struct wb_task *task)
{
    sim_moment();
    if (wb_task_core(task) != wb_kernel_core())
        wb_test_fail(__FILE__, __LINE__, "a core unblocks only what is its own");
    wb_kernel_unblock(task);
}
