// SPDX-License-Identifier: Apache-2.0
// Tasks of several cores, where kernels share them: whichever core is free runs one next, no wake
// is lost on the way, and who moves one says where it stays.

#include "suite.h"

enum { BOTH = 3, RING = 6, TOKENS = 3 };

struct state {
    struct wb_word stop;
    struct wb_swapped seen;         // a bit for each core that one has run on
    struct wb_word sent, expected;  // the sender's and the receiver's own: they survive
    struct wb_swapped repeated;
    struct wb_mutex mutex;
    uint32_t rounds, first, second;
};

// NULL, and the case is skipped, where there is no such thing.
static struct harness *open_shared(void)
{
    if ((wb_kernel_can() & WB_CAN_SHARE) == 0) {
        wb_test_skip("these kernels do not share tasks");
        return NULL;
    }
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);
    wb_mutex_init(&s->mutex);
    return h;
}

static struct wb_task *add(struct harness *h, const char *name, uint32_t index,
                           wb_task_entry *entry)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .index = index,
                                                   .core = index % 2,
                                                   .cores = BOTH,
                                                   .entry = entry,
                                                   .migratable = true });
}

static struct wb_task *add_static(struct harness *h, const char *name, uint32_t core,
                                  wb_task_entry *entry)
{
    return suite_task(
        h, &(struct wb_task_config){ .name = name, .core = core, .entry = entry, .priority = 16 });
}

static void see_core(struct wb_task *self, struct state *s)
{
    EXPECT(self, wb_kernel_self() == self);
    EXPECT(self, wb_task_core(self) == wb_kernel_core());
    wb_word_or(&s->seen, 1u << wb_kernel_core(), WB_SEQ_CST);
}

// ---- Whoever is free ----------------------------------------------------------------------------

static int hog(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    while (wb_word_load(&s->stop, WB_SEQ_CST) == 0)
        suite_relax();
    return 0;
}

static int walker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < 20; i++) {
        see_core(self, s);
        wb_sleep_until(wb_now_ns() + 1500000);
    }
    wb_word_store(&s->stop, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_shared_task_runs_where_there_is_room)
{
    for (uint32_t busy = 0; busy < 2; busy++) {
        struct harness *h = open_shared();
        if (h == NULL)
            return;
        const struct state *s = suite_state(h);
        const struct wb_task *task = add(h, "walker", 0, walker);

        add_static(h, "hog", busy, hog);
        suite_run(h);
        CHECK(wb_word_load(&s->seen, WB_SEQ_CST) >> (1 - busy) & 1);
        CHECK(wb_task_core(task) == 1 - busy);
        CHECK(wb_task_migrations(task) == 0);
        harness_close(h);
    }
}

TEST(a_shared_task_stays_where_it_ran_while_both_cores_are_free)
{
    struct harness *h = open_shared();
    if (h == NULL)
        return;
    const struct wb_task *task = add(h, "walker", 1, walker);

    suite_run(h);
    // Once, as nobody has run it before.
    CHECK(wb_counter_get(&task->stats.chosen) <= 1);
    harness_close(h);
}

// ---- Wakes across cores -------------------------------------------------------------------------

static uint32_t seed_of(const struct wb_task *self)
{
    return wb_task_index(self) * 2654435761u + 12345;
}

static int link(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    uint32_t random = seed_of(self), token;

    if (wb_task_index(self) < TOKENS) {
        token = 0;
        EXPECT(self, wb_port_send(out, &token, WB_FOREVER) == WB_OK);
    }
    while (wb_port_receive(in, &token, WB_FOREVER) == WB_OK) {
        see_core(self, s);
        suite_compute(suite_random(&random) % 60000);
        if (suite_random(&random) % 4 == 0)
            wb_checkpoint();
        token++;
        if (token >= s->rounds || wb_port_send(out, &token, WB_FOREVER) != WB_OK)
            break;
    }
    return 0;
}

static void connect_ring(struct harness *h, struct wb_task *const *tasks)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

    for (uint32_t i = 0; i < RING; i++)
        suite_channel(
            h, &(struct wb_channel_config){ .name = names[i], .slots = 1 + i % 2, .slot_bytes = 4 },
            tasks[i], tasks[(i + 1) % RING]);
}

