// SPDX-License-Identifier: Apache-2.0
// Mutexes and locks by address: who holds them, holders that are over, inherited priorities.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

// `task` and `peer` on core 0, `other` and `urgent` on core 1, from the least urgent to the most.
static struct wb_task *task, *peer, *other, *urgent;
static struct wb_mutex mutex, second;
static const char names[WB_LOCKS + 1];

static void build(void)
{
    stub_system(2);
    task = stub_task("task", 0);
    peer = build_task(stub.system, "peer", 0, 4, task->entry);
    other = build_task(stub.system, "other", 1, 5, task->entry);
    urgent = build_task(stub.system, "urgent", 1, 9, task->entry);
    wb_mutex_init(&mutex);
    wb_mutex_init(&second);
    stub_start(stub.system);
    stub_run(task);
}

static uint32_t priority_of(const struct wb_task *t)
{
    return wb_sync_priority(&t->sync);
}

// ---- Holding ------------------------------------------------------------------------------------

TEST(a_mutex_is_held_by_one_task)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_ERR_EMPTY);
    CHECK(wb_mutex_try(&mutex) == WB_ERR_EMPTY);
    CHECK(wb_mutex_lock(&mutex, 50) == WB_ERR_TIMEOUT);
    stub_become(0, task);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
    stub_become(1, other);
    CHECK(wb_mutex_try(&mutex) == WB_OK);
}

TEST(a_mutex_is_locked_once_and_unlocked_by_its_holder)
{
    build();
    CHECK(wb_mutex_unlock(&mutex) == WB_ERR_INVAL);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_ERR_INVAL);
    stub_become(1, other);
    CHECK(wb_mutex_unlock(&mutex) == WB_ERR_INVAL);
    stub_become(0, task);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
}

// ---- A holder that is over ----------------------------------------------------------------------

TEST(a_mutex_of_a_task_that_ended_is_taken_and_said_so)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_pause(WB_TASK_ENDED);
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_ERR_OWNER);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
}

TEST(a_task_that_ends_with_a_mutex_wakes_those_who_wait)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    wb_word_init(&other->sync.waits_for, &mutex.queue);
    wb_word_init(&urgent->sync.waits_for, &second.queue);
    stub_pause(WB_TASK_ENDED);
    CHECK(stub_serve(1) == 1 && stub.unblocked == other);
}

TEST(a_mutex_of_a_lost_task_is_taken_and_said_so)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    stub_become(1, other);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_ERR_OWNER);
}

TEST(a_restarted_task_does_not_hold_what_its_former_life_held)
{
    build();
    task->restart = true;
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    CHECK(wb_lock(&names[0], WB_FOREVER) == WB_OK);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    stub_run(task);
    CHECK(task->sync.held == 0);
    CHECK(wb_mutex_unlock(&mutex) == WB_ERR_INVAL && wb_unlock(&names[0]) == WB_ERR_INVAL);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_ERR_OWNER);
    CHECK(wb_lock(&names[0], WB_FOREVER) == WB_ERR_OWNER);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK && wb_unlock(&names[0]) == WB_OK);
}

static void owner_dies(uint64_t until_ns)
{
    struct wb_task *const self = stub.self;

    CHECK(until_ns == WB_FOREVER);
    stub_leave();
    wb_core_died(stub.system, 0);
    stub_serve(1);
    stub_become(1, self);
}

TEST(a_waiter_is_woken_when_the_holder_dies)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_run(other);
    stub.on_block = owner_dies;
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_ERR_OWNER);
    CHECK(stub.blocks == 1);
}

// ---- Inherited priorities -----------------------------------------------------------------------

static uint32_t seen;  // the holder's priority while the waiter was blocked

static void holder_is_told(uint64_t until_ns)
{
    struct wb_task *const self = stub.self;
    const uint32_t core = stub.core;

    stub_serve(0);
    seen = priority_of(task);
    stub.now_ns = until_ns;
    stub_become(core, self);
}

TEST(a_holder_is_as_urgent_as_the_most_urgent_waiter_on_another_core)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    wb_word_init(&other->sync.waits_for, &mutex.queue);
    stub_run(urgent);
    stub.on_block = holder_is_told;
    CHECK(wb_mutex_lock(&mutex, 100) == WB_ERR_TIMEOUT);
    CHECK(seen == 9 && stub.reprioritises == 1 && stub.reprioritised == task);
    // The most urgent one has given up; one is left.
    stub_serve(0);
    CHECK(priority_of(task) == 5 && stub.reprioritises == 2);
    stub_become(0, task);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
    CHECK(priority_of(task) == 3 && stub.reprioritises == 3);
    CHECK(wb_own_priority(task) == 3);
}

TEST(a_less_urgent_waiter_changes_nothing)
{
    build();
    stub_become(1, urgent);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_run(task);
    stub_serve(1);
    CHECK(wb_mutex_lock(&mutex, 100) == WB_ERR_TIMEOUT);
    CHECK(stub_serve(1) == 0 && priority_of(urgent) == 9 && stub.reprioritises == 0);
}

