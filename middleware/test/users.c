// SPDX-License-Identifier: Apache-2.0
#include "users.h"

#include "check.h"

static struct wb_swapped users;
static uint32_t added;

static int move(struct wb_task *self)
{
    const struct wb_system *system = self->system;

    for (uint32_t i = 0; wb_word_load(&users, WB_SEQ_CST) != 0; i++) {
        const enum wb_status status =
            wb_migrate(&system->tasks[i % added], i / added % system->n_cores, 5000000);
        CHECK(status == WB_OK || status == WB_ERR_TIMEOUT || status == WB_ERR_BUSY ||
              status == WB_ERR_GONE || status == WB_ERR_HELD);
        wb_sleep_until(wb_now_ns() + 100000);
    }
    return 0;
}

void users_add(struct wb_system *system, uint32_t n, wb_task_entry *entry)
{
    added = n;
    wb_word_init(&users, n);
    for (uint32_t i = 0; i < n; i++) {
        const char name[] = { (char)('a' + i), 0 };
        build_task(system, name, i % system->n_cores, 3 + i, entry);
    }
    build_task(system, "mover", 1, 9, move);
}

void users_leave(void)
{
    wb_word_sub(&users, 1, WB_SEQ_CST);
}
