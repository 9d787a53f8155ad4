// SPDX-License-Identifier: Apache-2.0
// Semaphores and mutexes between cores that really run at once, while their users migrate.
// with: check.c build.c kernel_threads.c users.c
#include "check.h"
#include "kernel_threads.h"
#include "users.h"
#include "wb/wb.h"

enum { CORES = 3, USERS = 5, ROUNDS = 4000, PERMITS = 2, SIGNALS = 6000 };

static struct wb_semaphore permits, ping, pong;
static struct wb_mutex mutex;
static uint32_t guarded;  // not atomic: ThreadSanitizer sees any two that are inside at once
static struct wb_word last;
static struct wb_swapped inside, most_inside, rounds, takers, given, taken;

// ---- Mutual exclusion ---------------------------------------------------------------------------

static int use_mutex(struct wb_task *self)
{
    (void)self;
    for (uint32_t i = 0; i < ROUNDS && !threads_are_late(); i++) {
        CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
        guarded++;
        wb_checkpoint();
        guarded++;
        CHECK(wb_mutex_unlock(&mutex) == WB_OK);
        wb_word_add(&rounds, 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    users_leave();
    return 0;
}

TEST(one_task_at_a_time_holds_a_mutex_and_it_moves_with_the_task)
{
    struct wb_system *s = threads_open(CORES);

    wb_mutex_init(&mutex);
    guarded = 0;
    wb_word_init(&rounds, 0);
    users_add(s, USERS, use_mutex);
    threads_run();
    CHECK(guarded == 2 * wb_word_load(&rounds, WB_SEQ_CST));
    for (uint32_t i = 0; i < s->n_tasks; i++)
        CHECK(wb_sync_priority(&s->tasks[i].sync) == wb_own_priority(&s->tasks[i]));
}

static int use_lock(struct wb_task *self)
{
    (void)self;
    for (uint32_t i = 0; i < ROUNDS && !threads_are_late(); i++) {
        CHECK(wb_lock(&guarded, WB_FOREVER) == WB_OK);
        guarded++;
        wb_checkpoint();
        CHECK(wb_unlock(&guarded) == WB_OK);
        wb_word_add(&rounds, 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    users_leave();
    return 0;
}

TEST(one_task_at_a_time_holds_the_lock_of_an_address)
{
    struct wb_system *s = threads_open(CORES);

    guarded = 0;
    wb_word_init(&rounds, 0);
    users_add(s, USERS, use_lock);
    threads_run();
    CHECK(guarded == wb_word_load(&rounds, WB_SEQ_CST));
}

// ---- Counting -----------------------------------------------------------------------------------

static int use_permit(struct wb_task *self)
{
    for (uint32_t i = 0; i < ROUNDS && !threads_are_late(); i++) {
        enum wb_status status = WB_ERR_TIMEOUT;
        // A spinner does not let holders on its own core go on, so it gives up soon, for good.
        if (self->id % 2 == 1 && i % 2 == 1)
            status = wb_semaphore_spin(&permits, 20000);
        while (status == WB_ERR_TIMEOUT)
            status = wb_semaphore_take(&permits, i % 3 == 0 ? 50000 : WB_FOREVER);
        CHECK(status == WB_OK);
        const uint32_t now = wb_word_add(&inside, 1, WB_SEQ_CST) + 1;
        uint32_t most = wb_word_load(&most_inside, WB_SEQ_CST);
        while (now > most &&
               !wb_word_compare_swap_weak(&most_inside, &most, now, WB_SEQ_CST, WB_SEQ_CST)) {}
        wb_checkpoint();
        wb_word_sub(&inside, 1, WB_SEQ_CST);
        CHECK(wb_semaphore_give(&permits) == WB_OK);
        wb_yield();
    }
    users_leave();
    return 0;
}

TEST(as_many_tasks_hold_a_permit_as_there_are)
{
    struct wb_system *s = threads_open(CORES);

    CHECK(wb_semaphore_init(&permits, PERMITS, PERMITS) == WB_OK);
    wb_word_init(&most_inside, 0);
    users_add(s, USERS, use_permit);
    threads_run();
    CHECK(wb_word_load(&most_inside, WB_SEQ_CST) <= PERMITS &&
          wb_word_load(&permits.value, WB_SEQ_CST) == PERMITS);
}

// ---- Wake-ups -----------------------------------------------------------------------------------

static int serve_ping(struct wb_task *self)
{
    (void)self;
    wb_word_store(&last, 0, WB_SEQ_CST);
    for (uint32_t i = 1; wb_word_load(&last, WB_SEQ_CST) == 0; i++) {
        wb_word_store(&last, i == SIGNALS || threads_are_late(), WB_SEQ_CST);
        CHECK(wb_semaphore_give(&ping) == WB_OK);
        CHECK(wb_semaphore_take(&pong, WB_FOREVER) == WB_OK);
    }
    return 0;
}

static int return_pong(struct wb_task *self)
{
    uint32_t is_last;

    (void)self;
    do {
        CHECK(wb_semaphore_take(&ping, WB_FOREVER) == WB_OK);
        is_last = wb_word_load(&last, WB_SEQ_CST);
        CHECK(wb_semaphore_give(&pong) == WB_OK);
    } while (is_last == 0);
    return 0;
}

TEST(no_wake_up_is_lost_between_a_giver_and_a_taker)
{
    struct wb_system *s = threads_open(2);

    CHECK(wb_semaphore_init(&ping, 0, 1) == WB_OK && wb_semaphore_init(&pong, 0, 1) == WB_OK);
    build_task(s, "server", 0, 3, serve_ping);
    build_task(s, "returner", 1, 3, return_pong);
    threads_run();
}

static int give_many(struct wb_task *self)
{
    (void)self;
    while (wb_word_load(&takers, WB_SEQ_CST) != 0) {
        if (wb_semaphore_give(&permits) == WB_OK)
            wb_word_add(&given, 1, WB_SEQ_CST);
        else
            wb_yield();
    }
    return 0;
}

static int take_many(struct wb_task *self)
{
    (void)self;
    for (uint32_t i = 0; i < SIGNALS && !threads_are_late(); i++) {
        CHECK(wb_semaphore_take(&permits, WB_FOREVER) == WB_OK);
        wb_word_add(&taken, 1, WB_SEQ_CST);
    }
    wb_word_sub(&takers, 1, WB_SEQ_CST);
    return 0;
}

TEST(two_givers_at_once_leave_no_taker_asleep)
{
    struct wb_system *s = threads_open(4);

    CHECK(wb_semaphore_init(&permits, 0, 3) == WB_OK);
    wb_word_init(&takers, 2);
    build_task(s, "giver", 0, 3, give_many);
    build_task(s, "other giver", 1, 3, give_many);
    build_task(s, "taker", 2, 3, take_many);
    build_task(s, "other taker", 3, 3, take_many);
    threads_run();
    CHECK(wb_word_load(&permits.value, WB_SEQ_CST) ==
          wb_word_load(&given, WB_SEQ_CST) - wb_word_load(&taken, WB_SEQ_CST));
}
