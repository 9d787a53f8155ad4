// SPDX-License-Identifier: Apache-2.0
// A stream through tasks of every mode, each of which moves to and fro all the time, on kernels
// that are never idle. CONFORM_SCALE=50 makes a million migrations of it.

#include <stdio.h>

#include "recreate.h"

enum { MOVES = 20000, CORES = 2, SLOTS = 4, RELAYS_MOST = 3, AHEAD = 32, BUSY_PRIORITY = 1 };
enum { WARM_UP_PART = 10, GROWTH_BYTES = 512 << 10 };

struct mixed {
    struct recreated recreated;  // first: the relay of the program knows nothing else
    uint32_t relays, moves_each;
    struct wb_task *relay[RELAYS_MOST];
    struct wb_swapped moved[RELAYS_MOST], crowded;
};

// ---- The stream ---------------------------------------------------------------------------------

static int sender(struct wb_task *self)
{
    struct mixed *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; !wb_stopping(self); i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_word_store(&s->recreated.sent, i + 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

// Its count is in its heap, a copy of it on its stack.
static int relay(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    uint32_t *expected = wb_calloc(1, sizeof *expected);
    uint32_t number, passed = 0;

    EXPECT(self, expected != NULL);
    for (; wb_port_receive(in, &number, WB_FOREVER) == WB_OK; passed++) {
        EXPECT(self, number == *expected && number == passed);
        ++*expected;
        EXPECT(self, wb_port_send(out, &number, WB_FOREVER) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

static int receiver(struct wb_task *self)
{
    struct mixed *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t number, expected = 0;

    for (; wb_port_receive(in, &number, WB_FOREVER) == WB_OK; expected++) {
        EXPECT(self, number == expected);
        wb_word_store(&s->recreated.expected, expected + 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

// ---- Who moves it -------------------------------------------------------------------------------

static uint32_t fewest(struct mixed *s)
{
    uint32_t moved = UINT32_MAX;

    for (uint32_t i = 0; i < s->relays; i++) {
        const uint32_t its = wb_word_load(&s->moved[i], WB_SEQ_CST);
        moved = its < moved ? its : moved;
    }
    return moved;
}

// The modes take turns although one is a thousand times as quick as another.
static int mover(struct wb_task *self)
{
    struct mixed *s = suite_shared(self);
    const uint32_t i = wb_task_index(self);
    struct wb_task *task = s->relay[i];

    while (wb_word_load(&s->moved[i], WB_SEQ_CST) < s->moves_each) {
        const enum wb_status status =
            wb_migrate(task, (wb_task_core(task) + 1) % CORES, WB_FOREVER);
        EXPECT(self, status == WB_OK || status == WB_ERR_FULL);
        wb_word_add(status == WB_OK ? &s->moved[i] : &s->crowded, 1, WB_SEQ_CST);
        while (wb_word_load(&s->moved[i], WB_SEQ_CST) > fewest(s) + AHEAD)
            wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

static int busy(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        wb_checkpoint();
        suite_relax();
    }
    return 0;
}

// ---- Laying out ---------------------------------------------------------------------------------

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry, uint32_t core,
                           enum wb_mode mode)
{
    return suite_task(
        h, &(struct wb_task_config){
               .name = name, .entry = entry, .core = core, .migratable = true, .mode = mode });
}

static void connect(struct harness *h, const char *name, struct wb_task *from, struct wb_task *to)
{
    suite_channel(h, &(struct wb_channel_config){ .name = name, .slots = SLOTS, .slot_bytes = 4 },
                  from, to);
}

// Recreated, by hand-off, replicated. False: the test is over, as skipped.
static bool add_relays(struct harness *h, struct mixed *s)
{
    struct wb_task *recreated = recreate_add(h, "relay", 0);

    if (recreated == NULL)
        return false;
    s->relay[s->relays++] = recreated;
    s->relay[s->relays++] = add(h, "handed", relay, 0, WB_HANDOFF);
    if (harness_private(h, 0, 1) != NULL)
        s->relay[s->relays++] = add(h, "replicated", relay, 1, WB_REPLICATE);
    return true;
}

static struct harness *open_mixed(void)
{
    static const char *const names[] = { "first", "second", "third" };
    struct harness *h = suite_open(CORES, sizeof(struct mixed));
    struct mixed *s = suite_state(h);
    struct wb_task *last = add(h, "sender", sender, 0, WB_HANDOFF);

    if (!add_relays(h, s))
        return NULL;
    s->moves_each = suite_count(MOVES) / s->relays + 1;
    for (uint32_t i = 0; i < s->relays; last = s->relay[i++]) {
        connect(h, names[i], last, s->relay[i]);
        suite_task(h, &(struct wb_task_config){
                          .name = "mover", .index = i, .entry = mover, .core = i % CORES });
    }
    connect(h, "last", last, add(h, "receiver", receiver, 1, WB_HANDOFF));
    for (uint32_t core = 0; core < CORES; core++)
        suite_task(h, &(struct wb_task_config){ .name = "busy",
                                                .index = core,
                                                .entry = busy,
                                                .core = core,
                                                .priority = BUSY_PRIORITY });
    return h;
}

// ---- The case -----------------------------------------------------------------------------------

// Supervises until every relay has moved so often. It may take hours, but not stand still.
static void wait_for_moves(struct harness *h, uint32_t moves)
{
    struct mixed *s = suite_state(h);
    uint32_t before = fewest(s);

    for (uint32_t ms = 0; before < moves; ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        suite_go_on(h);
        const uint32_t now = fewest(s);
        ms = now != before ? 0 : ms;
        before = now;
    }
}

TEST(tasks_of_every_mode_that_move_all_the_time_lose_double_and_reorder_nothing)
{
    struct harness *h = open_mixed();
    size_t before[CORES];

    if (h == NULL)
        return;
    struct mixed *s = suite_state(h);
    const uint64_t from_ns = wb_kernel_now_ns();
    harness_start(h);
    wait_for_moves(h, s->moves_each / WARM_UP_PART);
    for (uint32_t core = 0; core < CORES; core++)
        before[core] = harness_memory(h, core);
    wait_for_moves(h, s->moves_each);
    const double seconds = (double)(wb_kernel_now_ns() - from_ns) / 1e9;
    for (uint32_t core = 0; core < CORES; core++) {
        const size_t after = harness_memory(h, core);
        printf("# kernel %u: %u KiB resident after a tenth, %u KiB at the end\n", core,
               (unsigned int)(before[core] >> 10), (unsigned int)(after >> 10));
        CHECK(after <= before[core] + GROWTH_BYTES);
    }
    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_word_load(&s->recreated.expected, WB_SEQ_CST) ==
          wb_word_load(&s->recreated.sent, WB_SEQ_CST));
    for (uint32_t i = 0; i < s->relays; i++) {
        CHECK(wb_task_migrations(s->relay[i]) == s->moves_each);
        CHECK(s->relay[i]->heap.used_bytes == s->relay[i]->heap.peak_bytes ||
              s->relay[i]->heap.used_bytes == 0);
    }
    CHECK(harness_programs(h) == 0);
    printf("# %u migrations of %u modes, %u messages, %.1f s\n", s->relays * s->moves_each,
           s->relays, wb_word_load(&s->recreated.sent, WB_SEQ_CST), seconds);
    harness_close(h);
}
