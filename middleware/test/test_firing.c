// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/wb.h: what a firing takes and puts, and the steps of it that a kernel takes
// in the task's place.
// with: check.c build.c kernel_stub.c
#include "wb/wb.h"

#include <string.h>

#include "check.h"
#include "kernel_stub.h"

enum { SLOTS = 4, CYCLES = 100 };

static struct wb_task *source, *sink;
static struct wb_port *out, *in;
static uint64_t last;  // number that was read

static void write_number(void *slot, uint32_t bytes, uint64_t number)
{
    CHECK(bytes == sizeof number);
    memcpy(slot, &number, sizeof number);
}

static bool read_number(const void *slot, uint32_t bytes, uint64_t number)
{
    uint64_t there;

    CHECK(bytes == sizeof number);
    memcpy(&there, slot, sizeof there);
    last = there;
    return there == number;
}

static const struct wb_messages messages = { .write = write_number, .read = read_number };

static void give_work(struct wb_task *task, uint64_t firings)
{
    static const uint64_t cycles[] = { CYCLES };
    const struct wb_work_config work = { .cycles = cycles, .n_cycles = 1, .firings = firings };

    CHECK(wb_task_set_work(task, &work) == WB_OK);
}

// source -> sink, on two cores, with `initial` messages on the way.
static void open(uint64_t firings, uint32_t initial, uint64_t period_ns)
{
    struct wb_channel *channel;
    const struct wb_channel_config config = {
        .name = "c", .slots = SLOTS, .slot_bytes = sizeof(uint64_t), .initial = initial
    };

    stub_system(2);
    wb_word_store(&wb_kernel_need_resched, 0, WB_RELAXED);
    source = stub_task("source", 0);
    sink = stub_task("sink", 1);
    CHECK(wb_channel_add(stub.system, &config, &channel) == WB_OK);
    out = build_port(source, channel, WB_OUT);
    in = build_port(sink, channel, WB_IN);
    give_work(source, firings);
    give_work(sink, 0);
    source->period_ns = source->relative_deadline_ns = source->job_deadline_ns = period_ns;
    stub_start(stub.system);
}

static void send(uint64_t number)
{
    struct wb_task *const self = stub.self;

    stub_become(0, source);
    CHECK(wb_port_send(out, &number, 0) == WB_OK);
    stub_become(1, self);
}

// From its entry to its end.
static void fire(struct wb_task *task)
{
    stub_run(task);
    CHECK(wb_fire(task, &messages) == 0);
}

static enum wb_step take_step(struct wb_task *task, uint64_t *value)
{
    CHECK(task->step != NULL);
    return task->step(task, value);
}

// ---- On the task's own stack --------------------------------------------------------------------

TEST(a_source_fires_as_often_as_it_is_to)
{
    open(3, 0, 0);
    fire(source);
    CHECK(wb_port_messages(out) == 3 && wb_channel_depth(out->channel) == 3);
    CHECK(stub.computed == 3 * CYCLES && stub.blocks == 0);
    CHECK(stub.charged[WB_ACTION_CLAIM] == 3 && stub.charged[WB_ACTION_COMMIT] == 3);
}

TEST(a_source_ends_when_the_run_stops)
{
    open(0, 0, 0);
    wb_system_stop(stub.system);
    fire(source);
    CHECK(wb_port_messages(out) == 0);
}

TEST(messages_that_are_there_at_the_start_have_the_number_0)
{
    open(2, 2, 0);
    fire(source);
    wb_port_close(out);
    fire(sink);
    CHECK(wb_port_messages(in) == 4 && last == 2);
}

TEST(a_firing_takes_and_puts_by_its_rates)
{
    open(2, 0, 0);
    CHECK(wb_port_set_rate(out, 2) == WB_OK && wb_port_set_rate(in, 4) == WB_OK);
    fire(source);
    wb_port_close(out);
    fire(sink);
    CHECK(wb_port_messages(in) == 4 && stub.computed == 3 * CYCLES);
}

TEST(what_its_ports_have_done_is_not_done_again)
{
    open(3, 0, 0);
    send(1);
    fire(source);
    CHECK(wb_port_messages(out) == 3 && stub.computed == 2 * CYCLES);
}

TEST(another_message_than_the_next_one_fails_the_run)
{
    open(0, 0, 0);
    send(7);
    stub_run(sink);
    CHECK(HALTS(wb_fire(sink, &messages)));
    CHECK(strstr(stub.system->fault.text, "another message than the next one") != NULL);
}

TEST(a_heap_without_room_for_its_ports_fails_the_run)
{
    open(0, 0, 0);
    stub_run(sink);
    while (wb_malloc(64) != NULL) {}
    while (wb_malloc(1) != NULL) {}
    CHECK(HALTS(wb_fire(sink, &messages)));
    CHECK(strstr(stub.system->fault.text, "raise `heap`") != NULL);
}