TEST(no_wake_of_a_shared_task_is_lost)
{
    struct harness *h = open_shared();
    if (h == NULL)
        return;
    struct state *s = suite_state(h);
    struct wb_task *tasks[RING];
    uint64_t chosen = 0;

    s->rounds = suite_count(20000);
    for (uint32_t i = 0; i < RING; i++)
        tasks[i] = add(h, "link", i, link);
    connect_ring(h, tasks);
    suite_run(h);
    for (uint32_t i = 0; i < RING; i++)
        chosen += wb_counter_get(&tasks[i]->stats.chosen);
    CHECK(wb_word_load(&s->seen, WB_SEQ_CST) == BOTH);
    CHECK(chosen > 0);
    harness_close(h);
}

static int user(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t random = seed_of(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
        EXPECT(self, s->first == s->second);
        s->first++;
        if (suite_random(&random) % 2 == 0)
            wb_yield();
        suite_compute(suite_random(&random) % 20000);
        see_core(self, s);
        s->second++;
        EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

TEST(shared_tasks_of_all_priorities_are_in_a_mutex_one_at_a_time)
{
    struct harness *h = open_shared();
    if (h == NULL)
        return;
    struct state *s = suite_state(h);

    s->rounds = suite_count(3000);
    for (uint32_t i = 0; i < 4; i++)
        suite_task(h, &(struct wb_task_config){ .name = "user",
                                                .index = i,
                                                .cores = BOTH,
                                                .entry = user,
                                                .priority = 4 + i,
                                                .migratable = true });
    suite_run(h);
    CHECK(s->first == 4 * s->rounds && s->second == s->first);
    for (uint32_t i = 0; i < 4; i++) {
        const struct wb_task *task = &harness_system(h)->tasks[i];
        CHECK(wb_sync_priority(&task->sync) == wb_own_priority(task));
    }
    harness_close(h);
}

// ---- Time ---------------------------------------------------------------------------------------

// Some come in time, some do not: then the next core's timer is not the last one's.
static int waiter(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t random = seed_of(self), message, came = 0;

    while (came < s->rounds) {
        const uint64_t until_ns = wb_now_ns() + 500000 + suite_random(&random) % 1500000;
        const enum wb_status status = wb_port_receive(in, &message, until_ns - wb_now_ns());
        if (status == WB_ERR_TIMEOUT)
            EXPECT(self, wb_now_ns() >= until_ns - 100000);
        else
            EXPECT(self, status == WB_OK && message == came++);
        const uint64_t wake_ns = wb_now_ns() + suite_random(&random) % 1000000;
        wb_sleep_until(wake_ns);
        EXPECT(self, wb_now_ns() >= wake_ns && wb_now_ns() < wake_ns + 1000000000);
    }
    return 0;
}

static int pacer(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    uint32_t random = seed_of(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_sleep_until(wb_now_ns() + suite_random(&random) % 2000000);
    }
    return 0;
}

TEST(a_shared_task_that_is_woken_early_sleeps_again_for_as_long_as_it_asks)
{
    static const char *const names[] = { "first", "second" };
    struct harness *h = open_shared();
    if (h == NULL)
        return;
    struct state *s = suite_state(h);

    s->rounds = suite_count(1000);
    for (uint32_t i = 0; i < 2; i++) {
        struct wb_task *from = add(h, "pacer", i, pacer), *to = add(h, "waiter", i, waiter);
        suite_channel(h,
                      &(struct wb_channel_config){ .name = names[i], .slots = 2, .slot_bytes = 4 },
                      from, to);
    }
    suite_run(h);
    harness_close(h);
}

// ---- Who is moved, stays ------------------------------------------------------------------------

static int restless(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    while (wb_word_load(&s->stop, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        suite_compute(20000);
        wb_yield();
    }
    return 0;
}

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = wb_task_find(wb_task_app(self), "restless", 0);
    uint32_t random = 7;

    for (uint32_t i = 0; i < s->rounds; i++) {
        const uint32_t core = suite_random(&random) % 2;
        EXPECT(self, wb_migrate(task, core, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_task_stays(task) && wb_task_core(task) == core);
        wb_sleep_until(wb_now_ns() + 1000000);
        EXPECT(self, wb_task_core(task) == core);
    }
    wb_word_store(&s->stop, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_shared_task_that_is_moved_stays_there)
{
    struct harness *h = open_shared();
    if (h == NULL)
        return;
    struct state *s = suite_state(h);

    s->rounds = suite_count(100);
    const struct wb_task *task = add(h, "restless", 0, restless);
    add(h, "restless", 1, restless);
    add(h, "mover", 0, mover);
    suite_run(h);
    // From wherever it was first, so also from the core itself.
    CHECK(wb_task_migrations(task) > 0);
    harness_close(h);
}

// ---- A core dies --------------------------------------------------------------------------------

static int sender(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    uint32_t random = (uint32_t)wb_now_ns() | 1;

    for (uint32_t i = wb_word_load(&s->sent, WB_SEQ_CST); !wb_stopping(self); i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_word_store(&s->sent, i + 1, WB_SEQ_CST);
        if (suite_random(&random) % 4 == 0)
            wb_sleep_until(wb_now_ns() + suite_random(&random) % 100000);
        wb_checkpoint();
    }
    return 0;
}

static int relay(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        EXPECT(self, wb_port_send(out, slot, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_port_release(in) == WB_OK);
    }
    return 0;
}

static int receiver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const uint32_t number = *(const uint32_t *)slot,
                       expected = wb_word_load(&s->expected, WB_SEQ_CST);
        EXPECT(self, number <= expected && number + 2 >= expected);
        if (number == expected)
            wb_word_store(&s->expected, number + 1, WB_SEQ_CST);
        else
            wb_word_add(&s->repeated, 1, WB_SEQ_CST);
        EXPECT(self, wb_port_release(in) == WB_OK);
    }
    wb_word_store(&s->stop, 1, WB_SEQ_CST);
    return 0;
}

static struct wb_task *add_restarted(struct harness *h, const char *name, uint32_t core,
                                     wb_task_entry *entry)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .core = core,
                                                   .cores = BOTH,
                                                   .entry = entry,
                                                   .migratable = true,
                                                   .restart = true });
}

