// SPDX-License-Identifier: Apache-2.0
// Unit tests of response times: what they begin and end with, and how exactly they are told.
// with: check.c build.c kernel_stub.c
#include "wb/descriptor.h"

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { SLOTS = 8 };

static struct wb_task *source, *sink;
static uint64_t message;

static void open(bool times_tasks)
{
    stub_open(&(struct wb_system_config){ .cores = 2,
                                          .tasks = 4,
                                          .channels = 4,
                                          .ports = 8,
                                          .core_align = WB_LINE_BYTES,
                                          .times_tasks = times_tasks });
    stub.now_ns = 0;
    source = stub_task("source", 0);
    sink = stub_task("sink", 1);
}

static struct wb_channel *join(struct wb_task *from, struct wb_task *to, uint32_t initial)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct wb_channel *channel;
    const struct wb_channel_config config = { .name = names[stub.system->n_channels],
                                              .slots = SLOTS,
                                              .slot_bytes = sizeof message,
                                              .initial = initial };

    CHECK(wb_channel_add(stub.system, &config, &channel) == WB_OK);
    build_port(from, channel, WB_OUT);
    build_port(to, channel, WB_IN);
    return channel;
}

static void send(struct wb_task *from, uint32_t index, uint64_t at_ns)
{
    stub.now_ns = at_ns;
    stub_become(wb_task_core(from), from);
    CHECK(wb_port_send(wb_port_find_any(from, "out", index), &message, 0) == WB_OK);
}

static enum wb_status receive(struct wb_task *to, uint32_t index, uint64_t at_ns)
{
    stub.now_ns = at_ns;
    stub_become(wb_task_core(to), to);
    return wb_port_receive(wb_port_find_any(to, "in", index), &message, 0);
}

static struct wb_response_times times_of(const struct wb_task *task)
{
    struct wb_response_times times = { .n = UINT64_MAX };

    CHECK(wb_task_response(task, &times));
    return times;
}

static bool is_measured(const struct wb_task *task)
{
    struct wb_response_times times;

    return wb_task_response(task, &times);
}

// ---- What a response is -------------------------------------------------------------------------

TEST(a_job_responds_from_its_release_to_its_end)
{
    open(true);
    source->period_ns = source->relative_deadline_ns = 500;
    stub_start(stub.system);
    for (uint64_t job = 0; job < 3; job++) {
        stub.now_ns = 500 * job + 100 * (job + 1);
        stub_become(0, source);
        CHECK(wb_period_wait(source));
    }
    const struct wb_response_times times = times_of(source);
    CHECK(times.n == 3 && times.min_ns == 100 && times.max_ns == 300 && times.mean_ns == 200);
    CHECK(times.p50_ns == 200 && times.p99_ns == 300);
}

TEST(a_firing_responds_from_its_message_until_its_task_comes_for_the_next)
{
    open(true);
    join(source, sink, 0);
    stub_start(stub.system);
    send(source, 0, 1000);
    CHECK(receive(sink, 0, 1700) == WB_OK);
    CHECK(!is_measured(sink));
    send(source, 0, 1800);
    CHECK(receive(sink, 0, 2100) == WB_OK);
    CHECK(times_of(sink).n == 1 && times_of(sink).max_ns == 1100);
    CHECK(receive(sink, 0, 2500) == WB_ERR_EMPTY);
    CHECK(times_of(sink).n == 2 && times_of(sink).min_ns == 700);
    CHECK(receive(sink, 0, 2600) == WB_ERR_EMPTY);  // it has come for this one before
    CHECK(times_of(sink).n == 2);
}

TEST(a_firing_waits_for_the_last_of_all_its_messages)
{
    open(true);
    join(source, sink, 0);
    join(source, sink, 0);
    CHECK(wb_port_set_rate(wb_port_find_any(sink, "in", 0), 2) == WB_OK);
    stub_start(stub.system);
    send(source, 0, 100);
    send(source, 0, 200);
    send(source, 1, 150);
    CHECK(receive(sink, 0, 300) == WB_OK && receive(sink, 0, 310) == WB_OK);
    CHECK(receive(sink, 1, 320) == WB_OK);
    CHECK(!is_measured(sink));
    CHECK(receive(sink, 0, 900) == WB_ERR_EMPTY);
    CHECK(times_of(sink).n == 1 && times_of(sink).max_ns == 900 - 200);
}

TEST(messages_of_the_start_were_there_at_the_start)
{
    open(true);
    join(source, sink, 1);
    stub.now_ns = 40;
    stub_start(stub.system);
    CHECK(receive(sink, 0, 100) == WB_OK);
    CHECK(receive(sink, 0, 160) == WB_ERR_EMPTY);
    CHECK(times_of(sink).max_ns == 160 - stub.system->start_ns);
}

TEST(a_task_that_only_sends_responds_from_its_last_firing_to_the_last_message_of_this_one)
{
    open(true);
    join(source, sink, 0);
    join(source, sink, 0);
    CHECK(wb_port_set_rate(wb_port_find_any(source, "out", 1), 2) == WB_OK);
    stub_start(stub.system);
    send(source, 0, 100);
    send(source, 1, 110);
    CHECK(!is_measured(source));
    send(source, 1, 130);
    send(source, 0, 200);
    send(source, 1, 210);
    send(source, 1, 330);
    const struct wb_response_times times = times_of(source);
    CHECK(times.n == 2 && times.min_ns == 130 && times.max_ns == 200);
}

