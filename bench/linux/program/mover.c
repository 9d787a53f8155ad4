// SPDX-License-Identifier: Apache-2.0
// The task of recreate.c. Each of its lives begins with its memory, as the last one left it,
// and ends by asking for the next.

#include "mover.h"
#include "bench.h"

int mover(struct wb_task *self);

int mover(struct wb_task *self)
{
    struct recreate *shared = wb_task_app(self)->state;
    const uint64_t to_ns = wb_now_ns();
    const uint32_t moves = shared->incarnation++;

    if (moves == 0)
        bench_carry(self, shared->bytes);
    else if (wb_task_state(self) == NULL)
        wb_task_fail(self, "it came without its memory");
    bench_carry_check(self);
    if (moves > RECREATE_WARM_UP)
        shared->ns[moves - RECREATE_WARM_UP - 1] = (double)(to_ns - shared->from_ns);
    if (moves == RECREATE_WARM_UP + RECREATE_MOVES)
        return 0;
    shared->from_ns = wb_now_ns();
    return wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) == WB_OK ? 2 : 1;
}