static void connect_row(struct harness *h)
{
    struct wb_task *from = add_restarted(h, "sender", 0, sender);
    struct wb_task *middle = add_restarted(h, "relay", 1, relay);
    struct wb_task *to = add_restarted(h, "receiver", 0, receiver);

    suite_channel(h, &(struct wb_channel_config){ .name = "first", .slots = 3, .slot_bytes = 4 },
                  from, middle);
    suite_channel(h, &(struct wb_channel_config){ .name = "second", .slots = 2, .slot_bytes = 4 },
                  middle, to);
}

// Of what it left, only what it ran begins again: the other core has the rest already.
TEST(a_core_that_dies_at_any_time_leaves_its_shared_tasks_to_the_other)
{
    uint32_t random = 77;

    for (uint32_t i = 0; i < suite_count(200); i++) {
        struct harness *h = open_shared();
        if (h == NULL)
            return;
        const struct state *s = suite_state(h);

        connect_row(h);
        harness_start(h);
        for (uint32_t n = suite_random(&random) % 3; n > 0; n--)
            suite_go_on(h);
        suite_compute(suite_random(&random) % 1000000);
        if (!suite_kill(h, i % 2))
            return;
        suite_go_on(h);
        wb_system_stop(harness_system(h));
        suite_wait(h);
        CHECK(wb_word_load(&s->stop, WB_SEQ_CST) == 1);
        CHECK(wb_word_load(&s->expected, WB_SEQ_CST) - wb_word_load(&s->sent, WB_SEQ_CST) <= 1);
        uint32_t restarts = 0;
        for (uint32_t k = 0; k < harness_system(h)->n_tasks; k++)
            restarts += harness_system(h)->tasks[k].restarts;
        // The one that it ran, and another if it was about to leave that for it.
        CHECK(restarts <= 2);
        CHECK(wb_word_load(&s->repeated, WB_SEQ_CST) <= restarts);
        harness_close(h);
    }
}
