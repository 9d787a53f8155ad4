// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "raw.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

enum { WARM_UP = 1000 };

static void start(pthread_t *other, void *(*run)(void *), void *arg)
{
    if (pthread_create(other, NULL, run, arg) != 0)
        bench_fail("no thread for the other side");
}

// ---- A cache line -------------------------------------------------------------------------------

struct block {
    uint64_t words[BENCH_BYTES_MOST / 8];
};

struct line {
    _Alignas(128) struct wb_word line;
    _Alignas(128) struct wb_word line_back;
    _Alignas(128) struct wb_word *ping, *pong;  // where each side stores: maybe the same
    const struct bench_raw *raw;
    uint32_t copied_bytes;  // beside the line
    _Alignas(128) struct block there, back;
};

static void *line_pong(void *arg)
{
    static struct block mine;
    struct line *line = arg;
    struct wb_word *const ping = line->ping, *const pong = line->pong;

    bench_pin_thread(line->raw->options->cpu[1]);
    for (uint32_t i = 1; i <= line->raw->trips + WARM_UP; i++) {
        while (wb_word_load(ping, WB_ACQUIRE) != 2 * i - 1) {}
        memcpy(&mine, &line->there, line->copied_bytes);
        memcpy(&line->back, &mine, line->copied_bytes);
        wb_word_store(pong, 2 * i, WB_RELEASE);
    }
    return NULL;
}

static void line_ping(struct line *line)
{
    static struct block mine;
    const struct bench_raw *raw = line->raw;
    struct wb_word *const ping = line->ping, *const pong = line->pong;
    uint64_t from_ns = clock_now_ns();

    for (uint32_t i = 1; i <= raw->trips + WARM_UP; i++) {
        memcpy(&line->there, &mine, line->copied_bytes);
        wb_word_store(ping, 2 * i - 1, WB_RELEASE);
        while (wb_word_load(pong, WB_ACQUIRE) != 2 * i) {}
        memcpy(&mine, &line->back, line->copied_bytes);
        if (i % BENCH_TRIPS != 0)
            continue;
        const uint64_t now_ns = clock_now_ns();
        if (i > WARM_UP)
            bench_samples_add(raw->samples,
                              (double)(now_ns - from_ns) / BENCH_TRIPS / 2 * raw->ways);
        from_ns = now_ns;
    }
}

void bench_raw_line(const struct bench_raw *raw, uint32_t bytes)
{
    static struct line line;
    pthread_t other;

    wb_word_init(&line.line, 0);
    wb_word_init(&line.line_back, 0);
    line.ping = &line.line;
    line.pong = raw->each_way ? &line.line_back : &line.line;
    line.raw = raw;
    line.copied_bytes = bytes > BENCH_LINE_BYTES ? bytes : 0;
    bench_pin(raw->options->cpu[0]);
    start(&other, line_pong, &line);
    line_ping(&line);
    pthread_join(other, NULL);
    bench_unpin();
}

// ---- What wakes a thread ------------------------------------------------------------------------

// One doorbell for each way.
struct notify {
    const struct bench_raw *raw;
    void (*ring)(struct notify *notify, int way);
    void (*await)(struct notify *notify, int way);
    int fd[2];
    _Alignas(128) struct wb_swapped futex[2];
};

static void *notify_pong(void *arg)
{
    struct notify *notify = arg;

    bench_pin_thread(notify->raw->options->cpu[1]);
    for (uint32_t i = 0; i < notify->raw->trips + WARM_UP; i++) {
        notify->await(notify, 0);
        notify->ring(notify, 1);
    }
    return NULL;
}

static void ping(struct notify *notify)
{
    const struct bench_raw *raw = notify->raw;
    pthread_t other;

    bench_pin(raw->options->cpu[0]);
    start(&other, notify_pong, notify);
    for (uint32_t i = 0; i < raw->trips + WARM_UP; i++) {
        const uint64_t from_ns = clock_now_ns();
        notify->ring(notify, 0);
        notify->await(notify, 1);
        if (i >= WARM_UP)
            bench_samples_add(raw->samples, (double)(clock_now_ns() - from_ns) / 2 * raw->ways);
    }
    pthread_join(other, NULL);
    bench_unpin();
}

static void ring_eventfd(struct notify *notify, int way)
{
    if (eventfd_write(notify->fd[way], 1) != 0)
        bench_fail("an eventfd cannot be written");
}

static void await_eventfd(struct notify *notify, int way)
{
    eventfd_t value;

    if (eventfd_read(notify->fd[way], &value) != 0)
        bench_fail("an eventfd cannot be read");
}

void bench_raw_eventfds(const struct bench_raw *raw)
{
    struct notify notify = { .raw = raw,
                             .ring = ring_eventfd,
                             .await = await_eventfd,
                             .fd = { eventfd(0, 0), eventfd(0, 0) } };

    ping(&notify);
    close(notify.fd[0]);
    close(notify.fd[1]);
}

static void ring_futex(struct notify *notify, int way)
{
    wb_word_swap(&notify->futex[way], 1, WB_SEQ_CST);
    syscall(SYS_futex, &notify->futex[way], FUTEX_WAKE, 1, NULL, NULL, 0);
}

// Never looks before it sleeps, as who is rung by an interrupt does not.
static void await_futex(struct notify *notify, int way)
{
    do
        syscall(SYS_futex, &notify->futex[way], FUTEX_WAIT, 0, NULL, NULL, 0);
    while (wb_word_swap(&notify->futex[way], 0, WB_SEQ_CST) == 0);
}

void bench_raw_futexes(const struct bench_raw *raw)
{
    struct notify notify = { .raw = raw, .ring = ring_futex, .await = await_futex };

    ping(&notify);
}
