// SPDX-License-Identifier: Apache-2.0
// Checkpoint images: when they are taken, and what becomes of the channels after a death.
// with: check.c build.c kernel_stub.c
#include "../src/parts.h"

#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { SLOTS = 4, STACK_BYTES = 256 };

static struct wb_task *task, *before, *after;
static struct wb_port *feed, *in, *out, *drain;
static _Alignas(64) unsigned char stack[STACK_BYTES];

enum { PAGE = 4096, PAGES = 4 };
static _Alignas(64) unsigned char memory[3 * PAGES * PAGE];

static void setup_as(uint32_t every, bool replay, bool updates)
{
    stub_system(2);
    stub.system->config.updates_images = updates;
    before = stub_task("before", 1);
    task = stub_task("task", 0);
    after = stub_task("after", 1);
    task->checkpoint_every = every;
    task->replay = replay;
    task->restart = true;
    task->stack = stack;
    task->stack_bytes = sizeof stack;
    memset(stack, 1, sizeof stack);
    wb_heap_init(&task->heap, memory, sizeof memory);
    struct wb_channel *first = stub_channel("first", SLOTS, 4, false);
    struct wb_channel *second = stub_channel("second", SLOTS, 4, false);
    feed = build_port(before, first, WB_OUT);
    in = build_port(task, first, WB_IN);
    out = build_port(task, second, WB_OUT);
    drain = build_port(after, second, WB_IN);
    stub_start(stub.system);
    stub_run(task);
}

static void setup(uint32_t every, bool replay)
{
    setup_as(every, replay, false);
}

static void put(uint32_t message)
{
    stub_become(1, before);
    CHECK(wb_port_send(feed, &message, 0) == WB_OK);
    stub_become(0, task);
}

static uint32_t taken(void)
{
    uint32_t message;

    stub_become(1, after);
    CHECK(wb_port_receive(drain, &message, 0) == WB_OK);
    return message;
}

static bool nothing_to_take(void)
{
    uint32_t message;

    stub_become(1, after);
    return wb_port_receive(drain, &message, 0) == WB_ERR_EMPTY;
}

// Receives one message and sends it on.
static uint32_t pass(void)
{
    uint32_t message;

    CHECK(wb_port_receive(in, &message, 0) == WB_OK);
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    return message;
}

// The kernel is killed while the task runs, and the other core takes it up.
static void die(void)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(wb_task_core(task) == 1);
    stub_run(task);
}

TEST(the_first_checkpoint_takes_an_image_and_then_every_nth)
{
    setup(3, true);
    for (uint32_t i = 1; i <= 10; i++) {
        wb_checkpoint_enter();
        CHECK(stub.captures == (i + 2) / 3);
    }
    CHECK(wb_counter_get(&task->images.taken) == 4);
}

TEST(a_task_without_images_wants_no_checkpoint_and_takes_none)
{
    setup(0, true);
    CHECK(!wb_checkpoint_wanted(task));
    wb_checkpoint_enter();
    CHECK(stub.captures == 0 && stub.yields == 1);
    setup(5, true);
    CHECK(wb_checkpoint_wanted(task));
}

TEST(memory_and_state_are_as_they_were_at_the_image)
{
    setup(1, true);
    unsigned char *block = wb_malloc(100);
    memset(block, 7, 100);
    wb_task_set_state(task, block);
    wb_checkpoint_enter();
    memset(block, 8, 100);
    memset(stack, 9, sizeof stack);
    wb_task_set_state(task, NULL);
    void *late = wb_malloc(100);
    die();
    CHECK(wb_task_state(task) == block && block[0] == 7 && block[99] == 7);
    CHECK(stack[0] == 1 && stack[STACK_BYTES - 1] == 1);
    CHECK(wb_malloc(100) == late);
    CHECK(task->images.resumed == 1 && task->restarts == 0);
}