TEST(mailboxes_activate_nobody)
{
    open(true);
    struct wb_channel *mailbox = stub_channel("m", SLOTS, sizeof message, true);
    build_port(source, mailbox, WB_OUT);
    build_port(sink, mailbox, WB_IN);
    stub_start(stub.system);
    send(source, 0, 100);
    CHECK(receive(sink, 0, 200) == WB_OK && receive(sink, 0, 300) == WB_ERR_EMPTY);
    CHECK(!is_measured(sink));
}

// ---- Tasks that only fire -----------------------------------------------------------------------

static void write_nothing(void *slot, uint32_t bytes, uint64_t number)
{
    (void)slot, (void)bytes, (void)number;
}

static bool read_anything(const void *slot, uint32_t bytes, uint64_t number)
{
    (void)slot, (void)bytes, (void)number;
    return true;
}

TEST(a_task_that_only_fires_responds_until_it_has_sent_and_says_how_often)
{
    static const struct wb_messages messages = { .write = write_nothing, .read = read_anything };

    open(true);
    struct wb_channel *channel = join(source, sink, 0);
    stub_start(stub.system);
    for (uint64_t n = 1; n <= 3; n++)
        send(source, 0, 100 * n);
    wb_port_close(channel->senders);
    stub.now_ns = 1000;
    stub_run(sink);
    CHECK(wb_fire(sink, &messages) == 0);
    const struct wb_response_times times = times_of(sink);
    CHECK(times.n == 3 && times.min_ns == 700 && times.max_ns == 900 && times.mean_ns == 800);
    CHECK(wb_counter_get(&sink->stats.firings) == 3);
}

// ---- How exactly --------------------------------------------------------------------------------

// One response for each, of jobs that are released when the one before ends.
static void respond(const uint64_t *all_ns, uint32_t n)
{
    open(true);
    source->period_ns = source->relative_deadline_ns = 1;
    stub_start(stub.system);
    for (uint32_t i = 0; i < n; i++) {
        stub.now_ns = source->release.ns + all_ns[i];
        stub_become(i % 2, source);
        (void)wb_period_wait(source);
    }
}

TEST(few_different_responses_are_told_exactly)
{
    static const uint64_t all[] = { 70, 1000, 70, 1 << 20, 70, 70, 1010, 70 };

    respond(all, sizeof all / sizeof all[0]);
    const struct wb_response_times times = times_of(source);
    CHECK(times.p50_ns == 70 && times.p99_ns == 1 << 20);
    CHECK(times.min_ns == 70 && times.max_ns == 1 << 20);
    CHECK(times.mean_ns == (5 * 70 + 1000 + 1010 + (1 << 20)) / 8);
}

TEST(many_are_right_to_a_thirty_second_part_and_their_ends_exactly)
{
    enum { N = 2000 };
    static uint64_t all[N];

    for (uint64_t i = 0; i < N; i++)
        all[i] = 1000 + i * 7919 % N * 100;
    respond(all, N);
    const struct wb_response_times times = times_of(source);
    const uint64_t p50 = 1000 + (N / 2 - 1) * 100, p99 = 1000 + (N * 99 / 100 - 1) * 100;
    CHECK(times.n == N && times.min_ns == 1000 && times.max_ns == 1000 + (N - 1) * 100);
    CHECK(times.mean_ns == 1000 + (N - 1) * 50);
    CHECK(times.p50_ns > p50 - p50 / 32 && times.p50_ns < p50 + p50 / 32);
    CHECK(times.p99_ns > p99 - p99 / 32 && times.p99_ns < p99 + p99 / 32);
}

TEST(a_histogram_has_every_response_in_the_part_it_belongs_to)
{
    static const uint64_t all[] = {
        0, 3, 4, 65, 1 << 10, (1 << 10) + 127, (1 << 10) + 128, 1 << 30
    };
    static const struct wb_response_part parts[] = {
        { 0, 4, 2 },       { 4, 8, 1 },       { 64, 72, 1 },
        { 1024, 1152, 2 }, { 1152, 1280, 1 }, { 1 << 30, (1 << 30) + (1 << 27), 1 }
    };
    struct wb_response_part part;
    uint32_t at = 0;

    respond(all, sizeof all / sizeof all[0]);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        CHECK(wb_task_response_next(source, &at, &part));
        CHECK(part.from_ns == parts[i].from_ns && part.to_ns == parts[i].to_ns);
        CHECK(part.n == parts[i].n);
    }
    CHECK(!wb_task_response_next(source, &at, &part));
}

// ---- Without ------------------------------------------------------------------------------------

TEST(what_is_not_measured_takes_no_room)
{
    const struct wb_channel_config config = { .name = "full", .slots = 1, .slot_bytes = 48 };
    struct wb_channel *channel;
    uint32_t at = 0;

    open(true);
    CHECK(wb_channel_add(stub.system, &config, &channel) == WB_OK);
    CHECK(channel->stride_bytes == 64);  // with both stamps it is just full
    const size_t timed_bytes = wb_system_bytes(&stub.system->config);
    open(false);
    CHECK(wb_system_bytes(&stub.system->config) + 4 * (size_t)30 * 1024 < timed_bytes);
    join(source, sink, 0);
    stub_start(stub.system);
    send(source, 0, 100);
    CHECK(receive(sink, 0, 200) == WB_OK && receive(sink, 0, 300) == WB_ERR_EMPTY);
    CHECK(!is_measured(sink) && !is_measured(source));
    CHECK(!wb_task_response_next(sink, &at, &(struct wb_response_part){ 0 }));
    CHECK(sink->response == NULL);
}
