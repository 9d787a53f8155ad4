// SPDX-License-Identifier: Apache-2.0
// Semaphores: permits, waiting, and who is woken.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

// `task` on core 0, `other` and `urgent` on core 1.
static struct wb_task *task, *other, *urgent;
static struct wb_semaphore semaphore;

static void build(uint32_t value, uint32_t most)
{
    stub_system(2);
    task = stub_task("task", 0);
    other = stub_task("other", 1);
    urgent = build_task(stub.system, "urgent", 1, 5, task->entry);
    CHECK(wb_semaphore_init(&semaphore, value, most) == WB_OK);
    stub_start(stub.system);
    stub_run(task);
}

TEST(a_semaphore_needs_room_for_a_permit_and_for_those_it_starts_with)
{
    CHECK(wb_semaphore_init(&semaphore, 0, 0) == WB_ERR_INVAL);
    CHECK(wb_semaphore_init(&semaphore, 3, 2) == WB_ERR_INVAL);
    CHECK(wb_semaphore_init(&semaphore, 2, 2) == WB_OK);
}

TEST(permits_are_taken_one_by_one)
{
    build(2, 3);
    CHECK(wb_semaphore_take(&semaphore, 0) == WB_OK);
    CHECK(wb_semaphore_spin(&semaphore, 0) == WB_OK);
    CHECK(wb_semaphore_take(&semaphore, 0) == WB_ERR_EMPTY);
    CHECK(wb_semaphore_spin(&semaphore, 0) == WB_ERR_EMPTY);
    CHECK(stub.blocks == 0);
}

TEST(there_are_never_more_permits_than_the_most)
{
    build(0, 2);
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    CHECK(wb_semaphore_give(&semaphore) == WB_ERR_FULL);
    CHECK(wb_semaphore_take(&semaphore, 0) == WB_OK);
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
}

TEST(a_binary_semaphore_has_one_permit)
{
    build(1, 1);
    CHECK(wb_semaphore_give(&semaphore) == WB_ERR_FULL);
    CHECK(wb_semaphore_take(&semaphore, 0) == WB_OK);
    CHECK(wb_semaphore_take(&semaphore, 0) == WB_ERR_EMPTY);
}

TEST(a_take_that_waits_in_vain_times_out_and_waits_no_more)
{
    build(0, 1);
    stub.now_ns = 7;
    CHECK(wb_semaphore_take(&semaphore, 100) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns == 107 && stub.blocks == 1 && stub.spins > 0);
    CHECK(wb_word_load(&task->sync.waits_for, WB_SEQ_CST) == NULL);
}

// What `other` does on core 1 while the running task is blocked or polls.
static void give_elsewhere(void)
{
    struct wb_task *const self = stub.self;

    stub_become(1, other);
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    stub_become(0, self);
}

static void give_while_blocked(uint64_t until_ns)
{
    (void)until_ns;
    give_elsewhere();
}

TEST(a_blocked_taker_is_woken_on_its_own_core_by_a_giver_on_another)
{
    build(0, 1);
    stub.on_block = give_while_blocked;
    CHECK(wb_semaphore_take(&semaphore, WB_FOREVER) == WB_OK);
    CHECK(stub.blocks == 1 && stub.rings[0] > 0);
    CHECK(stub_serve(0) == 1 && stub.unblocked == task);
}

static void give_too_late(uint64_t until_ns)
{
    stub.now_ns = until_ns;
    give_elsewhere();
}

TEST(a_permit_that_comes_with_the_timeout_is_taken)
{
    build(0, 1);
    stub.on_block = give_too_late;
    CHECK(wb_semaphore_take(&semaphore, 100) == WB_OK);
    CHECK(stub.now_ns == 100);
}

static void wake_without_reason(uint64_t until_ns)
{
    (void)until_ns;
    if (stub.blocks == 3)
        give_elsewhere();
}

TEST(a_taker_that_is_woken_without_reason_waits_on)
{
    build(0, 1);
    stub.on_block = wake_without_reason;
    CHECK(wb_semaphore_take(&semaphore, WB_FOREVER) == WB_OK);
    CHECK(stub.blocks == 3);
}

