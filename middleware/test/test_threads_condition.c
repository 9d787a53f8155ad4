// SPDX-License-Identifier: Apache-2.0
// Conditions and barriers between cores that really run at once, while their users migrate.
// with: check.c build.c kernel_threads.c users.c
#include "check.h"
#include "kernel_threads.h"
#include "users.h"
#include "wb/wb.h"

enum { CORES = 3, USERS = 4, ROUNDS = 1000, ROOM = 2 };

static struct wb_mutex mutex;
static struct wb_condition room, there;
static struct wb_barrier barrier;
static struct wb_participant participants[USERS];
// Not atomic: ThreadSanitizer sees whether mutexes and barriers order what they should.
static uint32_t things, taken, parts[USERS];
static struct wb_swapped late, let_through;

// ---- Conditions ---------------------------------------------------------------------------------

static void wait_while(const struct wb_task *self, const uint32_t *word, uint32_t value,
                       struct wb_condition *condition)
{
    // Some with an end, so that signals and time-outs meet.
    const uint64_t timeout_ns = self->id % 4 == 3 ? 20000 : WB_FOREVER;

    while (*word == value) {
        const enum wb_status status = wb_condition_wait(condition, &mutex, timeout_ns);
        CHECK(status == WB_OK || (status == WB_ERR_TIMEOUT && timeout_ns != WB_FOREVER));
    }
}

// Makes, or takes if its number is odd; each as often as all others.
static int make_or_take(struct wb_task *self)
{
    const bool takes = self->id % 2 == 1;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
        wait_while(self, &things, takes ? 0 : ROOM, takes ? &there : &room);
        things += takes ? UINT32_MAX : 1;
        taken += takes;
        if (i % 2 == 0)
            wb_condition_signal(takes ? &room : &there);
        CHECK(wb_mutex_unlock(&mutex) == WB_OK);
        if (i % 2 == 1)
            wb_condition_broadcast(takes ? &room : &there);
        wb_checkpoint();
    }
    users_leave();
    return 0;
}

TEST(no_signal_is_lost_between_cores)
{
    struct wb_system *s = threads_open(CORES);

    things = taken = 0;
    users_add(s, USERS, make_or_take);
    threads_run();
    CHECK(things == 0 && taken == USERS / 2 * ROUNDS);
    CHECK(wb_word_load(&room.waiters, WB_SEQ_CST) == 0);
    CHECK(wb_word_load(&there.waiters, WB_SEQ_CST) == 0);
}

// ---- Barriers -----------------------------------------------------------------------------------

static uint32_t sum(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < USERS; i++)
        n += parts[i];
    return n;
}

static int pass(uint64_t timeout_ns)
{
    int status;

    do {
        status = wb_barrier_wait(&barrier, timeout_ns);
        CHECK(status >= 0 || status == WB_ERR_TIMEOUT);
    } while (status < 0);
    return status;
}

// Writes its part, looks at all parts, and again; all stop in the same round.
static int go_in_step(struct wb_task *self)
{
    const uint64_t timeout_ns = self->id == 2 ? 10000 : WB_FOREVER;
    bool goes_on = true;

    for (uint32_t i = 1; goes_on; i++) {
        parts[self->id] = i;
        if (self->id == 0)
            wb_word_add(&late, i == ROUNDS || threads_are_late(), WB_SEQ_CST);
        wb_word_add(&let_through, (uint32_t)pass(timeout_ns), WB_SEQ_CST);
        CHECK(sum() == i * USERS);
        goes_on = wb_word_load(&late, WB_SEQ_CST) == 0;
        wb_checkpoint();
        wb_word_sub(&let_through, (uint32_t)pass(timeout_ns), WB_SEQ_CST);
    }
    users_leave();
    return 0;
}

TEST(what_is_written_before_a_barrier_is_read_after_it)
{
    struct wb_system *s = threads_open(CORES);

    CHECK(wb_barrier_init(&barrier, participants, USERS) == WB_OK);
    wb_word_init(&let_through, 0);
    wb_word_init(&late, 0);
    users_add(s, USERS, go_in_step);
    threads_run();
    CHECK(wb_word_load(&let_through, WB_SEQ_CST) == 0);
}
