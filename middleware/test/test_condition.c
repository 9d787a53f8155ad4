// SPDX-License-Identifier: Apache-2.0
// Conditions: who is woken by what, time-outs, mutexes given back and taken again, deaths.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

// `task` on core 0, the others on core 1, from the least urgent to the most.
static struct wb_task *task, *other, *urgent;
static struct wb_condition condition;
static struct wb_mutex mutex;

static void build(void)
{
    stub_system(2);
    task = stub_task("task", 0);
    other = build_task(stub.system, "other", 1, 5, task->entry);
    urgent = build_task(stub.system, "urgent", 1, 9, task->entry);
    wb_condition_init(&condition);
    wb_mutex_init(&mutex);
    stub_start(stub.system);
    stub_run(task);
}

// Another task is blocked there.
static void wait_there(struct wb_task *waiter)
{
    wb_word_store(&waiter->sync.condition, &condition.queue, WB_RELAXED);
    wb_word_init(&waiter->sync.waits_for, &condition.queue);
    wb_word_add(&condition.waiters, 1, WB_RELAXED);
}

static bool waits(const struct wb_task *waiter)
{
    return wb_word_load(&waiter->sync.waits_for, WB_SEQ_CST) == &condition.queue;
}

// ---- Signals ------------------------------------------------------------------------------------

TEST(a_signal_wakes_the_most_urgent_waiter_and_the_next_one_the_next)
{
    build();
    wait_there(other);
    wait_there(urgent);
    wb_condition_signal(&condition);
    CHECK(stub_serve(1) == 1 && stub.unblocked == urgent && waits(other));
    wb_condition_signal(&condition);
    CHECK(stub_serve(1) == 1 && stub.unblocked == other);
}

TEST(a_broadcast_wakes_all)
{
    build();
    wait_there(other);
    wait_there(urgent);
    const uint32_t rings = stub.rings[1];
    wb_condition_broadcast(&condition);
    CHECK(stub.rings[1] == rings + 1);
    CHECK(stub_serve(1) == 2 && !waits(other) && !waits(urgent));
}

TEST(a_signal_without_a_waiter_is_lost)
{
    build();
    wb_condition_signal(&condition);
    wb_condition_broadcast(&condition);
    CHECK(wb_condition_wait(&condition, NULL, 100) == WB_ERR_TIMEOUT);
}

// ---- Waiting ------------------------------------------------------------------------------------

static void signal_from_core_1(uint64_t until_ns)
{
    struct wb_task *const self = stub.self;

    (void)until_ns;
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    wb_condition_signal(&condition);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
    stub_become(0, self);
}

TEST(a_wait_gives_the_mutex_back_and_holds_it_again_when_it_returns)
{
    build();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub.on_block = signal_from_core_1;
    CHECK(wb_condition_wait(&condition, &mutex, WB_FOREVER) == WB_OK && stub.blocks == 1);
    CHECK(wb_word_load(&condition.waiters, WB_RELAXED) == 0);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
}

TEST(a_wait_times_out_with_the_mutex_held)
{
    build();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    CHECK(wb_condition_wait(&condition, &mutex, 100) == WB_ERR_TIMEOUT);
    CHECK(wb_condition_wait(&condition, &mutex, 0) == WB_ERR_TIMEOUT);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
}

TEST(a_wait_without_its_mutex_is_refused)
{
    build();
    CHECK(wb_condition_wait(&condition, &mutex, WB_FOREVER) == WB_ERR_INVAL);
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub_become(0, task);
    CHECK(wb_condition_wait(&condition, &mutex, WB_FOREVER) == WB_ERR_INVAL);
    CHECK(wb_word_load(&condition.waiters, WB_RELAXED) == 0);
}

static void time_passes_and_then_a_signal(uint64_t until_ns)
{
    signal_from_core_1(until_ns);
    stub.now_ns = until_ns;
}

TEST(a_signal_at_the_last_moment_is_a_signal)
{
    build();
    stub.on_block = time_passes_and_then_a_signal;
    CHECK(wb_condition_wait(&condition, NULL, 100) == WB_OK);
}

static uint32_t blocked;

static void woken_for_nothing(uint64_t until_ns)
{
    if (++blocked == 3)
        signal_from_core_1(until_ns);
}

TEST(a_wake_up_without_a_signal_is_none)
{
    build();
    blocked = 0;
    stub.on_block = woken_for_nothing;
    CHECK(wb_condition_wait(&condition, NULL, WB_FOREVER) == WB_OK && blocked == 3);
}

// ---- Deaths -------------------------------------------------------------------------------------

static void signal_and_die_with_the_mutex(uint64_t until_ns)
{
    struct wb_task *const self = stub.self;

    (void)until_ns;
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    wb_condition_signal(&condition);
    wb_word_store(&other->owner_state, wb_owner_state(WB_TASK_RUNNING, 1), WB_SEQ_CST);
    stub_leave();
    (void)wb_core_died(stub.system, 1);
    stub_become(0, self);
}

TEST(who_waited_is_told_that_the_holder_of_the_mutex_died)
{
    build();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub.on_block = signal_and_die_with_the_mutex;
    CHECK(wb_condition_wait(&condition, &mutex, WB_FOREVER) == WB_ERR_OWNER);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
}

TEST(the_signal_of_a_task_that_was_killed_before_it_returned_goes_to_another)
{
    build();
    wait_there(task);
    wait_there(other);
    wb_word_init(&task->sync.waits_for, NULL);  // it was chosen
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    CHECK(!waits(other));
    stub_become(1, other);
    CHECK(wb_word_load(&task->sync.condition, WB_RELAXED) == NULL);
}

static void die_with_the_mutex(uint64_t until_ns)
{
    struct wb_task *const self = stub.self;

    (void)until_ns;
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    wb_word_store(&other->owner_state, wb_owner_state(WB_TASK_RUNNING, 1), WB_SEQ_CST);
    stub_leave();
    (void)wb_core_died(stub.system, 1);
    stub_become(0, self);
}

TEST(who_waits_is_woken_by_the_death_of_who_holds_its_mutex)
{
    build();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub.on_block = die_with_the_mutex;
    CHECK(wb_condition_wait(&condition, &mutex, WB_FOREVER) == WB_ERR_OWNER && stub.blocks == 1);
}

static void end_with_the_mutex(uint64_t until_ns)
{
    struct wb_task *const self = stub.self;

    CHECK(until_ns == 100);
    stub_run(other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub_pause(WB_TASK_ENDED);
    stub.unblocks = 0;
    CHECK(stub_serve(0) == 1 && stub.unblocked == self);
    stub_become(0, self);
}

TEST(who_waits_is_woken_by_the_end_of_who_holds_its_mutex)
{
    build();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub.on_block = end_with_the_mutex;
    CHECK(wb_condition_wait(&condition, &mutex, 100) == WB_ERR_OWNER && stub.blocks == 1);
}

TEST(who_takes_over_the_mutex_of_a_dead_task_has_all_who_wait_with_it_look_again)
{
    struct wb_mutex another = { 0 };

    build();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    wait_there(other);
    wait_there(urgent);
    wb_word_init(&other->sync.guard, &mutex.queue);
    wb_word_init(&urgent->sync.guard, &another.queue);
    task->restart = true;
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    stub_run(task);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_ERR_OWNER);
    CHECK(!waits(other) && waits(urgent));
}

TEST(who_is_killed_while_it_waits_takes_no_signal_along)
{
    build();
    wait_there(task);
    wait_there(other);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    CHECK(waits(other) && !waits(task));
}
