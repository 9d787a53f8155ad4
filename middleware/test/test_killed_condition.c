// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of a signal, a wait for one, or a barrier keeps nobody there.
// with: check.c build.c kernel_stub.c killed.c
#include "check.h"
#include "kernel_stub.h"
#include "killed.h"
#include "wb/wb.h"

// What is waited at lies where the child and the test both see it.
struct shared {
    struct wb_mutex mutex;
    struct wb_condition condition;
    struct wb_barrier barrier;
    struct wb_participant participants[2];
};

// `task` runs on core 0, which dies; `peer` is on core 1, its successor.
static struct wb_task *task, *peer;
static struct shared *s;

static void build(void)
{
    s = killed_pair(&task, &peer, sizeof *s);
    CHECK(wb_barrier_init(&s->barrier, s->participants, 2) == WB_OK);
    wb_mutex_init(&s->mutex);
    wb_condition_init(&s->condition);
    stub_start(stub.system);
    stub_run(task);
}

static void die(void)
{
    killed_start_again(task);
    CHECK(wb_word_load(&task->sync.condition, WB_SEQ_CST) == NULL);
}

// ---- Conditions ---------------------------------------------------------------------------------

static bool peer_waits(void)
{
    return wb_word_load(&peer->sync.waits_for, WB_SEQ_CST) == &s->condition.queue;
}

static void build_waiter(void)
{
    build();
    wb_word_store(&peer->owner_state, wb_owner_state(WB_TASK_BLOCKED, 1), WB_SEQ_CST);
    wb_word_init(&peer->sync.condition, &s->condition.queue);
    wb_word_init(&peer->sync.guard, &s->mutex.queue);
    wb_word_init(&peer->sync.waits_for, &s->condition.queue);
    wb_word_init(&s->condition.waiters, 1);
}

static void signal_with_the_mutex(void)
{
    CHECK(wb_mutex_lock(&s->mutex, 0) == WB_OK);
    *killed_progress() = 1;
    wb_condition_signal(&s->condition);
    wb_word_order();
    *killed_progress() = 2;
    CHECK(wb_mutex_unlock(&s->mutex) == WB_OK);
}

// Who was about to signal has done so, or holds the mutex, which whoever takes it tells.
static void check_signal(void)
{
    const uint32_t progress = *killed_progress();

    die();
    const enum wb_status status = wb_mutex_lock(&s->mutex, 0);
    CHECK(status == WB_OK || status == WB_ERR_OWNER);
    CHECK(progress == 0 || !peer_waits());
    CHECK(wb_mutex_unlock(&s->mutex) == WB_OK);
}

TEST(a_task_killed_while_it_signals_has_done_so_or_all_look_again)
{
    killed_show(&(struct killed){ build_waiter, signal_with_the_mutex, check_signal }, 6);
}

static void wait_in_vain(void)
{
    CHECK(wb_mutex_lock(&s->mutex, 0) == WB_OK);
    CHECK(wb_condition_wait(&s->condition, &s->mutex, 100) == WB_ERR_TIMEOUT);
    CHECK(wb_mutex_unlock(&s->mutex) == WB_OK);
}

static void check_waiter(void)
{
    die();
    const enum wb_status status = wb_mutex_lock(&s->mutex, 0);
    CHECK(status == WB_OK || status == WB_ERR_OWNER);
    wb_condition_signal(&s->condition);
    CHECK(!peer_waits());
    CHECK(wb_condition_wait(&s->condition, &s->mutex, 100) == WB_ERR_TIMEOUT);
}

TEST(a_task_killed_while_it_waits_for_a_signal_takes_none_along)
{
    killed_show(&(struct killed){ build_waiter, wait_in_vain, check_waiter }, 8);
}

// ---- Barriers -----------------------------------------------------------------------------------

static void build_comer(void)
{
    build();
    stub_become(1, peer);
    CHECK(wb_barrier_wait(&s->barrier, 0) == WB_ERR_EMPTY);
    stub_run(task);
}

static void come(void)
{
    CHECK(wb_barrier_wait(&s->barrier, 0) == 1);
    wb_word_order();
    *killed_progress() = 1;
    CHECK(wb_barrier_wait(&s->barrier, 0) == WB_ERR_EMPTY);
}

static int comes(struct wb_task *who)
{
    stub_become(1, who);
    return wb_barrier_wait(&s->barrier, 0);
}

// The next life comes as often as it takes, and both go on.
static void check_comers(void)
{
    const bool was_through = *killed_progress() == 1;
    int status = WB_ERR_EMPTY;

    die();
    for (uint32_t i = 0; i < 2 && status == WB_ERR_EMPTY; i++) {
        const int own = comes(task);
        CHECK(own == WB_ERR_EMPTY || own >= 0 || own == WB_ERR_OWNER);
        status = comes(peer);
    }
    CHECK(status >= 0 || status == WB_ERR_OWNER);
    CHECK(!was_through || status >= 0);
}

TEST(a_task_killed_while_it_comes_to_a_barrier_comes_again)
{
    killed_show(&(struct killed){ build_comer, come, check_comers }, 6);
}