TEST(whoever_wants_it_at_a_checkpoint_gets_it_there_after_each_firing)
{
    open(3, 0, 0);
    wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
    fire(source);
    CHECK(stub.yields == 3);
}

// ---- Steps in its place -------------------------------------------------------------------------

// It waits for its first message. The kernel goes through a firing, and one more message.
static void play_two_firings(uint64_t until_ns)
{
    uint64_t value = 0;

    CHECK(until_ns == WB_FOREVER && wb_word_load(&in->waiting, WB_SEQ_CST) == 1);
    send(1);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 0);
    CHECK(take_step(sink, &value) == WB_STEP_COMPUTE && value == CYCLES);
    CHECK(last == 1 && wb_port_messages(in) == 1);
    CHECK(take_step(sink, &value) == WB_STEP_BLOCK && value == WB_FOREVER);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 1);
    // Woken for nothing.
    CHECK(take_step(sink, &value) == WB_STEP_BLOCK && wb_word_load(&in->waiting, WB_SEQ_CST) == 1);
    send(2);
    CHECK(take_step(sink, &value) == WB_STEP_COMPUTE && last == 2);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 0);
    wb_port_close(out);
    CHECK(take_step(sink, &value) == WB_STEP_STACK);
    CHECK(take_step(sink, &value) == WB_STEP_STACK);
}

TEST(a_task_that_waits_goes_on_by_steps_until_its_input_ends)
{
    open(0, 0, 0);
    stub.on_block = play_two_firings;
    fire(sink);
    CHECK(stub.blocks == 1 && wb_port_messages(in) == 2);
    // However often it was tried, a message is paid for once.
    CHECK(stub.charged[WB_ACTION_HOLD] == 3 && stub.charged[WB_ACTION_RELEASE] == 2);
    CHECK(sink->step == NULL);
}

static void play_a_request(uint64_t until_ns)
{
    uint64_t value;

    CHECK(until_ns == WB_FOREVER);
    send(1);
    CHECK(take_step(sink, &value) == WB_STEP_COMPUTE);
    wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
    CHECK(take_step(sink, &value) == WB_STEP_STACK);
    CHECK(stub.yields == 0);
    wb_port_close(out);
}

TEST(for_a_checkpoint_a_step_leaves_the_task_to_its_own_stack)
{
    open(0, 0, 0);
    stub.on_block = play_a_request;
    fire(sink);
    CHECK(stub.yields == 1 && stub.blocks == 1);
}

static void play_periods(uint64_t until_ns)
{
    uint64_t value;

    CHECK(until_ns == 1000);
    CHECK(take_step(source, &value) == WB_STEP_BLOCK && value == 1000);
    stub.now_ns = 1000;
    CHECK(take_step(source, &value) == WB_STEP_COMPUTE && value == CYCLES);
    stub.now_ns = 1100;
    CHECK(take_step(source, &value) == WB_STEP_BLOCK && value == 2000);
    stub.now_ns = 2000;
}

TEST(a_periodic_task_sleeps_by_steps_until_its_next_release)
{
    open(2, 0, 1000);
    stub.on_block = play_periods;
    fire(source);
    CHECK(wb_counter_get(&source->stats.jobs) == 2 && wb_port_messages(out) == 2);
}

static void play_a_rate_that_goes_and_comes_back(uint64_t until_ns)
{
    uint64_t value;

    CHECK(until_ns == 1000);
    stub.now_ns = 1000;
    CHECK(take_step(source, &value) == WB_STEP_COMPUTE);
    wb_word_store(&stub.system->rate_millihz, 0, WB_SEQ_CST);
    CHECK(take_step(source, &value) == WB_STEP_COMPUTE);
    stub.now_ns = 50000;
    wb_word_store(&stub.system->rate_millihz, 1000000000, WB_SEQ_CST);
    CHECK(take_step(source, &value) == WB_STEP_BLOCK && value == 51000);
    stub.now_ns = 51000;
}

TEST(a_firing_without_a_period_is_a_job_that_cannot_be_late)
{
    open(3, 0, 0);
    source->follows_rate = true;
    source->job_deadline_ns = 1000;
    wb_word_store(&stub.system->rate_millihz, 1000000000, WB_SEQ_CST);
    stub.on_block = play_a_rate_that_goes_and_comes_back;
    fire(source);
    CHECK(wb_counter_get(&source->stats.jobs) == 3);
    CHECK(wb_counter_get(&source->stats.misses) == 0);
}

static void play_a_full_channel(uint64_t until_ns)
{
    uint64_t value, message;

    CHECK(until_ns == WB_FOREVER && wb_word_load(&out->waiting, WB_SEQ_CST) == 1);
    stub_become(1, sink);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK && message == 1);
    stub_become(0, source);
    CHECK(take_step(source, &value) == WB_STEP_COMPUTE);
    CHECK(wb_port_messages(out) == SLOTS + 1);
    CHECK(take_step(source, &value) == WB_STEP_BLOCK &&
          wb_word_load(&out->waiting, WB_SEQ_CST) == 1);
    wb_port_close(in);
}

