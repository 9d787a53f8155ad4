// SPDX-License-Identifier: Apache-2.0
// Unit tests of latencies: when frames begin and arrive, and their median.
// with: check.c build.c kernel_stub.c
#include "wb/channel.h"

#include "check.h"
#include "kernel_stub.h"

enum { SLOTS = 8 };

static struct wb_task *source, *way, *sink;
static uint64_t message;

static void open(bool times_frames)
{
    stub_open(&(struct wb_system_config){ .cores = 2,
                                          .tasks = 4,
                                          .channels = 4,
                                          .ports = 8,
                                          .core_align = WB_LINE_BYTES,
                                          .times_frames = times_frames });
    source = stub_task("source", 0);
    way = stub_task("way", 1);
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

// source -> way -> sink
static void chain(void)
{
    open(true);
    join(source, way, 0);
    join(way, sink, 0);
    stub_start(stub.system);
}

static void send(struct wb_task *from, uint32_t index, uint64_t at_ns)
{
    stub.now_ns = at_ns;
    stub_become(wb_task_core(from), from);
    CHECK(wb_port_send(wb_port_find_any(from, "out", index), &message, 0) == WB_OK);
}

static void receive(struct wb_task *to, uint32_t index, uint64_t at_ns)
{
    stub.now_ns = at_ns;
    stub_become(wb_task_core(to), to);
    CHECK(wb_port_receive(wb_port_find_any(to, "in", index), &message, 0) == WB_OK);
}

static void over(struct wb_task *t)
{
    stub_run(t);
    stub_pause(WB_TASK_ENDED);
}

// UINT64_MAX: there is none.
static uint64_t median(void)
{
    uint64_t ns = UINT64_MAX;

    CHECK(wb_system_latency(stub.system, &ns) == (ns != UINT64_MAX));
    return ns;
}

// ---- One frame ----------------------------------------------------------------------------------

TEST(a_frame_begins_when_it_is_sent_and_ends_when_its_last_task_receives_it)
{
    chain();
    send(source, 0, 1000);
    receive(way, 0, 1400);
    send(way, 0, 1900);
    receive(sink, 0, 2500);
    CHECK(median() == UINT64_MAX);  // more of it could follow
    stub.now_ns = 9000;
    over(sink);
    CHECK(median() == 1500);
}

TEST(a_frame_of_a_periodic_source_begins_with_the_release_of_its_job)
{
    open(true);
    source->period_ns = source->relative_deadline_ns = 500;
    join(source, sink, 0);
    stub_start(stub.system);
    stub_become(0, source);
    CHECK(wb_period_wait(source));
    send(source, 0, 570);
    receive(sink, 0, 600);
    over(sink);
    CHECK(median() == 100);
}

TEST(a_frame_that_comes_in_parts_has_arrived_with_the_last_of_them)
{
    open(true);
    source->period_ns = source->relative_deadline_ns = 500;
    join(source, sink, 0);
    join(source, sink, 0);
    stub_start(stub.system);
    for (uint64_t frame = 0; frame < 2; frame++) {
        send(source, 0, 500 * frame + 10);
        send(source, 1, 500 * frame + 20);
        receive(sink, 0, 500 * frame + 30);
        receive(sink, 1, 500 * frame + 90);
        stub_become(0, source);
        CHECK(wb_period_wait(source));
    }
    over(sink);
    CHECK(median() == 90);
}

TEST(what_a_task_sends_is_of_the_newest_frame_that_it_has_received)
{
    open(true);
    join(source, way, 0);
    join(way, way, 1);  // its own past
    join(way, sink, 0);
    stub_start(stub.system);
    for (uint64_t at_ns = 1000; at_ns <= 3000; at_ns += 1000) {
        send(source, 0, at_ns);
        receive(way, 0, at_ns + 10);
        receive(way, 1, at_ns + 20);
        send(way, 0, at_ns + 30);
        send(way, 1, at_ns + 40);
        receive(sink, 0, at_ns + 50);
    }
    over(sink);
    CHECK(median() == 50);
}

TEST(messages_of_the_start_and_of_mailboxes_are_of_no_frame)
{
    open(true);
    join(source, sink, 1);
    struct wb_channel *mailbox = stub_channel("m", SLOTS, sizeof message, true);
    build_port(source, mailbox, WB_OUT);
    build_port(sink, mailbox, WB_IN);
    stub_start(stub.system);
    receive(sink, 0, 100);
    send(source, 1, 200);
    receive(sink, 1, 900);
    over(sink);
    CHECK(median() == UINT64_MAX);
}

TEST(a_commit_of_nothing_marks_no_slot)
{
    open(true);
    join(source, sink, 0);
    stub_start(stub.system);
    for (uint32_t i = 0; i < SLOTS; i++)
        send(source, 0, 1000);
    stub.now_ns = 1700;
    CHECK(wb_port_commit(wb_port_find_any(source, "out", 0)) == WB_ERR_INVAL);
    receive(sink, 0, 2000);
    over(sink);
    CHECK(median() == 1000);
}

// ---- The median ---------------------------------------------------------------------------------

// One frame for each latency, which arrive on either core in turn.
static void frames(const uint64_t *latency_ns, uint32_t n)
{
    open(true);
    join(source, sink, 0);
    stub_start(stub.system);
    for (uint32_t i = 0; i < n; i++) {
        send(source, 0, stub.now_ns + 1);
        stub.now_ns += latency_ns[i];
        stub_become(i % 2, sink);
        CHECK(wb_port_receive(wb_port_find_any(sink, "in", 0), &message, 0) == WB_OK);
    }
    over(sink);
}

TEST(the_median_of_equal_latencies_is_exact)
{
    static const uint64_t all[] = { 0, 31, 32, 1001, 123456789, 1ULL << 62 };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const uint64_t three[] = { all[i], all[i], all[i] };
        frames(three, 3);
        CHECK(median() == all[i]);
    }
}

TEST(the_median_is_that_of_all_cores_together)
{
    const uint64_t all[] = { 7000, 3000, 9000, 100, 5000 };

    frames(all, 5);
    CHECK(median() == 5000);
    frames(all, 4);  // of an even number the lower one
    CHECK(median() == 3000);
}

TEST(the_median_is_right_to_a_thirty_second_part)
{
    enum { FRAMES = 999 };
    static uint64_t all[FRAMES];

    for (uint64_t i = 0; i < FRAMES; i++)
        all[i] = 1000 + i * 7919 % FRAMES * 100;
    frames(all, FRAMES);
    const uint64_t exact = 1000 + FRAMES / 2 * 100;
    CHECK(median() > exact - exact / 32 && median() < exact + exact / 32);
}

// ---- Without ------------------------------------------------------------------------------------

TEST(what_is_not_timed_has_no_latency_and_takes_no_room)
{
    const struct wb_channel_config config = { .name = "full", .slots = 1, .slot_bytes = 64 };
    struct wb_channel *channel;

    open(true);
    CHECK(wb_channel_add(stub.system, &config, &channel) == WB_OK);
    CHECK(channel->stride_bytes == 128);
    const size_t timed_bytes = wb_system_bytes(&stub.system->config);
    open(false);
    CHECK(wb_channel_add(stub.system, &config, &channel) == WB_OK);
    CHECK(channel->stride_bytes == 64);
    CHECK(wb_system_bytes(&stub.system->config) + 2 * 1024 < timed_bytes);
    join(source, sink, 0);
    stub_start(stub.system);
    send(source, 0, 100);
    receive(sink, 0, 200);
    over(sink);
    CHECK(median() == UINT64_MAX);
}
