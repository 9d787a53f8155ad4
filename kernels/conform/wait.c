// SPDX-License-Identifier: Apache-2.0
// One wait for everything, between kernels: whatever comes of a set wakes the task, wherever it is
// and whoever is killed.

#include "suite.h"

enum { SENDERS = 2 };

struct state {
    struct wb_semaphore permits;
    struct wb_word begun, over;
    struct wb_swapped received;
    uint32_t rounds;
};

static struct harness *open_cores(uint32_t cores)
{
    struct harness *h = suite_open(cores, sizeof(struct state));
    struct state *s = suite_state(h);

    CHECK(wb_semaphore_init(&s->permits, 0, 1) == WB_OK);
    s->rounds = suite_count(4000);
    return h;
}

static struct wb_task *add(struct harness *h, const char *name, uint32_t index, uint32_t core,
                           wb_task_entry *entry)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .index = index,
                                                   .core = core % harness_system(h)->n_cores,
                                                   .entry = entry,
                                                   .migratable = true });
}

static void connect(struct harness *h, struct wb_task *from, struct wb_task *to, uint32_t index,
                    bool mailbox)
{
    const char name[] = { 'c', (char)('0' + harness_system(h)->n_channels), 0 };
    struct wb_channel *channel;

    CHECK(wb_channel_add(harness_system(h),
                         &(struct wb_channel_config){
                             .name = name, .slots = 2, .slot_bytes = 4, .mailbox = mailbox },
                         &channel) == WB_OK);
    CHECK(wb_port_add(from, channel, WB_OUT, "out", 0) == WB_OK);
    CHECK(wb_port_add(to, channel, WB_IN, "in", index) == WB_OK);
}

// ---- A channel, a mailbox and a semaphore -------------------------------------------------------

// About as long as a kernel polls, so that the other one is found polling, asleep, and in between.
static void dawdle(uint32_t *random)
{
    suite_compute(suite_random(random) % 30000);
}

static int sender(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    uint32_t random = 11 + wb_task_index(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        dawdle(&random);
        wb_checkpoint();
    }
    return 0;
}

static int giver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t random = 5;

    for (uint32_t i = 0; i < s->rounds; i++) {
        while (wb_semaphore_give(&s->permits) != WB_OK)
            wb_sleep_until(wb_now_ns() + 10000);
        dawdle(&random);
        wb_checkpoint();
    }
    return 0;
}

// What is told to be ready never has to wait.
static bool take_message(struct wb_task *self, struct wb_port *in, uint32_t *expected)
{
    uint32_t message;
    const enum wb_status status = wb_port_receive(in, &message, 0);

    EXPECT(self, status == WB_OK || status == WB_ERR_GONE);
    EXPECT(self, status != WB_OK || message == (*expected)++);
    return status == WB_OK;
}

