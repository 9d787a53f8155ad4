// SPDX-License-Identifier: Apache-2.0
// What a core that has slept costs, and whom. One core sleeps by the clock for a while and then
// sends to the other, which has slept since the last time; it answers when it has worked, and by
// then the first one has slept shortly. Of each sleep: what the send takes longer than one that
// rings nobody, for who sends; the time until the other task runs; what its first firing takes
// longer than its second. And of a move to a core that has slept as long: the time until it is
// attached there, and from then on until it runs.
// Both in turns, as how a hypervisor wakes a halted processor changes within a minute.
//
// Besides: what a message takes longer to write and to read that another core has in its cache.

#include <stdio.h>

#include "bench.h"

enum {
    WARM_UP = 5,
    SLOTS = 4,
    WORK_WORDS = 1024,  // of 8 bytes: what a task without a working set touches
    SHARED_BYTES = 64 << 10,
    LINE_BYTES = 64,
};

static const uint64_t spin_ns = 20000;    // as `whimbrel run` has it
static const uint64_t answer_ns = 60000;  // long enough for who waits to fall asleep

// What is measured of the end of one sleep.
struct rows {
    struct bench_samples *ring, *awake, *notice, *first, *second;
};

struct shared {
    struct rows far, near;  // of the long sleep and of the short one
    uint64_t sleep_ns;
    uint32_t trips;
    uint64_t (*words)[WORK_WORDS];  // of each task, in globally visible memory
};

struct message {
    uint64_t sent_ns;
};

static uint64_t firing_ns(uint64_t *words)
{
    const uint64_t from_ns = wb_now_ns();

    for (uint32_t i = 0; i < WORK_WORDS; i++)
        words[i] = words[i] * 6364136223846793005u + 1442695040888963407u;
    return wb_now_ns() - from_ns;
}

// The first time it rings; at the second the other is awake.
static bool send_twice(struct wb_port *out, struct rows *rows, bool counts)
{
    struct message message = { .sent_ns = wb_now_ns() };
    uint64_t took_ns[2];

    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t from_ns = wb_now_ns();
        if (wb_port_send(out, &message, WB_FOREVER) != WB_OK)
            return false;
        took_ns[i] = wb_now_ns() - from_ns;
    }
    if (counts) {
        bench_samples_add(rows->ring, (double)took_ns[0]);
        bench_samples_add(rows->awake, (double)took_ns[1]);
    }
    return true;
}

// Who was rung works at once, and again.
static bool receive_twice(struct wb_port *in, struct rows *rows, uint64_t *words, bool counts)
{
    struct message message;

    if (wb_port_receive(in, &message, WB_FOREVER) != WB_OK)
        return false;
    const uint64_t now_ns = wb_now_ns(), first_ns = firing_ns(words), second_ns = firing_ns(words);
    if (counts) {
        bench_samples_add(rows->notice, (double)(now_ns - message.sent_ns));
        bench_samples_add(rows->first, (double)first_ns);
        bench_samples_add(rows->second, (double)second_ns);
    }
    return wb_port_receive(in, &message, WB_FOREVER) == WB_OK;
}

static int caller(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);

    for (uint32_t i = 0; i < shared->trips + WARM_UP; i++) {
        const bool counts = i >= WARM_UP;
        wb_sleep_until(wb_now_ns() + shared->sleep_ns);
        bench_compute(answer_ns);
        if (!send_twice(out, &shared->far, counts) ||
            !receive_twice(in, &shared->near, shared->words[0], counts))
            return 1;
    }
    return 0;
}

static int answerer(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);

    for (uint32_t i = 0; i < shared->trips + WARM_UP; i++) {
        const bool counts = i >= WARM_UP;
        if (!receive_twice(in, &shared->far, shared->words[1], counts))
            return 1;
        bench_compute(answer_ns);
        if (!send_twice(out, &shared->near, counts))
            return 1;
    }
    return 0;
}

static struct rows rows_new(uint32_t room)
{
    return (struct rows){ bench_samples_new(room), bench_samples_new(room), bench_samples_new(room),
                          bench_samples_new(room), bench_samples_new(room) };
}

static void rows_print(const char *name, struct rows *rows)
{
    struct bench_samples *ring = bench_samples_new(1);
    char row[64];

    bench_samples_add(ring, bench_samples_median(rows->ring));
    snprintf(row, sizeof row, "wake.%s.notice", name);
    bench_row(row, rows->notice, "the send that rings", ring);
    snprintf(row, sizeof row, "wake.%s.ring", name);
    bench_row(row, rows->ring, "a send that rings no core", rows->awake);
    snprintf(row, sizeof row, "wake.%s.firing", name);
    bench_row(row, rows->first, "the firing after it", rows->second);
}

static void one_round(const struct bench_options *options, struct shared *what)
{
    struct bench_system b;

    bench_open(&b, options, 2, spin_ns);
    what->words = wb_app_alloc(&b.system->app, 2 * sizeof *what->words);
    struct wb_task *one = bench_task(&b, "caller", caller, 0);
    struct wb_task *two = bench_task(&b, "answerer", answerer, 1);
    bench_channel(&b, "there", SLOTS, sizeof(struct message), one, 0, two, 0);
    bench_channel(&b, "back", SLOTS, sizeof(struct message), two, 0, one, 0);
    bench_run(&b, what);
}

// ---- A task that moves to a core that sleeps ----------------------------------------------------

struct arrival {
    struct bench_samples *attach, *run;
};