TEST(with_replay_messages_come_again_and_are_not_sent_twice)
{
    setup(2, true);
    for (uint32_t i = 0; i < 3; i++)
        put(i);
    CHECK(pass() == 0);
    wb_checkpoint_enter();
    CHECK(pass() == 1 && pass() == 2);
    CHECK(wb_channel_depth(in->channel) == 2);
    die();
    CHECK(pass() == 1);
    CHECK(task->images.replayed == 2 && wb_port_messages(out) == 3);
    CHECK(pass() == 2);
    stub_become(1, before);
    CHECK(wb_port_send(feed, &(uint32_t){ 3 }, 0) == WB_OK);
    stub_become(1, task);
    CHECK(pass() == 3 && wb_port_messages(out) == 4 && wb_port_messages(in) == 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(taken() == i);
    CHECK(nothing_to_take());
}

TEST(an_image_gives_back_what_was_released_before_it)
{
    setup(2, true);
    wb_checkpoint_enter();
    for (uint32_t i = 0; i < SLOTS; i++)
        put(i);
    pass();
    pass();
    stub_become(1, before);
    CHECK(wb_port_send(feed, &(uint32_t){ 9 }, 0) == WB_ERR_FULL);
    stub_become(0, task);
    wb_checkpoint_enter();
    wb_checkpoint_enter();
    put(9);
    CHECK(wb_channel_depth(in->channel) == 3);
}

TEST(what_was_sent_before_the_death_is_dropped_once)
{
    setup(10, true);
    wb_checkpoint_enter();
    put(0);
    put(1);
    CHECK(pass() == 0);
    die();
    CHECK(pass() == 0);
    CHECK(out->resend_skip == 0);
    CHECK(pass() == 1);
    CHECK(taken() == 0 && taken() == 1 && nothing_to_take());
}

TEST(a_send_that_was_not_counted_before_the_death_is_not_repeated_either)
{
    setup(10, true);
    wb_checkpoint_enter();
    put(0);
    pass();
    // As if the kernel had been killed between the store of the index and the count.
    wb_counter_set(&out->messages, 0);
    die();
    CHECK(out->resend_skip == 1 && wb_port_messages(out) == 1);
    pass();
    CHECK(taken() == 0 && nothing_to_take());
}

TEST(without_replay_messages_are_skipped_and_counted)
{
    setup(10, false);
    wb_checkpoint_enter();
    for (uint32_t i = 0; i < 3; i++)
        put(i);
    CHECK(pass() == 0 && pass() == 1);
    die();
    CHECK(task->images.skipped == 2 && task->images.replayed == 0);
    CHECK(pass() == 2);
    CHECK(taken() == 0 && taken() == 1 && taken() == 2 && nothing_to_take());
}

TEST(a_damaged_image_is_found_out_and_the_task_starts_again_where_it_may)
{
    setup(1, true);
    wb_checkpoint_enter();
    unsigned char *image = task->images.buffer[0];
    image[300] ^= 1;
    die();
    CHECK(task->images.damaged == 1 && task->images.resumed == 0 && task->restarts == 1);
}

TEST(every_bit_of_an_image_counts)
{
    setup(1, true);
    wb_checkpoint_enter();
    unsigned char *image = task->images.buffer[0];
    for (uint32_t i = 0; i < 200; i++) {
        image[i] ^= 0x10;
        CHECK(!wb_parts.images->resume(task));
        image[i] ^= 0x10;
        wb_word_store(&task->images.newest, 1, WB_SEQ_CST);
    }
    CHECK(wb_parts.images->resume(task));
}

// ---- Images that are brought up to date ---------------------------------------------------------

static unsigned char *setup_pages(void)
{
    setup_as(1, true, true);
    unsigned char *pages = wb_malloc(PAGES * PAGE);
    CHECK(pages != NULL);
    memset(pages, 5, PAGES * PAGE);
    wb_task_set_state(task, pages);
    wb_checkpoint_enter();
    wb_checkpoint_enter();
    return pages;
}

TEST(an_image_writes_what_has_changed_since_the_last_but_one)
{
    unsigned char *pages = setup_pages();

    pages[2 * PAGE]++;
    stack[1]++;
    stub.updates = 0;
    wb_checkpoint_enter();
    CHECK(stub.updates == 2);
    pages[0]++;
    stub.updates = 0;
    wb_checkpoint_enter();
    CHECK(stub.updates == 3);
    stub.updates = 0;
    wb_checkpoint_enter();
    CHECK(stub.updates == 1);
    wb_checkpoint_enter();
    CHECK(stub.updates == 1);
}

TEST(a_task_goes_on_from_an_image_that_was_brought_up_to_date)
{
    unsigned char *pages = setup_pages();

    for (unsigned char i = 0; i < 5; i++) {
        pages[i % PAGES * PAGE + 77] = i;
        stack[i] = i;
        wb_checkpoint_enter();
    }
    memset(pages, 8, PAGES * PAGE);
    memset(stack, 9, sizeof stack);
    die();
    CHECK(task->images.resumed == 1 && task->images.damaged == 0);
    CHECK(pages[77] == 4 && pages[PAGE + 77] == 1 && pages[3 * PAGE + 77] == 3);
    CHECK(pages[0] == 5 && pages[PAGES * PAGE - 1] == 5 && stack[4] == 4 && stack[5] == 1);
}

TEST(every_byte_of_an_image_that_was_brought_up_to_date_counts)
{
    setup_pages();
    const uint32_t newest = wb_word_load(&task->images.newest, WB_SEQ_CST);
    unsigned char *image = task->images.buffer[newest - 1];
    uint32_t found = 0;

    for (size_t i = 0; i < PAGES * PAGE; i += i < 200 ? 1 : 97) {
        image[i] ^= 0x10;
        found += !wb_parts.images->resume(task);
        image[i] ^= 0x10;
        wb_word_store(&task->images.newest, newest, WB_SEQ_CST);
    }
    CHECK(found == 200 + (PAGES * PAGE - 200 + 96) / 97);
    CHECK(wb_parts.images->resume(task));
}

// The image that is not the newest, as a kernel leaves it that is killed while it writes it.
static unsigned char *left_open(void)
{
    const uint32_t newest = wb_word_load(&task->images.newest, WB_SEQ_CST);
    unsigned char *spare = task->images.buffer[newest == 1];

    memset(spare, 0, sizeof(uint32_t));
    return spare;
}

TEST(a_kernel_killed_while_it_updates_an_image_leaves_the_one_before)
{
    unsigned char *pages = setup_pages();

    pages[PAGE]++;
    memset(left_open() + 64, 0xff, task->images.bytes - 64);
    die();
    CHECK(task->images.damaged == 0 && pages[PAGE] == 5);
    for (int i = 0; i < 3; i++) {
        wb_checkpoint_enter();
        CHECK(wb_parts.images->resume(task));
    }
}

TEST(a_block_that_was_copied_before_a_death_and_not_summed_up_is_summed_up_by_the_next_image)
{
    enum { CHANGED = 64 };
    unsigned char *pages = setup_pages(), *copy = left_open();

    while (memcmp(copy, pages, CHANGED) != 0)
        copy++;
    memset(copy, 6, CHANGED);
    memset(pages, 6, CHANGED);
    wb_checkpoint_enter();
    CHECK(wb_parts.images->resume(task) && task->images.damaged == 0);
}

// ---- Damage -------------------------------------------------------------------------------------

TEST(a_task_with_a_damaged_image_that_may_not_start_again_is_lost)
{
    setup(1, true);
    task->restart = false;
    wb_checkpoint_enter();
    memset(task->images.buffer[0], 0, 64);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_LOST);
}

