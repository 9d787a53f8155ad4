// SPDX-License-Identifier: Apache-2.0
// Replication: when memory is copied, from where, and what happens when something comes between.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/memory.h"
#include "wb/task.h"

enum { STACK_BYTES = 256 };

static struct wb_task *task;
static _Alignas(64) unsigned char stack[STACK_BYTES];
static unsigned char *base;             // of its heap
static unsigned char replica[4][8192];  // what each core has at the addresses of heap and stack
static uint32_t looked, look_core;      // how often a replica was looked at, and whose
static void (*on_look)(void);           // what happens meanwhile

static const void *private(uint32_t core, const void *address)
{
    const unsigned char *at = address;

    looked++;
    look_core = core;
    if (on_look != NULL)
        on_look();
    if (at >= stack && at < stack + sizeof stack)
        return replica[core] + 4096 + (at - stack);
    return replica[core] + (at - base);
}

static void setup(void)
{
    stub_system(4);
    stub.private = private;
    on_look = NULL;
    looked = 0;
    task = stub_task("task", 0);
    task->mode = WB_REPLICATE;
    task->stack = stack;
    task->stack_bytes = sizeof stack;
    base = task->heap.base;
    for (unsigned char core = 0; core < 4; core++)
        memset(replica[core], 10 + core, sizeof replica[core]);
    stub_start(stub.system);
    stub_run(task);
    CHECK(wb_malloc(100) != NULL);
    stub_pause(WB_TASK_READY);
    stub_leave();
}

static jmp_buf offered;

// Leaves the checkpoint by a jump: the test itself plays what the cores do next.
static void leave_checkpoint(struct wb_task *away)
{
    (void)away;
    longjmp(offered, 1);
}

static void ask(uint32_t core)
{
    CHECK(wb_migration_request(task, core, WB_FOREVER, NULL) == WB_OK);
    stub_run(task);
    stub.on_away = leave_checkpoint;
    if (setjmp(offered) == 0)
        wb_checkpoint_enter();
    stub_leave();
}

static enum wb_task_state state(void)
{
    return wb_place_state(atomic_load(&task->place));
}

static bool is_at(uint32_t core)
{
    return state() == WB_TASK_READY && wb_task_core(task) == core && task->memory_core == core;
}

TEST(the_target_copies_what_is_in_use_from_the_source)
{
    setup();
    ask(1);
    CHECK(looked == 0 && state() == WB_TASK_OFFERED);
    stub_serve(1);
    CHECK(is_at(1) && look_core == 0);
    CHECK(stack[0] == 10 && stack[STACK_BYTES - 1] == 10 && base[40] == 10);
    CHECK(task->migration.bytes == STACK_BYTES + (uint64_t)(task->heap.next - base));
    CHECK(task->migration.mode == WB_REPLICATE);
}

TEST(a_task_that_is_handed_off_copies_nothing)
{
    setup();
    task->mode = WB_HANDOFF;
    ask(1);
    stub_serve(1);
    CHECK(is_at(1) && looked == 0 && task->migration.bytes == 0);
}

TEST(a_target_that_cannot_read_it_refuses_and_the_task_runs_on)
{
    setup();
    stub.private = NULL;
    ask(1);
    stub_serve(1);
    CHECK(state() == WB_TASK_RETURNED);
    stub_serve(0);
    CHECK(is_at(0) && atomic_load(&task->outcome) == WB_ERR_NOMEM);
    CHECK(wb_counter_get(&task->stats.refused) == 1);
}

static void withdraw(void)
{
    on_look = NULL;
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    stub_serve(0);
}

TEST(a_withdrawal_during_the_copy_wins)
{
    setup();
    ask(1);
    on_look = withdraw;
    stub_serve(1);
    CHECK(is_at(0) && atomic_load(&task->outcome) == WB_ERR_TIMEOUT);
    CHECK(task->migration.bytes == 0);
}

static void kill_target(void)
{
    on_look = NULL;
    stub_leave();
    CHECK(wb_core_died(stub.system, 1) == 0);
    stub_become(1, NULL);
}

TEST(a_target_killed_during_the_copy_leaves_the_source_as_it_was)
{
    setup();
    ask(1);
    on_look = kill_target;
    stub_serve(1);
    CHECK(state() != WB_TASK_OFFERED);
    stub_serve(0);
    CHECK(is_at(0) && atomic_load(&task->outcome) == WB_ERR_GONE);
}

TEST(what_a_dead_source_has_offered_is_fetched_by_the_heir)
{
    setup();
    ask(1);
    stub_leave();
    CHECK(wb_core_died(stub.system, 1) == 0);
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(2);
    stub_serve(3);
    CHECK(state() == WB_TASK_READY && look_core == 0);
    CHECK(task->memory_core == wb_task_core(task));
}

TEST(a_task_that_waited_on_a_dead_kernel_is_fetched_from_its_replica)
{
    setup();
    ask(3);
    stub_serve(3);
    CHECK(is_at(3));
    stub_leave();
    CHECK(wb_core_died(stub.system, 3) == 0);
    stub_serve(0);
    CHECK(is_at(0) && look_core == 3 && stack[0] == 13);
}

TEST(a_dead_kernel_whose_memory_cannot_be_read_takes_its_task_along)
{
    setup();
    stub.private = NULL;
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(state() == WB_TASK_LOST && atomic_load(&stub.system->live) == 0);
}

TEST(a_restarted_task_finds_its_heap_as_it_left_it)
{
    setup();
    task->restart = true;
    stub_run(task);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(is_at(1) && look_core == 0 && base[40] == 10 && task->restarts == 1);
    CHECK(task->revive == WB_REVIVE_NOT);
}

TEST(a_restarted_task_whose_heir_dies_in_turn_finds_its_heap_as_it_left_it)
{
    setup();
    task->restart = true;
    stub_run(task);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_core_died(stub.system, 1) == 0);
    stub_serve(2);
    CHECK(is_at(2) && look_core == 0 && base[40] == 10);
}

TEST(a_restarted_task_whose_heap_cannot_be_read_is_lost)
{
    setup();
    task->restart = true;
    stub_run(task);
    stub_leave();
    stub.private = NULL;
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(state() == WB_TASK_LOST && atomic_load(&stub.system->live) == 0);
}

TEST(a_request_for_a_task_that_is_lost_on_its_way_ends)
{
    setup();
    stub.private = NULL;
    ask(1);
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    stub_serve(1);
    CHECK(state() == WB_TASK_LOST && !wb_migration_pending(task));
    CHECK(atomic_load(&task->outcome) == WB_ERR_GONE);
}

TEST(an_heir_that_fetches_does_not_touch_a_record_that_others_fill)
{
    setup();
    task->migration = (struct wb_migration){ .bytes = 7, .copied_ns = 8 };
    CHECK(wb_core_died(stub.system, 0) == 0);
    atomic_store(&task->request, wb_request(WB_REQUEST_FILLING, 2, 1));
    stub_serve(1);
    CHECK(is_at(1) && task->migration.bytes == 7 && task->migration.copied_ns == 8);
}
