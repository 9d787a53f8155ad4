// SPDX-License-Identifier: Apache-2.0
// Replication: when memory is copied, from where, and what happens when something comes between.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

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
    stub.system->config.transport = WB_TRANSPORT_ALIAS;
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
    looked = 0;
}

static enum wb_task_state state(void)
{
    return wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST));
}

static bool is_at(uint32_t core)
{
    return state() == WB_TASK_READY && wb_task_core(task) == core &&
           wb_word_load(&task->memory_core, WB_SEQ_CST) == core;
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
    CHECK(is_at(0) && wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_NOMEM);
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
    CHECK(is_at(0) &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_TIMEOUT);
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
    CHECK(is_at(0) && wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
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
    CHECK(wb_word_load(&task->memory_core, WB_SEQ_CST) == wb_task_core(task));
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
    CHECK(state() == WB_TASK_LOST && wb_word_load(&stub.system->live, WB_SEQ_CST) == 0);
}

// ---- Through the transfer buffer ----------------------------------------------------------------

// Here source and target are one process: what the source has filled in, the target finds changed.
static void spoil(void)
{
    memset(stack, 77, sizeof stack);
    base[40] = 77;
}

TEST(the_buffer_carries_stack_and_heap_as_they_were_when_the_task_was_offered)
{
    setup();
    stub.system->config.transport = WB_TRANSPORT_BUFFER;
    memset(stack, 5, sizeof stack);
    base[40] = 6;
    ask(1);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == task->id + 1);
    spoil();
    stub_serve(1);
    CHECK(is_at(1) && looked == 0);
    CHECK(stack[0] == 5 && stack[STACK_BYTES - 1] == 5 && base[40] == 6);
    CHECK(task->migration.bytes == STACK_BYTES + (uint64_t)(task->heap.next - base));
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
}

TEST(a_kernel_without_aliases_takes_the_buffer_by_itself)
{
    setup();
    stub.system->config.transport = WB_TRANSPORT_AUTO;
    stub.private = NULL;
    ask(1);
    stub_serve(1);
    CHECK(is_at(1) && looked == 0 && task->migration.bytes != 0);
}

static bool takes_the_buffer(void)
{
    stub.system->config.transport = WB_TRANSPORT_AUTO;
    ask(1);
    const bool took = wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == task->id + 1;
    stub_serve(1);
    CHECK(is_at(1));
    return took;
}

TEST(a_small_context_takes_the_buffer_if_it_is_free_and_nobody_needs_it)
{
    setup();
    CHECK(takes_the_buffer());
    setup();
    stub.system->transfer_is_needed = true;
    CHECK(!takes_the_buffer() && look_core == 0);
    setup();
    wb_word_store(&stub.system->transfer_owner, 99, WB_SEQ_CST);
    CHECK(!takes_the_buffer() && look_core == 0);
}

TEST(a_large_context_is_read_by_alias)
{
    setup();
    // What counts is how far the heap was ever used, not what lies there.
    unsigned char *const next = task->heap.next;
    stub.system->config.transport = WB_TRANSPORT_AUTO;
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    task->heap.next = base + (1 << 20);
    stub_run(task);
    stub.on_away = leave_checkpoint;
    if (setjmp(offered) == 0)
        wb_checkpoint_enter();
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
    task->heap.next = next;
}

TEST(a_full_transfer_buffer_refuses_and_the_task_runs_on)
{
    setup();
    stub.system->config.transport = WB_TRANSPORT_BUFFER;
    wb_word_store(&stub.system->transfer_owner, 99, WB_SEQ_CST);
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    stub_run(task);
    wb_checkpoint_enter();
    CHECK(wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_FULL &&
          !wb_migration_pending(task));
    CHECK(state() == WB_TASK_RUNNING && wb_task_core(task) == 0);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 99);
}

static void ask_through_buffer(void)
{
    setup();
    stub.system->config.transport = WB_TRANSPORT_BUFFER;
    ask(1);
}

TEST(a_target_that_comes_too_early_comes_again)
{
    ask_through_buffer();
    const size_t filled = wb_word_load(&stub.system->transfer_filled, WB_SEQ_CST);
    wb_word_store(&stub.system->transfer_filled, 100, WB_SEQ_CST);
    const uint32_t rings = stub.rings[1];
    stub_serve(1);
    CHECK(state() == WB_TASK_OFFERED && stub.rings[1] == rings + 1);
    wb_word_store(&stub.system->transfer_filled, filled, WB_SEQ_CST);
    stub_serve(1);
    CHECK(is_at(1));
}