TEST(an_image_damaged_before_the_heir_loads_it_leads_to_the_entry)
{
    setup(1, true);
    wb_checkpoint_enter();
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0 &&
          wb_word_load(&task->revive, WB_SEQ_CST) == WB_REVIVE_IMAGE);
    memset(task->images.buffer[0], 0, 64);
    stub_serve(1);
    CHECK(wb_task_core(task) == 1 && wb_word_load(&task->revive, WB_SEQ_CST) == WB_REVIVE_NOT);
}

TEST(a_kernel_killed_while_it_writes_an_image_leaves_the_one_before)
{
    setup(1, true);
    wb_task_set_state(task, stack);
    wb_checkpoint_enter();
    wb_task_set_state(task, NULL);
    memset(task->images.buffer[1], 0xff, task->images.bytes / 2);
    die();
    CHECK(wb_task_state(task) == stack && task->images.damaged == 0);
}

TEST(a_claimed_slot_at_an_image_ends_the_run)
{
    void *slot;

    setup(1, true);
    CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
    CHECK(HALTS(wb_checkpoint_enter()));
    CHECK(strstr(stub.system->fault.text, "claimed slot") != NULL);
}

TEST(a_held_message_at_an_image_comes_back_with_replay_and_ends_the_run_without)
{
    const void *slot;

    setup(1, true);
    put(5);
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK);
    wb_checkpoint_enter();
    CHECK(wb_port_release(in) == WB_OK);
    die();
    CHECK(*(const uint32_t *)slot == 5 && wb_port_release(in) == WB_OK);
    CHECK(wb_port_hold(in, &slot, 0) == WB_ERR_EMPTY);

    setup(1, false);
    put(5);
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK);
    CHECK(HALTS(wb_checkpoint_enter()));
    CHECK(strstr(stub.system->fault.text, "holds a message") != NULL);
}

TEST(a_task_that_starts_from_its_entry_sends_all_anew)
{
    setup(1, true);
    put(5);
    wb_checkpoint_enter();
    CHECK(pass() == 5 && taken() == 5);
    stub_become(0, task);
    // As if it had gone on from an image before, and not sent all of that again yet.
    out->resend_skip = 2;
    out->resend_skipped = 1;
    memset(task->images.buffer[0], 0, 64);
    die();
    CHECK(out->resend_skip == 0 && out->resend_skipped == 0);
    CHECK(pass() == 5 && taken() == 5);
}

TEST(an_image_damaged_before_the_heir_loads_it_leaves_no_message_out)
{
    setup(1, true);
    put(5);
    wb_checkpoint_enter();
    CHECK(pass() == 5 && taken() == 5);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0 && out->resend_skip == 1);
    memset(task->images.buffer[0], 0, 64);
    stub_serve(1);
    stub_run(task);
    CHECK(pass() == 5 && taken() == 5);
}

TEST(an_image_waits_for_a_checkpoint_without_a_lock)
{
    setup(2, true);
    CHECK(wb_lock(stack, 0) == WB_OK);
    for (int i = 0; i < 3; i++)
        wb_checkpoint_enter();
    CHECK(stub.captures == 0);
    CHECK(wb_unlock(stack) == WB_OK);
    wb_checkpoint_enter();
    CHECK(stub.captures == 1 && wb_counter_get(&task->images.taken) == 1);
    wb_checkpoint_enter();
    CHECK(stub.captures == 1);
}

TEST(an_image_waits_until_the_task_holds_no_mutex)
{
    static struct wb_mutex mutex;

    setup(1, true);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    wb_checkpoint_enter();
    CHECK(stub.captures == 0);
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
    wb_checkpoint_enter();
    CHECK(stub.captures == 1);
}