TEST(a_task_that_waits_for_room_goes_on_by_steps_until_its_receiver_is_over)
{
    open(0, 0, 0);
    stub.on_block = play_a_full_channel;
    fire(source);
    CHECK(stub.blocks == 1 && stub.charged[WB_ACTION_CLAIM] == SLOTS + 2);
}

static void play_a_late_message(void)
{
    send(1);
    wb_port_close(out);
}

TEST(a_message_that_comes_while_it_polls_makes_no_block)
{
    open(0, 0, 0);
    stub.on_spin = play_a_late_message;
    fire(sink);
    CHECK(stub.blocks == 0 && stub.spins == 1);
    CHECK(wb_port_messages(in) == 1 && stub.charged[WB_ACTION_HOLD] == 2);
}

// ---- Claims at the start ------------------------------------------------------------------------

static void open_early(uint64_t firings)
{
    open(firings, 0, 0);
    out->channel->claims_at_start = true;
}

TEST(each_message_is_charged_with_its_bytes_where_it_is_put_and_where_it_is_taken)
{
    open(3, 1, 0);
    fire(source);
    CHECK(stub.charged[WB_ACTION_SEND] == 3 * sizeof(uint64_t));
    wb_port_close(out);
    fire(sink);
    CHECK(stub.charged[WB_ACTION_RECEIVE] == 4 * sizeof(uint64_t));
}

static void receive_one(void)
{
    uint64_t message;

    stub_become(1, sink);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK);
    stub_become(0, source);
}

static void play_a_firing_with_its_room(uint64_t until_ns)
{
    uint64_t value;

    CHECK(until_ns == WB_FOREVER && stub.computed == (SLOTS / 2) * CYCLES);
    CHECK(wb_port_messages(out) == SLOTS && wb_channel_depth(out->channel) == SLOTS);
    receive_one();
    CHECK(take_step(source, &value) == WB_STEP_BLOCK);
    receive_one();
    CHECK(take_step(source, &value) == WB_STEP_COMPUTE && value == CYCLES);
    // It has its room, but nothing is sent before it has computed.
    CHECK(wb_port_messages(out) == SLOTS);
    wb_system_stop(stub.system);
    CHECK(take_step(source, &value) == WB_STEP_STACK && wb_port_messages(out) == SLOTS + 2);
}

TEST(a_firing_that_claims_at_its_start_waits_for_all_of_its_room_and_then_computes)
{
    open_early(0);
    CHECK(wb_port_set_rate(out, 2) == WB_OK);
    stub.on_block = play_a_firing_with_its_room;
    fire(source);
    CHECK(stub.blocks == 1 && stub.charged[WB_ACTION_CLAIM] == SLOTS + 2);
}

static void play_a_firing_that_keeps_its_messages(uint64_t until_ns)
{
    uint64_t value;

    CHECK(until_ns == WB_FOREVER);
    send(1);
    CHECK(take_step(sink, &value) == WB_STEP_BLOCK);
    send(2);
    CHECK(take_step(sink, &value) == WB_STEP_COMPUTE && last == 2);
    // Both are read, and hold their slots until the firing ends.
    CHECK(wb_port_messages(in) == 0 && wb_channel_depth(in->channel) == 2);
    CHECK(take_step(sink, &value) == WB_STEP_BLOCK);
    CHECK(wb_port_messages(in) == 2 && wb_channel_depth(in->channel) == 0);
    wb_port_close(out);
}

TEST(what_a_firing_takes_is_free_when_it_has_ended)
{
    open_early(0);
    CHECK(wb_port_set_rate(in, 2) == WB_OK);
    stub.on_block = play_a_firing_that_keeps_its_messages;
    fire(sink);
    CHECK(stub.charged[WB_ACTION_HOLD] == 3 && stub.charged[WB_ACTION_RELEASE] == 2);
}

static void play_a_message_in_the_midst_of_a_poll(void)
{
    send(2);
    wb_port_close(out);
}

TEST(a_slot_that_comes_while_it_polls_counts_once)
{
    open_early(0);
    CHECK(wb_port_set_rate(in, 2) == WB_OK);
    send(1);
    stub.on_spin = play_a_message_in_the_midst_of_a_poll;
    fire(sink);
    CHECK(wb_port_messages(in) == 2 && stub.computed == CYCLES && last == 2);
}

TEST(a_mailbox_claims_nothing_at_the_start)
{
    struct wb_channel *channel;
    const struct wb_channel_config config = {
        .name = "m", .slots = SLOTS, .slot_bytes = 8, .mailbox = true, .claims_at_start = true
    };

    stub_system(1);
    CHECK(wb_channel_add(stub.system, &config, &channel) == WB_ERR_INVAL);
}
