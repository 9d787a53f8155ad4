// SPDX-License-Identifier: Apache-2.0
// Tasks that are recreated: they take their memory along, lose no message, and whatever is killed
// on the way, they run on. Skipped where a kernel loads no programs.

#include "suite.h"

#include "recreated.h"

enum { HEAP_BYTES = 64 << 10, MOVES = 1000 };

static struct harness *open_cores(uint32_t cores)
{
    return suite_open_with(&(struct harness_config){ .cores = cores, .poll_ns = 20000 },
                           sizeof(struct recreated));
}

static int no_entry(struct wb_task *self)
{
    suite_fail(self, __FILE__, __LINE__, "a task that is hosted has the entry of its program");
}

static struct wb_task *add(struct harness *h, const char *name, uint32_t core, bool restart,
                           bool *can)
{
    struct wb_task *task = suite_task(h, &(struct wb_task_config){ .name = name,
                                                                   .entry = no_entry,
                                                                   .core = core,
                                                                   .migratable = true,
                                                                   .restart = restart,
                                                                   .mode = WB_RECREATE,
                                                                   .heap_bytes = HEAP_BYTES });

    *can = harness_host(h, task, name);
    return task;
}

// A system with one task of the program; NULL, and the case is skipped, where there is none.
static struct harness *open_one(const char *name, struct wb_task **task)
{
    bool can;
    struct harness *h = open_cores(2);

    *task = add(h, name, 0, true, &can);
    if (can)
        return h;
    wb_test_skip("no program can be loaded here");
    harness_close(h);
    return NULL;
}

static void wait_for_steps(struct harness *h, uint32_t more)
{
    struct recreated *s = suite_state(h);
    const uint32_t steps = atomic_load(&s->steps);

    for (uint32_t ms = 0; atomic_load(&s->steps) < steps + more; ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    }
}

static void await_outcome(struct harness *h, const struct wb_task *task)
{
    for (uint32_t ms = 0; wb_migration_pending(task); ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    }
}

static enum wb_status move(struct harness *h, struct wb_task *task, uint32_t core)
{
    CHECK(wb_migration_request(task, core, WB_FOREVER, NULL) == WB_OK);
    await_outcome(h, task);
    return (enum wb_status)atomic_load(&task->outcome);
}

static void end(struct harness *h)
{
    struct recreated *s = suite_state(h);

    atomic_store(&s->end, 1);
    suite_wait(h);
    CHECK(harness_programs(h) == 0);
    harness_close(h);
}

TEST(a_recreated_task_has_its_memory_on_the_target)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t target = (i + 1) % 2;
        wait_for_steps(h, 3);
        CHECK(move(h, task, target) == WB_OK);
        wait_for_steps(h, 3);
        CHECK(atomic_load(&s->core) == target && wb_task_core(task) == target);
    }
    CHECK(atomic_load(&s->fresh) == 1 && atomic_load(&s->lives) == 9);
    CHECK(wb_task_migrations(task) == 8 && task->restarts == 0);
    CHECK(harness_programs(h) == 1);
    end(h);
}

TEST(a_recreation_waits_while_the_task_holds_a_mutex)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    atomic_store(&s->hold, 1);
    harness_start(h);
    wait_for_steps(h, 2);
    CHECK(move(h, task, 1) == WB_ERR_HELD);
    wait_for_steps(h, 2);
    CHECK(wb_task_core(task) == 0 && atomic_load(&s->lives) == 1);
    end(h);
}

TEST(a_recreation_that_finds_the_transfer_buffer_taken_leaves_the_task_on_its_source)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    wait_for_steps(h, 2);
    atomic_store(&harness_system(h)->transfer_owner, 99);
    CHECK(move(h, task, 1) == WB_ERR_FULL);
    wait_for_steps(h, 2);
    CHECK(wb_task_core(task) == 0 && atomic_load(&s->lives) == 1);
    atomic_store(&harness_system(h)->transfer_owner, 0);
    CHECK(move(h, task, 1) == WB_OK);
    end(h);
}

// ---- Streams ------------------------------------------------------------------------------------

static int sender(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);
    struct wb_port *out = wb_port_find(self, "out", 0);

    for (uint32_t i = 0; !wb_stopping(self); i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        atomic_store(&s->sent, i + 1);
    }
    return 0;
}

// Every message once and in order; one may come twice for each life of the relay that was cut
// short.
static int receiver(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);
    struct wb_port *in = wb_port_find(self, "in", 0);
    uint32_t number;

    while (wb_port_receive(in, &number, WB_FOREVER) == WB_OK) {
        const uint32_t expected = atomic_load(&s->expected);
        EXPECT(self, number == expected || number + 1 == expected);
        if (number == expected)
            atomic_store(&s->expected, number + 1);
        else
            atomic_fetch_add(&s->repeated, 1);
        wb_checkpoint();
    }
    atomic_store(&s->closed, 1);
    return 0;
}

static struct harness *open_stream(uint32_t cores, uint32_t ends, struct wb_task **task)
{
    bool can;
    struct harness *h = open_cores(cores);
    const struct wb_channel_config first = { .name = "first",
                                             .slots = RECREATED_SLOTS,
                                             .slot_bytes = 4 };
    const struct wb_channel_config second = { .name = "second",
                                              .slots = RECREATED_SLOTS,
                                              .slot_bytes = 4 };
    struct wb_task *from =
        suite_task(h, &(struct wb_task_config){ .name = "sender", .entry = sender, .core = ends });
    struct wb_task *to = suite_task(
        h, &(struct wb_task_config){ .name = "receiver", .entry = receiver, .core = ends });

    *task = add(h, "relay", 0, true, &can);
    suite_channel(h, &first, from, *task);
    suite_channel(h, &second, *task, to);
    if (can)
        return h;
    wb_test_skip("no program can be loaded here");
    harness_close(h);
    return NULL;
}

static void expect_all_came(struct harness *h, const struct wb_task *task, uint32_t repeated)
{
    const struct recreated *s = suite_state(h);

    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(atomic_load(&s->closed) == 1);
    CHECK(atomic_load(&s->expected) == atomic_load(&s->sent));
    CHECK(atomic_load(&s->repeated) <= repeated);
    if (task->restarts == 0)
        CHECK(atomic_load(&s->passed) == atomic_load(&s->sent));
    CHECK(harness_programs(h) == 0);
    harness_close(h);
}

TEST(a_thousand_recreations_lose_double_and_reorder_nothing)
{
    struct wb_task *task;
    struct harness *h = open_stream(2, 0, &task);

    if (h == NULL)
        return;
    const uint32_t moves = suite_count(MOVES);
    struct recreated *s = suite_state(h);
    harness_start(h);
    for (uint32_t i = 0; i < moves; i++) {
        CHECK(move(h, task, (i + 1) % 2) == WB_OK);
        CHECK(harness_programs(h) <= 2);
    }
    CHECK(wb_task_migrations(task) == moves && task->restarts == 0);
    CHECK(atomic_load(&s->fresh) == 1);
    // Its memory did not grow: one block for what it keeps, one for the data of that.
    CHECK(task->heap.used_bytes == task->heap.peak_bytes);
    expect_all_came(h, task, 0);
}
