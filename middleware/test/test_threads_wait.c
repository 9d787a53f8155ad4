// SPDX-License-Identifier: Apache-2.0
// Waiting for a set between cores that really run at once, while those that wait migrate.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"
#include "wb/wb.h"

enum { CORES = 3, SENDERS = 2, WAITERS = 2, MESSAGES = 4000 };

static struct wb_semaphore permits;
static uint32_t guarded;  // not atomic: what is there before a permit is given
static struct wb_swapped sent, waiters, given, taken;

static int send(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < MESSAGES && !threads_are_late(); i++) {
        CHECK(wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_word_add(&sent, 1, WB_SEQ_CST);
        wb_yield();
    }
    return 0;
}

static int give(struct wb_task *self)
{
    (void)self;
    while (wb_word_load(&waiters, WB_SEQ_CST) != 0) {
        if (wb_word_load(&permits.value, WB_SEQ_CST) == 0 &&
            wb_word_load(&given, WB_SEQ_CST) == wb_word_load(&taken, WB_SEQ_CST)) {
            guarded++;
            wb_word_add(&given, 1, WB_SEQ_CST);
            CHECK(wb_semaphore_give(&permits) == WB_OK);
        }
        wb_yield();
    }
    return 0;
}

static void take_permit(void)
{
    if (wb_semaphore_take(&permits, 0) != WB_OK)
        return;
    CHECK(guarded == wb_word_load(&given, WB_SEQ_CST));
    wb_word_add(&taken, 1, WB_SEQ_CST);
}

static int wait_for_all(struct wb_task *self)
{
    struct wb_wait set[SENDERS + 1] = { { .port = wb_port_find_any(self, "in", 0) },
                                        { .port = wb_port_find_any(self, "in", 1) },
                                        { .semaphore = &permits } };
    uint32_t next[SENDERS] = { 0 }, closed = 0, message;

    while (closed != 3) {
        const int first = wb_wait(set, SENDERS + 1, WB_FOREVER);
        CHECK(first >= 0 && first <= SENDERS && set[first].ready);
        for (uint32_t i = 0; i < SENDERS; i++) {
            if (!set[i].ready)
                continue;
            const enum wb_status status = wb_port_receive(set[i].port, &message, 0);
            CHECK(status == WB_ERR_GONE || (status == WB_OK && message == next[i]++));
            closed |= (uint32_t)(status == WB_ERR_GONE) << i;
        }
        if (set[SENDERS].ready)
            take_permit();
        wb_checkpoint();
    }
    wb_word_sub(&waiters, 1, WB_SEQ_CST);
    return 0;
}

static int move_waiters(struct wb_task *self)
{
    for (uint32_t i = 0; wb_word_load(&waiters, WB_SEQ_CST) != 0; i++) {
        struct wb_task *task = wb_task_find(wb_task_app(self), "waiter", i % WAITERS);
        const enum wb_status status = wb_migrate(task, i / WAITERS % CORES, 5000000);
        CHECK(status == WB_OK || status == WB_ERR_TIMEOUT || status == WB_ERR_BUSY ||
              status == WB_ERR_GONE);
        wb_sleep_until(wb_now_ns() + 100000);
    }
    return 0;
}

static struct wb_task *add_waiter(struct wb_system *s, uint32_t index)
{
    static unsigned char stack[64];
    struct wb_task *task;

    CHECK(wb_task_add(s,
                      &(struct wb_task_config){ .name = "waiter",
                                                .index = index,
                                                .core = index,
                                                .priority = 3,
                                                .entry = wait_for_all,
                                                .migratable = true,
                                                .moves_at_waits = index == 1,
                                                .stack = stack,
                                                .stack_bytes = sizeof stack },
                      &task) == WB_OK);
    return task;
}

TEST(tasks_that_wait_for_channels_and_a_semaphore_miss_nothing)
{
    static const char *const names[WAITERS][SENDERS] = { { "a", "b" }, { "c", "d" } };
    struct wb_system *s = threads_open(CORES);

    CHECK(wb_semaphore_init(&permits, 0, 1) == WB_OK);
    wb_word_init(&waiters, WAITERS);
    for (uint32_t i = 0; i < WAITERS; i++) {
        struct wb_task *waiter = add_waiter(s, i);
        for (uint32_t j = 0; j < SENDERS; j++) {
            struct wb_channel *channel = build_channel(s, names[i][j], 1, sizeof(uint32_t), j == 1);
            build_port(build_task(s, names[i][j], (i + j) % CORES, 3, send), channel, WB_OUT);
            build_port(waiter, channel, WB_IN);
        }
    }
    build_task(s, "giver", 2, 3, give);
    build_task(s, "mover", 1, 9, move_waiters);
    threads_run();
    CHECK(wb_word_load(&sent, WB_SEQ_CST) > 0);
}