struct moves {
    struct arrival far,
        near;  // to the core that slept long, and back to the one that slept shortly
    uint64_t sleep_ns;
    uint32_t trips;
};

static bool move(struct wb_task *self, struct arrival *arrival, bool counts)
{
    bench_compute(answer_ns);
    if (wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) != WB_OK)
        return false;
    const struct wb_migration *done = &self->settled;
    if (counts) {
        bench_samples_add(arrival->attach, (double)(done->attached_ns - done->parked_ns));
        bench_samples_add(arrival->run, (double)(done->running_ns - done->attached_ns));
    }
    return true;
}

static int mover(struct wb_task *self)
{
    struct moves *moves = wb_task_app(self)->state;

    for (uint32_t i = 0; i < moves->trips + WARM_UP; i++) {
        wb_sleep_until(wb_now_ns() + moves->sleep_ns);
        if (!move(self, &moves->far, i >= WARM_UP) || !move(self, &moves->near, i >= WARM_UP))
            return 1;
    }
    return 0;
}

static struct arrival arrival_new(uint32_t room)
{
    return (struct arrival){ bench_samples_new(room), bench_samples_new(room) };
}

static void arrival_print(const char *name, struct arrival *arrival)
{
    char row[64];

    snprintf(row, sizeof row, "wake.%s.attach", name);
    bench_row(row, arrival->attach, "and until it runs", arrival->run);
}

static void move_round(const struct bench_options *options, struct moves *what)
{
    struct bench_system b;

    bench_open(&b, options, 2, spin_ns);
    bench_task(&b, "mover", mover, 0);
    bench_run(&b, what);
}

// `near`: how the short sleep is called, which is not told if it is NULL.
static void sleeps(const struct bench_options *options, const char *far, const char *near,
                   uint64_t sleep_ns, uint32_t trips)
{
    const uint32_t room = options->rounds * trips;
    struct shared calls = {
        .far = rows_new(room), .near = rows_new(room), .sleep_ns = sleep_ns, .trips = trips
    };
    struct moves moves = { arrival_new(room), arrival_new(room), sleep_ns, trips };

    for (uint32_t round = 0; round < options->rounds; round++) {
        one_round(options, &calls);
        move_round(options, &moves);
    }
    rows_print(far, &calls.far);
    arrival_print(far, &moves.far);
    if (near != NULL) {
        rows_print(near, &calls.near);
        arrival_print(near, &moves.near);
    }
}

// ---- Messages in another core's cache -----------------------------------------------------------

struct stream {
    struct bench_samples *write, *read;
    uint32_t trips;
};

static int writer(struct wb_task *self)
{
    struct stream *stream = wb_task_app(self)->state;
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    struct message answer;
    void *slot;

    for (uint32_t i = 0; i < stream->trips + WARM_UP; i++) {
        if (wb_port_claim(out, &slot, WB_FOREVER) != WB_OK)
            return 1;
        const uint64_t from_ns = wb_now_ns();
        for (uint32_t at = 0; at < SHARED_BYTES / 8; at++)
            ((volatile uint64_t *)slot)[at] = at + i;
        const uint64_t took_ns = wb_now_ns() - from_ns;
        if (i >= WARM_UP)
            bench_samples_add(stream->write, (double)took_ns);
        if (wb_port_commit(out) != WB_OK || wb_port_receive(in, &answer, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;
}

static int reader(struct wb_task *self)
{
    struct stream *stream = wb_task_app(self)->state;
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    struct message answer = { 0 };
    const void *slot;

    for (uint32_t i = 0; i < stream->trips + WARM_UP; i++) {
        if (wb_port_hold(in, &slot, WB_FOREVER) != WB_OK)
            return 1;
        const uint64_t from_ns = wb_now_ns();
        for (uint32_t at = 0; at < SHARED_BYTES / 8; at++)
            answer.sent_ns += ((const volatile uint64_t *)slot)[at];
        const uint64_t took_ns = wb_now_ns() - from_ns;
        if (i >= WARM_UP)
            bench_samples_add(stream->read, (double)took_ns);
        if (wb_port_release(in) != WB_OK || wb_port_send(out, &answer, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;
}

static void run_streams(const struct bench_options *options, struct stream *stream, uint32_t cores)
{
    struct bench_system b;

    bench_open(&b, options, cores, WB_FOREVER);
    struct wb_task *one = bench_task(&b, "writer", writer, 0);
    struct wb_task *two = bench_task(&b, "reader", reader, cores - 1);
    bench_channel(&b, "there", 2, SHARED_BYTES, one, 0, two, 0);
    bench_channel(&b, "back", 2, sizeof(struct message), two, 0, one, 0);
    bench_run(&b, stream);
}

static void shares(const struct bench_options *options)
{
    const uint32_t trips = options->samples / 40, room = options->rounds * trips;
    struct stream two = { bench_samples_new(room), bench_samples_new(room), trips };
    struct stream one = { bench_samples_new(room), bench_samples_new(room), trips };

    for (uint32_t round = 0; round < options->rounds; round++) {
        run_streams(options, &two, 2);
        run_streams(options, &one, 1);
    }
    bench_row("wake.64KiB.write", two.write, "both tasks on one core", one.write);
    bench_row("wake.64KiB.read", two.read, "both tasks on one core", one.read);
}

void bench_wake(const struct bench_options *options)
{
    if (!options->two_cores)
        bench_fail("wake needs two processors");
    sleeps(options, "1ms", NULL, 1000000, 100);
    sleeps(options, "20ms", "100us", 20000000, 15);
    shares(options);
}
