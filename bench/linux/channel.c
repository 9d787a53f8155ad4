// SPDX-License-Identifier: Apache-2.0
// A message goes to the other core and comes back; half of that is one way. Polling is compared
// with the same two processors handing one cache line to and fro, which nothing can beat, and for 4
// KiB with as many bytes copied in and out beside it; blocking with a pair of eventfds, the
// lightest way to wake a sleeping thread that Linux names.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"

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
    struct wb_port *out = wb_port_find(self, "out", 0), *in = wb_port_find(self, "in", 0);
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
    struct wb_port *out = wb_port_find(self, "out", 0), *in = wb_port_find(self, "in", 0);
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

struct raw {
    _Alignas(128) struct wb_word line;
    unsigned int cpu;
    uint32_t trips;
    uint32_t copied_bytes;  // beside the line
    _Alignas(128) struct message message;
};

static void *raw_pong(void *arg)
{
    struct raw *raw = arg;

    struct message mine;

    bench_pin_thread(raw->cpu);
    for (uint32_t i = 1; i <= raw->trips + WARM_UP; i++) {
        while (wb_word_load(&raw->line, WB_ACQUIRE) != 2 * i - 1) {}
        memcpy(&mine, &raw->message, raw->copied_bytes);
        memcpy(&raw->message, &mine, raw->copied_bytes);
        wb_word_store(&raw->line, 2 * i, WB_RELEASE);
    }
    return NULL;
}

static void raw_ping(struct raw *raw, struct bench_samples *samples)
{
    struct message mine = { 0 };
    uint64_t from_ns = clock_now_ns();

    for (uint32_t i = 1; i <= raw->trips + WARM_UP; i++) {
        memcpy(&raw->message, &mine, raw->copied_bytes);
        wb_word_store(&raw->line, 2 * i - 1, WB_RELEASE);
        while (wb_word_load(&raw->line, WB_ACQUIRE) != 2 * i) {}
        memcpy(&mine, &raw->message, raw->copied_bytes);
        if (i % BATCH != 0)
            continue;
        const uint64_t now_ns = clock_now_ns();
        if (i > WARM_UP)
            bench_samples_add(samples, (double)(now_ns - from_ns) / BATCH / 2);
        from_ns = now_ns;
    }
}

static void cache_line(const struct bench_options *options, struct bench_samples *samples,
                       uint32_t bytes, uint32_t trips)
{
    struct raw raw = { .cpu = options->cpu[1],
                       .trips = trips,
                       .copied_bytes = bytes > LINE_BYTES ? bytes : 0 };
    pthread_t other;

    bench_pin(options->cpu[0]);
    if (pthread_create(&other, NULL, raw_pong, &raw) != 0)
        bench_fail("no thread for the ping-pong");
    raw_ping(&raw, samples);
    pthread_join(other, NULL);
    bench_unpin();
}

struct bells {
    int there, back;
    unsigned int cpu;
    uint32_t trips;
};

static void ring(int fd)
{
    if (eventfd_write(fd, 1) != 0)
        bench_fail("an eventfd cannot be written");
}

static void await(int fd)
{
    eventfd_t value;

    if (eventfd_read(fd, &value) != 0)
        bench_fail("an eventfd cannot be read");
}

static void *bell_pong(void *arg)
{
    const struct bells *bells = arg;

    bench_pin_thread(bells->cpu);
    for (uint32_t i = 0; i < bells->trips + WARM_UP; i++) {
        await(bells->there);
        ring(bells->back);
    }
    return NULL;
}

static void eventfds(const struct bench_options *options, struct bench_samples *samples,
                     uint32_t trips)
{
    struct bells bells = {
        .there = eventfd(0, 0), .back = eventfd(0, 0), .cpu = options->cpu[1], .trips = trips
    };
    pthread_t other;

    bench_pin(options->cpu[0]);
    if (pthread_create(&other, NULL, bell_pong, &bells) != 0)
        bench_fail("no thread for the eventfds");
    for (uint32_t i = 0; i < trips + WARM_UP; i++) {
        const uint64_t from_ns = clock_now_ns();
        ring(bells.there);
        await(bells.back);
        if (i >= WARM_UP)
            bench_samples_add(samples, (double)(clock_now_ns() - from_ns) / 2);
    }
    pthread_join(other, NULL);
    bench_unpin();
    close(bells.there);
    close(bells.back);
}

static void compare(const struct bench_options *options, bool polling, uint32_t bytes,
                    const char *suffix)
{
    const uint32_t wanted = polling ? options->samples : options->samples / 10;
    const uint32_t trips = wanted / BATCH * BATCH;
    const uint32_t their_trips = polling ? options->samples : trips;
    struct bench_samples *a = bench_samples_new(options->rounds * (trips / BATCH));
    struct bench_samples *b = bench_samples_new(options->rounds * (their_trips + 1));
    char name[64];

    for (uint32_t round = 0; round < options->rounds; round++) {
        ours(options, a, bytes, polling ? WB_FOREVER : 0, trips);
        if (polling)
            cache_line(options, b, bytes, their_trips);
        else
            eventfds(options, b, their_trips);
    }
    snprintf(name, sizeof name, "channel.%s.%s%s", bytes == LINE_BYTES ? "64B" : "4KiB",
             polling ? "spin" : "block", suffix);
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
