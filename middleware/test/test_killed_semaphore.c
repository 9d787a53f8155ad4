// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of taking or giving leaves semaphores and locks whole: nobody
// is inside twice, nobody waits for ever, and who takes over is told.
// with: check.c build.c kernel_stub.c killed.c
#include "check.h"
#include "kernel_stub.h"
#include "killed.h"
#include "wb/wb.h"

enum { ROUNDS = 3, MOST = 4 };

// What is locked lies where the child and the test both see it.
struct shared {
    struct wb_semaphore semaphore;
    struct wb_mutex mutex;
};

// `task` runs on core 0, which dies; `peer` is on core 1, its successor.
static struct wb_task *task, *peer;
static struct shared *s;

static void build(void)
{
    s = killed_pair(&task, &peer, sizeof *s);
    CHECK(wb_semaphore_init(&s->semaphore, 1, MOST) == WB_OK);
    wb_mutex_init(&s->mutex);
    stub_start(stub.system);
    stub_run(task);
}

// `peer` is blocked at a wait queue.
static void wait_at(struct wb_wait_queue *queue)
{
    wb_word_store(&peer->owner_state, wb_owner_state(WB_TASK_BLOCKED, 1), WB_SEQ_CST);
    wb_word_init(&peer->sync.waits_for, queue);
    wb_word_init(&queue->waited, 1);
}

// A task that waited has been woken.
static void die(void)
{
    stub.unblocks = 0;
    killed_start_again(task);
    CHECK(stub.unblocks > 0);
    CHECK(wb_word_load(&task->sync.waits_for, WB_SEQ_CST) == NULL && task->sync.held == 0);
}

static bool is_taken(enum wb_status status)
{
    return status == WB_OK || status == WB_ERR_OWNER;
}

// ---- Semaphores ---------------------------------------------------------------------------------

static void give_and_take(void)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        CHECK(wb_semaphore_take(&s->semaphore, WB_FOREVER) == WB_OK);
        *killed_progress() = 2 * i - 1;
        CHECK(wb_semaphore_give(&s->semaphore) == WB_OK);
        *killed_progress() = 2 * i;
    }
}

// What a task took and did not give back is gone; more than there was is never there.
static void check_permits(void)
{
    const bool all_given = *killed_progress() == 2 * ROUNDS;

    die();
    const uint32_t permits = wb_word_load(&s->semaphore.value, WB_SEQ_CST);
    CHECK(permits == 1 || (permits == 0 && !all_given));
    stub_run(peer);
    CHECK(wb_semaphore_take(&s->semaphore, 0) == (permits == 1 ? WB_OK : WB_ERR_EMPTY));
    CHECK(wb_semaphore_give(&s->semaphore) == WB_OK);
}

static void build_waited_semaphore(void)
{
    build();
    wait_at(&s->semaphore.queue);
}

TEST(a_task_killed_while_it_takes_or_gives_has_done_all_of_it_or_nothing)
{
    killed_show(&(struct killed){ build, give_and_take, check_permits }, 4 * ROUNDS);
    killed_show(&(struct killed){ build_waited_semaphore, give_and_take, check_permits },
                4 * ROUNDS);
}

// ---- Mutexes and locks --------------------------------------------------------------------------

static void lock_and_unlock(void)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        CHECK(wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
        *killed_progress() = 2 * i - 1;
        // Both are stored, though nothing is done in between.
        wb_word_order();
        *killed_progress() = 2 * i;
        CHECK(wb_mutex_unlock(&s->mutex) == WB_OK);
    }
}

// Inside for sure, so that the next is told; outside for sure, so that it is not.
static void check_owner(void)
{
    const uint32_t progress = *killed_progress();

    die();
    stub_run(peer);
    const enum wb_status status = wb_mutex_lock(&s->mutex, 0);
    CHECK(is_taken(status));
    CHECK(progress % 2 == 0 || status == WB_ERR_OWNER);
    CHECK(wb_mutex_unlock(&s->mutex) == WB_OK && wb_mutex_lock(&s->mutex, 0) == WB_OK);
    stub_become(1, task);
    CHECK(wb_mutex_unlock(&s->mutex) == WB_ERR_INVAL);
    CHECK(wb_sync_priority(&task->sync) == wb_own_priority(task));
}

static void build_waited_mutex(void)
{
    build();
    wait_at(&s->mutex.queue);
}

TEST(the_mutex_of_a_task_killed_at_any_step_is_taken_over)
{
    killed_show(&(struct killed){ build, lock_and_unlock, check_owner }, 4 * ROUNDS);
    killed_show(&(struct killed){ build_waited_mutex, lock_and_unlock, check_owner }, 4 * ROUNDS);
}

static void lock_and_unlock_names(void)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        CHECK(wb_lock((unsigned char *)s + i, WB_FOREVER) == WB_OK);
        *killed_progress() = 2 * i - 1;
        // Both are stored, though nothing is done in between.
        wb_word_order();
        *killed_progress() = 2 * i;
        CHECK(wb_unlock((unsigned char *)s + i) == WB_OK);
    }
}

static void check_names(void)
{
    const uint32_t progress = *killed_progress();

    die();
    stub_run(peer);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        const enum wb_status status = wb_lock((unsigned char *)s + i, 0);
        CHECK(is_taken(status));
        CHECK(progress != 2 * i - 1 || status == WB_ERR_OWNER);
    }
    CHECK(peer->sync.held == ROUNDS);
}

TEST(the_lock_of_a_task_killed_at_any_step_is_taken_over)
{
    killed_show(&(struct killed){ build, lock_and_unlock_names, check_names }, 6 * ROUNDS);
}

// ---- Waiting ------------------------------------------------------------------------------------

static void wait_in_vain(void)
{
    CHECK(wb_semaphore_take(&s->semaphore, 0) == WB_OK);
    CHECK(wb_semaphore_take(&s->semaphore, 100) == WB_ERR_TIMEOUT);
    *killed_progress() = 1;
}

static void wait_for_peer(void)
{
    CHECK(wb_mutex_lock(&s->mutex, 100) == WB_ERR_TIMEOUT);
    *killed_progress() = 1;
}

static void build_held(void)
{
    build();
    stub_become(1, peer);
    CHECK(wb_mutex_lock(&s->mutex, 0) == WB_OK);
    stub_run(task);
}

static void build_held_by_less_urgent(void)
{
    build_held();
    wb_word_store(&peer->priority, 1, WB_SEQ_CST);
    wb_word_store(&peer->sync.priority, 1, WB_SEQ_CST);
}

static void check_waiter(void)
{
    die();
    stub_run(peer);
    if (wb_word_load(&s->semaphore.value, WB_SEQ_CST) == 0)
        CHECK(wb_semaphore_give(&s->semaphore) == WB_OK);
    CHECK(wb_semaphore_take(&s->semaphore, 0) == WB_OK);
}

// Nothing is inherited from a task that was killed while it waited.
static void check_holder(void)
{
    die();
    CHECK(wb_sync_priority(&peer->sync) == wb_own_priority(peer));
    stub_run(peer);
    CHECK(wb_mutex_unlock(&s->mutex) == WB_OK);
    stub_become(1, task);
    CHECK(wb_mutex_lock(&s->mutex, 0) == WB_OK);
}

TEST(a_task_killed_while_it_waits_takes_nothing_and_urges_nobody)
{
    killed_show(&(struct killed){ build, wait_in_vain, check_waiter }, 6);
    killed_show(&(struct killed){ build_held, wait_for_peer, check_holder }, 4);
    killed_show(&(struct killed){ build_held_by_less_urgent, wait_for_peer, check_holder }, 6);
}
