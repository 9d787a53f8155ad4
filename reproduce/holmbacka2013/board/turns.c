// SPDX-License-Identifier: Apache-2.0
// What the experiments on a board need besides the players: who moves them when, and turns.
//
// QEMU with -icount executes one core at a time, and its clock counts the instructions of all. A
// core would get the faster the fewer others have something to do. So each core has its turn: in
// each round of `turn_us` times the cores, its players run for one turn, while all other cores wait
// in the most urgent of their tasks. Then a core is as fast as a quarter of QEMU's clock says,
// whatever the others do.
#include "wb/wb.h"

enum {
    NS_PER_US = 1000,
    MIGRATION_NS = 2000000000,
    TICKS_NS = 2000000,  // by so much a sleep may last longer
};

static double param(const struct wb_task *self, const char *name)
{
    return wb_param_number(wb_task_app(self), name, 0);
}

static uint64_t end_of_run(const struct wb_task *self)
{
    return wb_now_ns() + (uint64_t)(param(self, "seconds") * 1e9);
}

// Without giving the core away: its players are to wait, too.
static void wait_until(uint64_t time_ns)
{
    while (wb_now_ns() < time_ns)
        __asm__ volatile("dsb\n wfi" ::: "memory");
}

int turn(struct wb_task *self)
{
    const uint64_t turn_ns = (uint64_t)param(self, "turn_us") * NS_PER_US, end = end_of_run(self);
    const uint64_t round_ns = turn_ns * (uint64_t)param(self, "cores");

    while (turn_ns > 0 && !wb_stopping(self) && wb_now_ns() < end) {
        const uint64_t round = wb_now_ns() / round_ns * round_ns;
        uint64_t begin = round + wb_task_core(self) * turn_ns;

        if (wb_now_ns() + TICKS_NS >= begin + turn_ns)
            begin += round_ns;
        wait_until(begin);
        wb_sleep_until(begin + turn_ns - TICKS_NS);
    }
    return 0;
}

// Moves player `i` at element `i` of `move_s` to that of `move_to`, in the order of the players.
int mover(struct wb_task *self)
{
    const struct wb_app *app = wb_task_app(self);
    const uint64_t start = wb_now_ns();
    struct wb_task *player;

    for (uint32_t i = 0; (player = wb_task_find(app, "video", i)) != NULL; i++) {
        const double at = wb_param_element(app, "move_s", i, -1);

        if (at < 0)
            continue;
        wb_sleep_until(start + (uint64_t)(at * 1e9));
        const uint32_t core = (uint32_t)wb_param_element(app, "move_to", i, 0);
        if (wb_migrate(player, core, MIGRATION_NS) != WB_OK)
            wb_task_fail(self, "a player did not move");
    }
    return 0;
}