static void give_at_the_third_turn(void)
{
    if (stub.spins == 3)
        give_elsewhere();
}

TEST(spinning_takes_what_another_core_gives_and_never_blocks)
{
    build(0, 1);
    stub.on_spin = give_at_the_third_turn;
    CHECK(wb_semaphore_spin(&semaphore, WB_FOREVER) == WB_OK);
    CHECK(stub.spins == 3 && stub.blocks == 0);
}

static void let_time_pass(void)
{
    stub.now_ns += 10;
}

TEST(spinning_in_vain_times_out)
{
    build(0, 1);
    stub.on_spin = let_time_pass;
    CHECK(wb_semaphore_spin(&semaphore, 100) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns == 100 && stub.blocks == 0);
}

// The last turn of its polling finds nothing, and before its last look there is something.
static void give_at_the_first_turn(void)
{
    if (stub.spins == 1)
        give_elsewhere();
}

TEST(what_is_given_just_before_it_would_block_is_taken)
{
    build(0, 1);
    stub.on_spin = give_at_the_first_turn;
    CHECK(wb_semaphore_take(&semaphore, WB_FOREVER) == WB_OK);
    CHECK(stub.blocks == 0 && wb_word_load(&task->sync.waits_for, WB_SEQ_CST) == NULL);
}

// ---- Several waiters ----------------------------------------------------------------------------

// They wait as block() of wait_queue.c leaves them.
static void both_wait(void)
{
    wb_word_init(&other->sync.waits_for, &semaphore.queue);
    wb_word_init(&urgent->sync.waits_for, &semaphore.queue);
    wb_word_init(&semaphore.queue.waited, 1);
}

TEST(the_most_urgent_waiter_is_woken_and_nobody_else)
{
    build(0, 2);
    both_wait();
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    CHECK(stub_serve(1) == 1 && stub.unblocked == urgent);
    CHECK(wb_word_load(&urgent->sync.waits_for, WB_SEQ_CST) == NULL);
    CHECK(wb_word_load(&other->sync.waits_for, WB_SEQ_CST) == &semaphore.queue);
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    CHECK(stub_serve(1) == 1 && stub.unblocked == other);
}

TEST(a_waiter_at_another_semaphore_is_left_alone)
{
    struct wb_semaphore another;

    build(0, 1);
    CHECK(wb_semaphore_init(&another, 0, 1) == WB_OK);
    both_wait();
    CHECK(wb_semaphore_give(&another) == WB_OK);
    CHECK(stub_serve(1) == 0);
}

TEST(giving_rings_nobody_when_nobody_waits)
{
    build(0, 2);
    const uint32_t rings = stub.rings[0] + stub.rings[1];
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    CHECK(stub.rings[0] + stub.rings[1] == rings);
}

static void two_permits_and_one_waker(uint64_t until_ns)
{
    (void)until_ns;
    // As a giver leaves it that found another one looking for a waiter.
    wb_word_init(&semaphore.value, 2);
    wb_word_init(&task->sync.waits_for, NULL);
    both_wait();
}

TEST(a_taker_that_leaves_more_behind_wakes_the_next)
{
    build(0, 2);
    stub.on_block = two_permits_and_one_waker;
    CHECK(wb_semaphore_take(&semaphore, WB_FOREVER) == WB_OK);
    CHECK(stub_serve(1) == 1 && stub.unblocked == urgent);
}

TEST(waiting_that_a_killed_giver_left_unannounced_ends_when_recovery_wakes_everybody)
{
    build(0, 1);
    both_wait();
    // The giver has taken `waited` and was killed before it chose.
    wb_word_init(&semaphore.queue.waited, 0);
    stub_leave();
    wb_core_died(stub.system, 0);
    stub.unblocks = 0;
    stub_serve(1);
    CHECK(stub.unblocks >= 2);
}

TEST(a_restarted_task_waits_for_nothing)
{
    build(0, 1);
    task->restart = true;
    wb_word_init(&task->sync.waits_for, &semaphore.queue);
    wb_word_init(&semaphore.queue.waited, 1);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_word_load(&task->sync.waits_for, WB_SEQ_CST) == NULL);
}
