// SPDX-License-Identifier: Apache-2.0
// with: check.c kernel_stub.c build.c
//
// Recreation, step by step: what the transfer buffer holds, who owns it, and what each life of the
// task begins with.

#include <string.h>

#include "../src/context/context.h"
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

static struct wb_task *task;
static struct wb_channel *channel;
static struct wb_port *in, *out;

// A task that is recreated, on core 0 of two, running; it keeps one block.
static void start(void)
{
    struct wb_system *system = stub_system(2);

    task = stub_task("recreated", 0);
    task->mode = WB_RECREATE;
    task->restart = true;
    channel = stub_channel("stream", 4, 4, false);
    out = build_port(stub_task("sender", 0), channel, WB_OUT);
    in = build_port(task, channel, WB_IN);
    stub_start(system);
    stub_run(task);
    char *block = wb_malloc(100);
    strcpy(block, "kept");
    wb_task_set_state(task, block);
}

static uint32_t owner(void)
{
    return wb_word_load(&stub.system->transfer_owner, WB_SEQ_CST);
}

// As its memory goes with its process.
static void lose_memory(void)
{
    memset(task->heap.base, 0xa5, (size_t)(task->heap.end - task->heap.base));
    task->heap.next = NULL;
    task->state = NULL;
}

static void park(void)
{
    CHECK(wb_recreation_park(task) == WB_OK);
    lose_memory();
}

static void offer_to(uint32_t core)
{
    CHECK(wb_migration_request(task, core, WB_FOREVER, NULL) == WB_OK);
    uint32_t request = wb_word_load(&task->request, WB_SEQ_CST);
    wb_word_store(&task->request, wb_request(WB_REQUEST_ACCEPTED, core, wb_request_number(request)),
                  WB_SEQ_CST);
    park();
    stub_become(0, NULL);
    wb_task_departed(task, stub.now_ns, stub.now_ns);
}

TEST(a_parked_context_begins_the_next_life)
{
    start();
    const size_t used_bytes = task->heap.used_bytes;
    park();
    CHECK(owner() == task->id + 1);
    wb_recreation_begin(task);
    CHECK(strcmp(wb_task_state(task), "kept") == 0);
    CHECK(task->heap.used_bytes == used_bytes);
    CHECK(wb_malloc_size(wb_task_state(task)) >= 100);
    CHECK(owner() == 0);
}

TEST(a_life_without_a_context_begins_with_an_empty_heap_and_no_state)
{
    start();
    wb_free(wb_malloc(30));
    lose_memory();
    wb_recreation_begin(task);
    CHECK(wb_task_state(task) == NULL && task->heap.used_bytes == 0);
    CHECK(task->heap.next == task->heap.base);
    unsigned char *block = wb_malloc(30);
    CHECK(block > task->heap.base && block < task->heap.end);
}

TEST(a_context_that_was_cut_short_is_not_begun_with)
{
    start();
    const size_t bytes = wb_context_bytes(task, false);
    park();
    stub.system->transfer[bytes - 100] ^= 1;
    wb_recreation_begin(task);
    CHECK(wb_task_state(task) == NULL && task->heap.used_bytes == 0);
    CHECK(owner() == 0);
}

TEST(who_is_killed_before_it_has_saved_anything_leaves_no_older_context)
{
    start();
    park();
    wb_recreation_begin(task);
    CHECK(wb_transfer_take(task) == WB_OK);
    wb_recreation_begin(task);
    CHECK(wb_task_state(task) == NULL);
}

TEST(a_transfer_buffer_that_another_task_owns_is_full)
{
    start();
    struct wb_task *other = &stub.system->tasks[1];
    CHECK(wb_transfer_take(other) == WB_OK);
    CHECK(wb_recreation_park(task) == WB_ERR_FULL);
    CHECK(wb_transfer_is_of(other) && !wb_transfer_is_of(task));
    wb_transfer_release(task);
    CHECK(wb_transfer_is_of(other));
    wb_transfer_release(other);
    CHECK(wb_recreation_park(task) == WB_OK);
}

TEST(a_system_without_such_tasks_has_no_transfer_buffer)
{
    struct wb_system *system = stub_system(1);

    stub_task("ordinary", 0);
    stub_start(system);
    CHECK(system->transfer == NULL && system->transfer_bytes == 0);
}

TEST(a_system_without_memory_for_the_transfer_buffer_does_not_start)
{
    struct wb_system *system = stub_system(1);

    stub_task("recreated", 0)->mode = WB_RECREATE;
    system->arena = system->arena_end - 64;
    CHECK(!wb_system_reserve(system) && system->transfer == NULL);
    CHECK(wb_system_start(system, 0) == WB_ERR_INVAL);
}

TEST(a_task_that_keeps_images_does_not_start_without_them)
{
    struct wb_system *system = stub_system(1);

    stub_task("kept", 0)->checkpoint_every = 1;
    CHECK(wb_system_start(system, 0) == WB_ERR_INVAL);
    CHECK(wb_system_reserve(system) && wb_system_start(system, 0) == WB_OK);
}

TEST(a_new_life_takes_what_was_held_again_and_gives_up_what_was_claimed)
{
    const void *slot;
    const int message = 5;
    int got = 0;

    start();
    stub_become(0, out->task);
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    stub_become(0, task);
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK);
    park();
    wb_recreation_begin(task);
    CHECK(wb_port_receive(in, &got, 0) == WB_OK && got == 5);
}

// ---- With checkpoint images ---------------------------------------------------------------------

