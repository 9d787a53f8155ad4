// SPDX-License-Identifier: Apache-2.0
// Scripts between kernels: tasks that lock, signal, meet and send while they move, and while
// kernels are killed.

#include "scripted.h"

enum { CORES = 2 };

static int mover(struct wb_task *self)
{
    struct wb_system *system = self->system;
    uint32_t random = 21;

    for (;;) {
        struct wb_task *task = &system->tasks[suite_random(&random) % SCRIPTED];
        bool all_over = true;
        for (uint32_t i = 0; i < SCRIPTED; i++)
            all_over &= wb_state_is_over(wb_word_load(&system->tasks[i].owner_state, WB_SEQ_CST));
        if (all_over)
            return 0;
        suite_move_anywhere(self, task, &random);
        wb_sleep_until(wb_now_ns() + 20000);
    }
}

TEST(scripts_do_what_they_say_while_their_tasks_move)
{
    const uint32_t turns = suite_count(500);
    struct harness *h = scripted_open(CORES, turns);

    suite_task(h, &(struct wb_task_config){
                      .name = "mover", .entry = mover, .core = 1, .priority = SUITE_PRIORITY + 4 });
    suite_run(h);
    for (uint32_t i = 0; i < SCRIPTED; i++)
        CHECK(scripted_firings(h, i) == turns);
    harness_close(h);
}

// One turn may be counted twice or not at all.
TEST(scripts_go_on_where_they_were_when_a_kernel_is_killed_at_any_time)
{
    uint32_t random = 55;

    for (uint32_t round = 0; round < suite_count(30); round++) {
        const uint32_t turns = 40;
        struct harness *h = scripted_open(CORES, turns);

        harness_start(h);
        suite_compute(suite_random(&random) % 1000000);
        if (!suite_kill(h, 0))
            return;
        suite_wait(h);
        for (uint32_t i = 0; i < SCRIPTED; i++)
            CHECK(scripted_firings(h, i) + 1 >= turns && scripted_firings(h, i) <= turns + 1);
        harness_close(h);
    }
}
