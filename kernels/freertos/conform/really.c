// SPDX-License-Identifier: Apache-2.0
// Computing that is not modelled takes the time that it takes, and none besides.

#include "suite.h"

static int computes_really(struct wb_task *self)
{
    const uint64_t from_ns = wb_now_ns(), second_ns = 1000000000;

    EXPECT(self, wb_compute(self));
    EXPECT(self, wb_now_ns() - from_ns < second_ns);
    return 0;
}

TEST(a_firing_that_is_computed_really_takes_no_modelled_time)
{
    static const uint64_t cycles[] = { UINT32_MAX };  // ten seconds
    struct harness *h = suite_open(1, 0);
    struct wb_task *task =
        suite_task(h, &(struct wb_task_config){ .name = "really", .entry = computes_really });

    CHECK(wb_task_set_work(task, &(struct wb_work_config){ .cycles = cycles, .n_cycles = 1 }) ==
          WB_OK);
    suite_run(h);
    harness_close(h);
}