static void receive(int expected)
{
    int got = 0;

    CHECK(wb_port_receive(in, &got, 0) == WB_OK && got == expected);
}

// As start(), with an image after the first of three messages, and the second one received.
static void start_with_image(void)
{
    struct wb_system *system = stub_system(2);

    task = stub_task("recreated", 0);
    task->mode = WB_RECREATE;
    task->restart = task->replay = true;
    task->checkpoint_every = 1;
    channel = stub_channel("stream", 4, 4, false);
    out = build_port(stub_task("sender", 0), channel, WB_OUT);
    in = build_port(task, channel, WB_IN);
    stub_start(system);
    stub_become(0, out->task);
    for (int i = 1; i <= 3; i++)
        CHECK(wb_port_send(out, &i, 0) == WB_OK);
    stub_run(task);
    int *state = wb_malloc(sizeof *state);
    wb_task_set_state(task, state);
    receive(*state = 1);
    wb_checkpoint_enter();
    CHECK(wb_counter_get(&task->images.taken) == 1);
    receive(*state = 2);
}

TEST(a_recreated_task_that_was_killed_begins_with_its_image_and_the_messages_since)
{
    start_with_image();
    lose_memory();
    wb_recreation_begin(task);
    CHECK(*(int *)wb_task_state(task) == 1 && task->images.resumed == 1);
    receive(2);
    receive(3);
}

TEST(a_recreated_task_that_moves_begins_with_its_context_and_no_message_again)
{
    start_with_image();
    park();
    wb_recreation_begin(task);
    CHECK(*(int *)wb_task_state(task) == 2 && task->images.resumed == 0);
    receive(3);
}

// ---- Two phases ---------------------------------------------------------------------------------

TEST(the_program_is_loaded_before_the_task_is_taken)
{
    start();
    offer_to(1);
    stub_serve(1);
    CHECK(stub.loads == 1 && stub.unloads == 0);
    CHECK(wb_task_core(task) == 1 && stub.attached == task);
}

TEST(a_target_that_cannot_load_the_program_gives_the_task_back)
{
    start();
    offer_to(1);
    stub.load = WB_ERR_NOMEM;
    stub_serve(1);
    CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_RETURNED);
    stub_serve(0);
    CHECK(wb_task_core(task) == 0 &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_NOMEM);
    CHECK(owner() == task->id + 1);
    wb_recreation_begin(task);
    CHECK(strcmp(wb_task_state(task), "kept") == 0);
}

static void withdraw(void)
{
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
}

TEST(a_program_whose_task_is_withdrawn_meanwhile_is_unloaded)
{
    start();
    offer_to(1);
    stub.on_load = withdraw;
    stub_serve(1);
    CHECK(stub.loads == 1 && stub.unloads == 1);
    stub_serve(0);
    CHECK(wb_task_core(task) == 0 &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_TIMEOUT);
}

TEST(a_program_killed_after_its_checkpoint_ends_the_request)
{
    start();
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    wb_word_store(&task->request, wb_request(WB_REQUEST_ACCEPTED, 1, 1), WB_SEQ_CST);
    wb_recreation_killed(task);
    CHECK(!wb_migration_pending(task) &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
    CHECK(task->restarts == 1 && wb_counter_get(&task->stats.refused) == 1);
}

TEST(a_program_killed_with_a_request_pending_leaves_it_to_its_next_life)
{
    start();
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    wb_recreation_killed(task);
    CHECK(wb_checkpoint_wanted(task) && task->restarts == 1);
}

// Its memory is gone with its kernel, whatever it did.
TEST(a_recreated_task_that_only_waited_on_a_killed_kernel_starts_again)
{
    start();
    stub_pause(WB_TASK_BLOCKED);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(task->restarts == 1 && wb_task_core(task) == 1);
    CHECK(stub.loads == 0);  // recovery's offers go nowhere else: the task itself will tell
}

TEST(a_lost_task_gives_the_transfer_buffer_back)
{
    start();
    task->restart = false;
    park();
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    CHECK(owner() == 0);
}

// Its kernel lives, so recovery does not come.
TEST(a_program_killed_while_it_asks_for_a_migration_of_another_task_leaves_no_request)
{
    start();
    struct wb_task *sender = out->task;
    wb_word_store(&sender->request, wb_request(WB_REQUEST_FILLING, 0, 1), WB_SEQ_CST);
    wb_recreation_killed(task);
    CHECK(!wb_migration_pending(sender) &&
          wb_outcome_status(wb_word_load(&sender->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
    CHECK(wb_migration_request(sender, 1, WB_FOREVER, NULL) == WB_OK);

    start();
    wb_word_store(&out->task->request, wb_request(WB_REQUEST_FILLING, 1, 1), WB_SEQ_CST);
    wb_recreation_killed(task);
    CHECK(wb_migration_pending(out->task));
}

TEST(the_priority_that_a_killed_program_has_lent_or_was_lent_is_computed_anew)
{
    start();
    stub.reprioritises = 0;
    wb_word_store(&task->sync.priority, wb_own_priority(task) + 1, WB_SEQ_CST);
    wb_word_store(&out->task->sync.priority, wb_own_priority(task) + 1, WB_SEQ_CST);
    wb_recreation_killed(task);
    stub_serve(0);
    CHECK(wb_sync_priority(&task->sync) == wb_own_priority(task));
    CHECK(wb_sync_priority(&out->task->sync) == wb_own_priority(task) && stub.reprioritises == 2);
}