TEST(a_target_that_finds_the_buffer_given_back_comes_again)
{
    ask_through_buffer();
    memset(stub.system->transfer, 0, WB_LINE_BYTES);
    stub_serve(1);
    CHECK(state() == WB_TASK_OFFERED);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    stub_serve(0);
    CHECK(is_at(0));
}

TEST(a_source_killed_while_it_fills_leaves_its_memory_to_be_read)
{
    ask_through_buffer();
    wb_word_store(&stub.system->transfer_filled, 100, WB_SEQ_CST);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(is_at(1) && look_core == 0 && stack[0] == 10);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
}

TEST(a_source_killed_before_it_says_what_it_fills_leaves_its_memory_to_be_read)
{
    setup();
    wb_word_store(&stub.system->transfer_owner, task->id + 1, WB_SEQ_CST);
    CHECK(wb_core_died(stub.system, 0) == 0 && state() == WB_TASK_OFFERED);
    stub_serve(1);
    CHECK(is_at(1) && look_core == 0 && stack[0] == 10);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
}

TEST(a_source_killed_before_it_fills_the_buffer_leaves_its_memory_to_be_read_though_it_returns)
{
    setup();
    wb_word_store(&stub.system->transfer_owner, task->id + 1, WB_SEQ_CST);
    CHECK(wb_core_died(stub.system, 0) == 0 && state() == WB_TASK_OFFERED);
    wb_word_store(&stub.system->cores[0]->state, WB_CORE_UP, WB_SEQ_CST);
    stub_serve(1);
    CHECK(is_at(1) && look_core == 0 && stack[0] == 10);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
}

TEST(a_source_killed_while_it_fills_that_returns_at_once_gets_its_task_back_at_the_deadline)
{
    ask_through_buffer();
    wb_word_store(&stub.system->transfer_filled, 100, WB_SEQ_CST);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    wb_word_store(&stub.system->cores[0]->state, WB_CORE_UP, WB_SEQ_CST);
    stub_serve(1);
    CHECK(state() == WB_TASK_OFFERED);
    stub.now_ns = wb_stamp_get(&task->deadline_ns);
    wb_system_sweep(stub.system, stub.now_ns);
    stub_serve(0);
    CHECK(is_at(0) && looked == 0);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
}

TEST(a_withdrawn_offer_gives_the_buffer_back_and_the_next_begins_anew)
{
    ask_through_buffer();
    const size_t filled = wb_word_load(&stub.system->transfer_filled, WB_SEQ_CST);
    wb_word_store(&stub.system->transfer_filled, 100, WB_SEQ_CST);
    stub_serve(1);
    wb_word_store(&stub.system->transfer_filled, filled, WB_SEQ_CST);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    stub_serve(0);
    CHECK(is_at(0) && wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
    memset(stack, 4, sizeof stack);
    base[40] = 4;
    ask(1);
    spoil();
    stub_serve(1);
    CHECK(is_at(1) && stack[0] == 4 && base[40] == 4);
}

TEST(a_task_killed_between_its_checkpoint_and_its_departure_leaves_no_buffer_behind)
{
    setup();
    task->restart = true;
    wb_word_store(&stub.system->transfer_owner, task->id + 1, WB_SEQ_CST);
    stub_run(task);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST) == 0);
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
    CHECK(wb_word_load(&task->revive, WB_SEQ_CST) == WB_REVIVE_NOT);
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
    CHECK(state() == WB_TASK_LOST && wb_word_load(&stub.system->live, WB_SEQ_CST) == 0);
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
    CHECK(wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
}

TEST(an_heir_that_fetches_does_not_touch_a_record_that_others_fill)
{
    setup();
    task->migration = (struct wb_migration){ .bytes = 7, .copied_ns = 8 };
    CHECK(wb_core_died(stub.system, 0) == 0);
    wb_word_store(&task->request, wb_request(WB_REQUEST_FILLING, 2, 1), WB_SEQ_CST);
    stub_serve(1);
    CHECK(is_at(1) && task->migration.bytes == 7 && task->migration.copied_ns == 8);
}
