// SPDX-License-Identifier: Apache-2.0
// A message goes to the other core and comes back; half of that is one way. Polling is compared
// with the same two processors handing one cache line to and fro, which nothing can beat, and with
// one line for each direction, which two channels need; for 4 KiB with as many bytes copied in and
// out beside the one line. Blocking is compared with a pair of eventfds, the lightest way to wake a
// sleeping thread that Linux names.

#include <stdio.h>

#include "raw.h"

enum { WARM_UP = 1000, BATCH = 16, LINE_BYTES = 64, MOST_BYTES = 4096, SLOTS = 16 };

struct shared {
    struct bench_samples *samples;
    uint32_t trips;
};

struct message {
    uint64_t words[MOST_BYTES / 8];
};

static int ping(struct wb_task *self)
{
    const struct shared *shared = wb_task_app(self)->state;
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    struct message message = { 0 };

    for (uint32_t i = 0; i < shared->trips + WARM_UP; i += BATCH) {
        const uint64_t from_ns = wb_now_ns();
        for (uint32_t j = 0; j < BATCH; j++)
            if (wb_port_send(out, &message, WB_FOREVER) != WB_OK ||
                wb_port_receive(in, &message, WB_FOREVER) != WB_OK)
                return 1;
        if (i >= WARM_UP)
            bench_samples_add(shared->samples, (double)(wb_now_ns() - from_ns) / BATCH / 2);
    }
    return 0;
}

static int pong(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    struct message message;

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK)
        if (wb_port_send(out, &message, WB_FOREVER) == WB_ERR_INVAL)
            return 1;
    return 0;
}

static void ours(const struct bench_options *options, struct bench_samples *samples, uint32_t bytes,
                 uint64_t spin_ns, uint32_t trips)
{
    struct shared shared = { .samples = samples, .trips = trips };
    struct bench_system b;

    bench_open(&b, options, 2, spin_ns);
    struct wb_task *one = bench_task(&b, "ping", ping, 0);
    struct wb_task *two = bench_task(&b, "pong", pong, 1);
    bench_channel(&b, "there", SLOTS, bytes, one, 0, two, 0);
    bench_channel(&b, "back", SLOTS, bytes, two, 0, one, 0);
    bench_run(&b, &shared);
}

static void compare(const struct bench_options *options, bool polling, uint32_t bytes,
                    const char *suffix)
{
    const uint32_t wanted = polling ? options->samples : options->samples / 10;
    const uint32_t trips = wanted / BATCH * BATCH;
    const uint32_t their_trips = polling ? options->samples : trips;
    const bool each_way = polling && bytes == LINE_BYTES;
    struct bench_samples *a = bench_samples_new(options->rounds * (trips / BATCH));
    struct bench_samples *b = bench_samples_new(options->rounds * (their_trips + 1));
    struct bench_samples *c = bench_samples_new(options->rounds * (their_trips + 1));
    char name[64], beside[64];

    const struct bench_raw raw = {
        .options = options, .samples = b, .trips = their_trips, .ways = 1
    };
    struct bench_raw lines = raw;
    lines.samples = c;
    lines.each_way = true;
    for (uint32_t round = 0; round < options->rounds; round++) {
        ours(options, a, bytes, polling ? WB_FOREVER : 0, trips);
        if (polling)
            bench_raw_line(&raw, bytes);
        else
            bench_raw_eventfds(&raw);
        if (each_way)
            bench_raw_line(&lines, bytes);
    }
    snprintf(name, sizeof name, "channel.%s.%s%s", bytes == LINE_BYTES ? "64B" : "4KiB",
             polling ? "spin" : "block", suffix);
    snprintf(beside, sizeof beside, "channel.64B.spin.each_way%s", suffix);
    if (each_way)
        bench_row_beside(beside, a, "a raw cache line for each direction, one way", c);
    else
        bench_samples_free(c);
    bench_row(name, a,
              !polling              ? "eventfd, one way"
              : bytes == LINE_BYTES ? "raw cache line, one way"
                                    : "raw copies and a cache line, one way",
              b);
}

static void compare_all(const struct bench_options *options, const char *suffix)
{
    for (uint32_t polling = 2; polling-- > 0;) {
        compare(options, polling, LINE_BYTES, suffix);
        compare(options, polling, MOST_BYTES, suffix);
    }
}

void bench_channels(const struct bench_options *options)
{
    const struct bench_options fewer = bench_options_loaded(options);
    struct bench_load load;

    if (!options->two_cores)
        bench_fail("channel needs two processors");
    compare_all(options, "");
    bench_load_start(&load, options);
    compare_all(&fewer, ".loaded");
    bench_load_end(&load);
}
