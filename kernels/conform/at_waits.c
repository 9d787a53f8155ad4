// SPDX-License-Identifier: Apache-2.0
// Tasks whose waits are checkpoints: they are moved while nothing comes that they wait for.

#include "suite.h"

enum { KINDS = 5 };

struct state {
    struct wb_semaphore permits;
    struct wb_mutex mutex;
    struct wb_condition condition;
    struct wb_barrier barrier;
    struct wb_participant participants[2];
    struct wb_swapped begun, over;
    struct wb_word go;
    uint32_t hops;
};

static struct harness *open_cores(void)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);

    CHECK(wb_semaphore_init(&s->permits, 0, KINDS) == WB_OK);
    CHECK(wb_barrier_init(&s->barrier, s->participants, 2) == WB_OK);
    wb_condition_init(&s->condition);
    wb_mutex_init(&s->mutex);
    s->hops = suite_count(200);
    return h;
}

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry,
                           enum wb_mode mode)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .entry = entry,
                                                   .mode = mode,
                                                   .migratable = true,
                                                   .moves_at_waits = true });
}

// ---- Each wait, and no checkpoint ---------------------------------------------------------------

static void begin(const struct wb_task *self)
{
    struct state *s = suite_shared(self);
    wb_word_add(&s->begun, 1, WB_SEQ_CST);
}

static int receiver(struct wb_task *self)
{
    uint32_t message = 0;

    begin(self);
    EXPECT(self, wb_port_receive(wb_port_find_any(self, "in", 0), &message, WB_FOREVER) == WB_OK);
    EXPECT(self, message == 5);
    return 0;
}

static int taker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    begin(self);
    EXPECT(self, wb_semaphore_take(&s->permits, WB_FOREVER) == WB_OK);
    return 0;
}

static int of_a_set(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set[] = { { .semaphore = &s->permits },
                             { .port = wb_port_find_any(self, "in", 0) } };

    begin(self);
    EXPECT(self, wb_wait(set, 2, WB_FOREVER) >= 0);
    return 0;
}

static int listener(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
    begin(self);
    EXPECT(self, wb_condition_wait(&s->condition, &s->mutex, WB_FOREVER) == WB_OK);
    EXPECT(self, wb_word_load(&s->go, WB_SEQ_CST) == 1);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
    return 0;
}

static int early(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    begin(self);
    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
    return 0;
}

static int sleeper(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    begin(self);
    while (wb_word_load(&s->go, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 50000000);
    return 0;
}

static void give_to_all(struct wb_task *self, struct state *s)
{
    wb_word_store(&s->go, 1, WB_SEQ_CST);
    EXPECT(self, wb_semaphore_give(&s->permits) == WB_OK);
    EXPECT(self, wb_semaphore_give(&s->permits) == WB_OK);
    wb_condition_signal(&s->condition);
    EXPECT(self, wb_barrier_wait(&s->barrier, WB_FOREVER) >= 0);
}

// Nothing is sent or given before all have moved so often.
static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_system *system = self->system;
    const uint32_t moved = self->id;  // all tasks before it
    const uint32_t message = 5;

    while (wb_word_load(&s->begun, WB_SEQ_CST) != moved)
        wb_sleep_until(wb_now_ns() + 10000);
    for (uint32_t i = 0; i < s->hops * moved; i++) {
        struct wb_task *task = &system->tasks[i % moved];
        const uint32_t next = (wb_task_core(task) + 1) % system->n_cores;
        EXPECT(self, wb_migrate(task, next, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_task_core(task) == next);
    }
    for (struct wb_port *out = NULL; (out = wb_port_next(self, out)) != NULL;)
        EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
    give_to_all(self, s);
    return 0;
}

static void connect(struct harness *h, struct wb_task *from, struct wb_task *to)
{
    const char name[] = { 'c', (char)('0' + harness_system(h)->n_channels), 0 };
    struct wb_channel *channel;

    CHECK(wb_channel_add(harness_system(h),
                         &(struct wb_channel_config){ .name = name, .slots = 1, .slot_bytes = 4 },
                         &channel) == WB_OK);
    CHECK(wb_port_add(from, channel, WB_OUT, "out", harness_system(h)->n_channels) == WB_OK);
    CHECK(wb_port_add(to, channel, WB_IN, "in", 0) == WB_OK);
}

static void move_all(enum wb_mode mode)
{
    struct harness *h = open_cores();
    struct wb_task *a = add(h, "receiver", receiver, mode), *b = add(h, "set", of_a_set, mode);

    add(h, "taker", taker, mode);
    add(h, "sleeper", sleeper, mode);
    add(h, "listener", listener, mode);
    add(h, "early", early, mode);
    const uint32_t moved = harness_system(h)->n_tasks;
    struct wb_task *from =
        suite_task(h, &(struct wb_task_config){ .name = "mover", .entry = mover, .core = 1 });
    connect(h, from, a);
    connect(h, from, b);
    suite_run(h);
    for (uint32_t i = 0; i < moved; i++)
        CHECK(wb_task_migrations(&harness_system(h)->tasks[i]) ==
              ((const struct state *)suite_state(h))->hops);
    harness_close(h);
}

TEST(tasks_are_handed_off_while_they_wait_and_wait_on)
{
    move_all(WB_HANDOFF);
}

TEST(tasks_are_replicated_while_they_wait_and_wait_on)
{
    if ((wb_kernel_can() & WB_CAN_REPLICATE) == 0) {
        wb_test_skip("this kernel has no private memory");
        return;
    }
    move_all(WB_REPLICATE);
}

// ---- What stands in the way ---------------------------------------------------------------------

static int locker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_lock(&s->go, 0) == WB_OK);
    begin(self);
    EXPECT(self, wb_semaphore_take(&s->permits, WB_FOREVER) == WB_OK);
    EXPECT(self, wb_unlock(&s->go) == WB_OK);
    wb_word_add(&s->over, 1, WB_SEQ_CST);
    EXPECT(self, wb_semaphore_take(&s->permits, WB_FOREVER) == WB_OK);
    return 0;
}

static int asker(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = wb_task_find(wb_task_app(self), "locker", 0);

    while (wb_word_load(&s->begun, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_ERR_HELD);
    EXPECT(self, wb_semaphore_give(&s->permits) == WB_OK);
    while (wb_word_load(&s->over, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_OK && wb_task_core(task) == 1);
    EXPECT(self, wb_semaphore_give(&s->permits) == WB_OK);
    return 0;
}

TEST(who_waits_with_an_address_locked_stays)
{
    struct harness *h = open_cores();

    add(h, "locker", locker, WB_HANDOFF);
    suite_task(h, &(struct wb_task_config){ .name = "asker", .entry = asker, .core = 1 });
    suite_run(h);
    harness_close(h);
}