TEST(a_priority_is_inherited_along_a_chain_of_mutexes)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_become(1, other);
    CHECK(wb_mutex_lock(&second, WB_FOREVER) == WB_OK);
    wb_word_init(&other->sync.waits_for, &mutex.queue);
    stub_run(urgent);
    stub.on_block = NULL;
    CHECK(wb_mutex_lock(&second, 100) == WB_ERR_TIMEOUT);
    // It has given up, so wait again as it did, and let every core look.
    wb_word_init(&urgent->sync.waits_for, &second.queue);
    wb_word_add(&other->sync.reevaluations, 1, WB_SEQ_CST);
    wb_inbox_post(stub.system->cores[1], other->id);
    stub_serve(1);
    stub_serve(0);
    CHECK(priority_of(other) == 9 && priority_of(task) == 9);
    wb_word_init(&urgent->sync.waits_for, NULL);
    wb_word_add(&other->sync.reevaluations, 1, WB_SEQ_CST);
    wb_inbox_post(stub.system->cores[1], other->id);
    stub_serve(1);
    stub_serve(0);
    CHECK(priority_of(other) == 5 && priority_of(task) == 5);
}

TEST(who_takes_a_mutex_inherits_from_those_who_still_wait)
{
    build();
    wb_word_init(&other->sync.waits_for, &mutex.queue);
    wb_word_init(&mutex.queue.waited, 1);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    CHECK(priority_of(task) == 5 && stub.reprioritised == task);
}

TEST(a_task_arrives_with_the_priority_it_inherits)
{
    build();
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    stub_pause(WB_TASK_READY);
    wb_word_init(&urgent->sync.waits_for, &mutex.queue);
    wb_word_add(&task->sync.reevaluations, 1, WB_SEQ_CST);
    wb_word_store(&task->owner_state, wb_owner_state_offer(0, 1, 0), WB_SEQ_CST);
    wb_inbox_post(stub.system->cores[1], task->id);
    stub_serve(1);
    CHECK(stub.attached == task && priority_of(task) == 9 && stub.reprioritises == 0);
}

TEST(a_restarted_task_inherits_nothing)
{
    build();
    task->restart = true;
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    wb_word_init(&urgent->sync.waits_for, &mutex.queue);
    wb_word_store(&task->sync.priority, 9, WB_SEQ_CST);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(priority_of(task) == 3);
}

// ---- Locks by address ---------------------------------------------------------------------------

TEST(an_address_is_locked_by_one_task_and_others_are_free)
{
    build();
    CHECK(wb_lock(&names[1], WB_FOREVER) == WB_OK);
    CHECK(wb_lock(&names[1], WB_FOREVER) == WB_ERR_INVAL);
    stub_become(1, other);
    CHECK(wb_lock(&names[1], 0) == WB_ERR_EMPTY);
    CHECK(wb_lock(&names[1], 50) == WB_ERR_TIMEOUT);
    CHECK(wb_lock(&names[2], 0) == WB_OK);
    CHECK(wb_unlock(&names[1]) == WB_ERR_INVAL);
    stub_become(0, task);
    CHECK(wb_unlock(&names[1]) == WB_OK);
    CHECK(wb_unlock(&names[1]) == WB_ERR_INVAL);
}

TEST(nothing_and_what_was_never_locked_cannot_be_unlocked)
{
    build();
    CHECK(wb_lock(NULL, 0) == WB_ERR_INVAL && wb_unlock(NULL) == WB_ERR_INVAL);
    CHECK(wb_unlock(&names[3]) == WB_ERR_INVAL);
}

TEST(the_lock_of_a_task_that_ended_is_taken_and_said_so)
{
    build();
    CHECK(wb_lock(&names[1], WB_FOREVER) == WB_OK);
    stub_pause(WB_TASK_ENDED);
    stub_become(1, other);
    CHECK(wb_lock(&names[1], 0) == WB_ERR_OWNER);
    CHECK(other->sync.held == 1);
}

TEST(there_are_so_many_names_and_they_stay)
{
    build();
    for (uint32_t i = 0; i < WB_LOCKS; i++)
        CHECK(wb_lock(&names[i], 0) == WB_OK && wb_unlock(&names[i]) == WB_OK);
    CHECK(wb_lock(&names[WB_LOCKS], 0) == WB_ERR_NOMEM);
    for (uint32_t i = 0; i < WB_LOCKS; i++)
        CHECK(wb_lock(&names[i], 0) == WB_OK);
    CHECK(task->sync.held == WB_LOCKS);
}

static void arrives(struct wb_task *moved)
{
    CHECK(moved == task);
    stub_serve(1);
}

TEST(a_task_with_an_address_locked_is_not_moved_and_one_with_a_mutex_is)
{
    build();
    CHECK(wb_lock(&names[0], WB_FOREVER) == WB_OK);
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    wb_checkpoint();
    CHECK(wb_task_core(task) == 0 &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_HELD);
    CHECK(wb_unlock(&names[0]) == WB_OK);
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    stub.on_away = arrives;
    wb_checkpoint();
    CHECK(wb_task_core(task) == 1 && wb_mutex_unlock(&mutex) == WB_OK);
}
