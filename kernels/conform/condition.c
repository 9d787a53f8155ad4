// SPDX-License-Identifier: Apache-2.0
// Conditions between kernels: signals and broadcasts, time-outs, and kernels that are killed while
// their tasks wait and signal.

#include "suite.h"

enum { CORES = 2, MAKERS = 2, TAKERS = 2, LISTENERS = 3, ROOM = 2 };

struct state {
    struct wb_mutex mutex;
    struct wb_condition room, there;
    struct wb_swapped users, owners;
    uint32_t rounds, things, taken, listening, told;  // guarded by the mutex
    struct wb_word stop;
};

static struct harness *open_cores(uint32_t rounds)
{
    struct harness *h = suite_open(CORES, sizeof(struct state));
    struct state *s = suite_state(h);

    wb_mutex_init(&s->mutex);
    wb_condition_init(&s->room);
    wb_condition_init(&s->there);
    s->rounds = rounds;
    return h;
}

static void add(struct harness *h, const char *name, uint32_t index, wb_task_entry *entry)
{
    suite_task(h, &(struct wb_task_config){ .name = name,
                                            .index = index,
                                            .core = index % CORES,
                                            .priority = SUITE_PRIORITY + index,
                                            .entry = entry,
                                            .migratable = true,
                                            .restart = true });
}

// Whoever takes the mutex over from a dead task counts it; what it guards is good at any time.
static void got(struct wb_task *self, enum wb_status status)
{
    struct state *s = suite_shared(self);

    EXPECT(self, status == WB_OK || status == WB_ERR_OWNER);
    if (status == WB_ERR_OWNER)
        wb_word_add(&s->owners, 1, WB_SEQ_CST);
}

static void lock(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    got(self, wb_mutex_lock(&s->mutex, WB_FOREVER));
}

static void unlock(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
    wb_checkpoint();
}

// ---- A bounded buffer ---------------------------------------------------------------------------

static int maker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        lock(self);
        while (s->things == ROOM)
            got(self, wb_condition_wait(&s->room, &s->mutex, WB_FOREVER));
        s->things++;
        wb_condition_signal(&s->there);
        unlock(self);
    }
    wb_word_sub(&s->users, 1, WB_SEQ_CST);
    return 0;
}

// Signals after it has unlocked, which is as good.
static int taker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        lock(self);
        while (s->things == 0)
            got(self, wb_condition_wait(&s->there, &s->mutex, WB_FOREVER));
        s->things--;
        s->taken++;
        unlock(self);
        wb_condition_signal(&s->room);
    }
    wb_word_sub(&s->users, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint32_t moved = self->id;  // all tasks before it
    uint32_t random = 7;

    while (wb_word_load(&s->users, WB_SEQ_CST) != 0) {
        suite_move_anywhere(self, &self->system->tasks[suite_random(&random) % moved], &random);
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

TEST(makers_and_takers_of_any_kernel_wait_for_each_other_by_conditions)
{
    struct harness *h = open_cores(suite_count(3000));
    struct state *s = suite_state(h);

    wb_word_init(&s->users, MAKERS + TAKERS);
    for (uint32_t i = 0; i < MAKERS; i++)
        add(h, "maker", i, maker);
    for (uint32_t i = 0; i < TAKERS; i++)
        add(h, "taker", i, taker);
    suite_task(h, &(struct wb_task_config){
                      .name = "mover", .entry = mover, .core = 1, .priority = SUITE_PRIORITY + 4 });
    suite_run(h);
    CHECK(s->things == 0 && s->taken == TAKERS * s->rounds);
    CHECK(wb_word_load(&s->owners, WB_SEQ_CST) == 0);
    harness_close(h);
}

// ---- Broadcasts ---------------------------------------------------------------------------------

static int listener(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 1; i <= s->rounds; i++) {
        lock(self);
        if (++s->listening == LISTENERS)
            wb_condition_signal(&s->room);
        while (s->told < i)
            got(self, wb_condition_wait(&s->there, &s->mutex, WB_FOREVER));
        unlock(self);
    }
    return 0;
}

static int teller(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 1; i <= s->rounds; i++) {
        lock(self);
        while (s->listening < LISTENERS)
            got(self, wb_condition_wait(&s->room, &s->mutex, WB_FOREVER));
        s->listening = 0;
        s->told = i;
        wb_condition_broadcast(&s->there);
        unlock(self);
    }
    return 0;
}

TEST(a_broadcast_wakes_the_waiters_of_all_kernels)
{
    struct harness *h = open_cores(suite_count(2000));

    for (uint32_t i = 0; i < LISTENERS; i++)
        add(h, "listener", i, listener);
    add(h, "teller", 0, teller);
    suite_run(h);
    harness_close(h);
}

// ---- Time-outs ----------------------------------------------------------------------------------

static int hasty(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint64_t begin_ns = wb_now_ns(), wait_ns = 2000000;

    wb_condition_signal(&s->there);
    EXPECT(self, wb_condition_wait(&s->there, &s->mutex, wait_ns) == WB_ERR_INVAL);
    lock(self);
    EXPECT(self, wb_condition_wait(&s->there, &s->mutex, wait_ns) == WB_ERR_TIMEOUT);
    unlock(self);
    EXPECT(self, wb_condition_wait(&s->there, NULL, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_now_ns() - begin_ns >= 2 * wait_ns);
    return 0;
}

TEST(who_waits_for_no_signal_times_out_with_its_mutex)
{
    struct harness *h = open_cores(0);

    add(h, "hasty", 0, hasty);
    suite_run(h);
    harness_close(h);
}

// ---- Killed kernels -----------------------------------------------------------------------------

// Takes until nothing comes any more, in whatever life.
static int survivor(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    lock(self);
    while (s->things != 0 || s->told == 0) {
        if (s->things != 0)
            s->things--;
        else
            got(self, wb_condition_wait(&s->there, &s->mutex, WB_FOREVER));
        unlock(self);
        lock(self);
    }
    unlock(self);
    return 0;
}

// Makes some more things after it is told to stop: there is somebody for each.
static int feeder(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t left = 10; left != 0; left -= wb_word_load(&s->stop, WB_SEQ_CST)) {
        lock(self);
        s->things++;
        wb_condition_signal(&s->there);
        unlock(self);
        wb_sleep_until(wb_now_ns() + 5000);
    }
    lock(self);
    s->told = 1;
    wb_condition_broadcast(&s->there);
    unlock(self);
    return 0;
}

TEST(a_kernel_killed_at_any_time_takes_no_signal_along)
{
    uint32_t random = 911;

    for (uint32_t round = 0; round < suite_count(30); round++) {
        struct harness *h = open_cores(0);
        struct state *s = suite_state(h);

        for (uint32_t i = 0; i < TAKERS + 1; i++)
            add(h, "survivor", i, survivor);
        add(h, "feeder", 1, feeder);
        harness_start(h);
        suite_compute(suite_random(&random) % 1500000);
        if (!suite_kill(h, 0))
            return;
        wb_word_store(&s->stop, 1, WB_SEQ_CST);
        suite_wait(h);
        CHECK(s->things == 0 && wb_word_load(&s->owners, WB_SEQ_CST) <= 1);
        harness_close(h);
    }
}