// The set shrinks: whoever is over is left out.
static int waiter(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t expected[SENDERS] = { 0 }, permits = 0, n = SENDERS + 1;
    struct wb_wait set[SENDERS + 1];

    set[0] = (struct wb_wait){ .semaphore = &s->permits };
    for (uint32_t i = 0; i < SENDERS; i++)
        set[i + 1] = (struct wb_wait){ .port = wb_port_find_any(self, "in", i) };
    while (n > 1 || permits < s->rounds) {
        const int i = wb_wait(set, n, WB_FOREVER);
        EXPECT(self, i >= 0 && (uint32_t)i < n && set[i].ready);
        for (int before = 0; before < i; before++)
            EXPECT(self, !set[before].ready);
        if (i == 0) {
            EXPECT(self, wb_semaphore_take(&s->permits, 0) == WB_OK);
            permits++;
        } else {
            const bool mailbox = set[i].port == wb_port_find_any(self, "in", 1);
            if (!take_message(self, set[i].port, &expected[mailbox]))
                set[i] = set[--n];
        }
        wb_checkpoint();
    }
    EXPECT(self, expected[0] == s->rounds && expected[1] == s->rounds);
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    uint32_t random = 3;

    while (wb_word_load(&s->over, WB_SEQ_CST) == 0) {
        suite_move_anywhere(self, &self->system->tasks[suite_random(&random) % 4], &random);
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

static void miss_nothing(uint32_t cores)
{
    struct harness *h = open_cores(cores);
    struct wb_task *to = add(h, "waiter", 0, 0, waiter);

    connect(h, add(h, "sender", 0, 1, sender), to, 0, false);
    connect(h, add(h, "sender", 1, 2, sender), to, 1, true);
    add(h, "giver", 0, 3, giver);
    suite_task(h, &(struct wb_task_config){ .name = "mover",
                                            .core = cores - 1,
                                            .priority = SUITE_PRIORITY + 2,
                                            .entry = mover });
    suite_run(h);
    harness_close(h);
}

TEST(a_task_that_waits_for_a_set_misses_nothing_while_all_move)
{
    miss_nothing(2);
}

TEST(so_it_is_where_each_has_a_core_of_its_own)
{
    miss_nothing(4);
}

// ---- Room ---------------------------------------------------------------------------------------

static int relay(struct wb_task *self)
{
    struct wb_wait in = { .port = wb_port_find_any(self, "in", 0) };
    struct wb_wait out = { .port = wb_port_find_any(self, "out", 0) };
    uint32_t message;

    for (;;) {
        EXPECT(self, wb_wait(&in, 1, WB_FOREVER) == 0);
        if (wb_port_receive(in.port, &message, 0) == WB_ERR_GONE)
            return 0;
        EXPECT(self, wb_wait(&out, 1, WB_FOREVER) == 0);
        EXPECT(self, wb_port_send(out.port, &message, 0) == WB_OK);
        wb_checkpoint();
    }
}

static int sink(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t random = 9, n = 0;

    do {
        dawdle(&random);
        EXPECT(self, wb_wait(&(struct wb_wait){ .port = in }, 1, WB_FOREVER) == 0);
    } while (take_message(self, in, &n));
    EXPECT(self, n == s->rounds);
    return 0;
}

TEST(room_in_a_channel_ends_a_wait)
{
    struct harness *h = open_cores(2);
    struct wb_task *middle = add(h, "relay", 0, 1, relay);

    connect(h, add(h, "sender", 0, 0, sender), middle, 0, false);
    connect(h, middle, add(h, "sink", 0, 2, sink), 0, false);
    suite_run(h);
    harness_close(h);
}

// ---- Who takes and who looks --------------------------------------------------------------------

static int taker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (wb_word_load(&s->received, WB_SEQ_CST) < s->rounds) {
        const enum wb_status status = wb_semaphore_take(&s->permits, 2000000);
        EXPECT(self, status == WB_OK || status == WB_ERR_TIMEOUT);
        if (status == WB_OK)
            wb_word_add(&s->received, 1, WB_SEQ_CST);
    }
    return 0;
}

// Leaves the permit to others, three times out of four.
static int onlooker(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set = { .semaphore = &s->permits };

    for (uint32_t i = wb_task_index(self); wb_word_load(&s->received, WB_SEQ_CST) < s->rounds;
         i++) {
        const int first = wb_wait(&set, 1, 2000000);
        EXPECT(self, first == 0 || first == WB_ERR_TIMEOUT);
        if (i % 4 == 0 && wb_semaphore_take(&s->permits, 0) == WB_OK)
            wb_word_add(&s->received, 1, WB_SEQ_CST);
        wb_yield();
    }
    return 0;
}

TEST(permits_come_to_those_who_take_beside_those_who_look)
{
    struct harness *h = open_cores(2);
    const struct state *s = suite_state(h);

    add(h, "giver", 0, 0, giver);
    add(h, "taker", 0, 1, taker);
    add(h, "onlooker", 0, 2, onlooker);
    add(h, "onlooker", 1, 3, onlooker);
    suite_run(h);
    CHECK(wb_word_load(&s->received, WB_SEQ_CST) >= s->rounds);
    harness_close(h);
}

// ---- Time ---------------------------------------------------------------------------------------

static int hasty(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set[] = { { .port = wb_port_find_any(self, "in", 0) },
                             { .semaphore = &s->permits } };
    const uint64_t begin_ns = wb_now_ns(), wait_ns = 2000000;

    EXPECT(self, wb_wait(set, 2, 0) == WB_ERR_EMPTY);
    EXPECT(self, wb_wait(set, 2, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_wait(NULL, 0, wait_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_now_ns() - begin_ns >= 2 * wait_ns);
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    return 0;
}

static int mute(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    while (wb_word_load(&s->over, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    return 0;
}

TEST(a_set_of_which_nothing_comes_times_out)
{
    struct harness *h = open_cores(2);

    connect(h, add(h, "mute", 0, 0, mute), add(h, "hasty", 0, 1, hasty), 0, false);
    suite_run(h);
    harness_close(h);
}

// ---- Deaths -------------------------------------------------------------------------------------

static int silent(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    wb_word_store(&s->begun, 1, WB_SEQ_CST);
    while (!wb_stopping(self))
        suite_relax();
    EXPECT(self, wb_port_send(wb_port_find_any(self, "out", 0), &s->rounds, WB_FOREVER) == WB_OK);
    return 0;
}

static int patient(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set[] = { { .semaphore = &s->permits },
                             { .port = wb_port_find_any(self, "in", 0) } };
    uint32_t message;

    EXPECT(self, wb_wait(set, 2, WB_FOREVER) == 1);
    const enum wb_status status = wb_port_receive(set[1].port, &message, 0);
    wb_word_store(&s->over, status == WB_OK ? 1 : 2, WB_SEQ_CST);
    return 0;
}

static void kill_one_of_two(uint32_t core, uint32_t over)
{
    struct harness *h = open_cores(2);
    struct state *s = suite_state(h);
    struct wb_task *to = add(h, "patient", 0, 1, patient);

    connect(h, add(h, "silent", 0, 0, silent), to, 0, false);
    harness_start(h);
    suite_wait_for(h, &s->begun, 1);
    suite_wait_for_state(h, to, WB_TASK_BLOCKED);
    if (!suite_kill(h, core))
        return;
    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_word_load(&s->over, WB_SEQ_CST) == over);
    harness_close(h);
}

TEST(the_death_of_a_sender_ends_the_wait_for_it)
{
    kill_one_of_two(0, 2);
}

TEST(a_task_that_waits_for_a_set_on_a_killed_kernel_goes_on_elsewhere)
{
    kill_one_of_two(1, 1);
}
