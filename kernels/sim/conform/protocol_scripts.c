// SPDX-License-Identifier: Apache-2.0
// Scripts whose tasks move, also where they wait, and are stopped anywhere.

#include "protocol.h"
#include "scripted.h"

enum { CORES = 3, TURNS = 25, MOVES = 20 };

static int mover(struct wb_task *self)
{
    struct wb_word *moves = suite_shared(self);

    for (uint32_t i; (i = wb_word_load(moves, WB_SEQ_CST)) < MOVES;) {
        struct wb_task *task = &self->system->tasks[i % SCRIPTED];
        wb_word_store(moves, i + 1, WB_SEQ_CST);
        protocol_move(self, task, (wb_task_core(task) + 1) % CORES);
        wb_sleep_until(wb_now_ns() + 500);
    }
    return 0;
}

static struct harness *open_scripts(void)
{
    struct harness *h = scripted_open(CORES, TURNS);

    suite_task(h,
               &(struct wb_task_config){
                   .name = "mover", .entry = mover, .core = 2, .priority = 16, .restart = true });
    return h;
}

// A turn that a kernel was stopped in may be counted twice, or not at all.
static const char *check(struct harness *h, const struct fault *fault)
{
    const uint32_t killed = protocol_kills(fault);

    for (uint32_t i = 0; i < SCRIPTED; i++) {
        const uint64_t turns = scripted_firings(h, i);
        if (turns + killed < TURNS || turns > TURNS + killed)
            return "a script has not made its turns";
    }
    return NULL;
}

TEST(scripts_of_tasks_that_move)
{
    protocol_inject(&(struct protocol){
        .open = open_scripts, .check = check, .cores = CORES, .migrations = 10 });
}
