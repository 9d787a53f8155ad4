// SPDX-License-Identifier: Apache-2.0
// A call to a service on the other core and back, with as many bytes each way. The service copies
// the request into the answer.
//
// Polling is compared with two rounds of one cache line, and with as many bytes copied beside it;
// blocking with a round of eventfds and of futexes.
//
// Phases are those of lee2009 (section 3.1), from the steps that a recorded run has: A copies in, B
// describes and notifies, C is the service, D notifies back, E copies out. A phase is over when its
// last step is done; where the other side has seen it before, the notification (B or D) is until
// then. Recording a step takes time, which is
// measured in the same run and taken off the phase that it is in. What recording costs in all is
// the difference to a run that is not recorded, in the same round.

#include <stdio.h>
#include <string.h>

#include "raw.h"

enum { WARM_UP = 200, BATCH = 16, CALLS = 4, EVENTS = 1 << 17, STEPS = WB_CALL_COPIED_OUT + 1 };
enum phase { A, B, C, D, E, PHASES };

struct shared {
    struct bench_samples *samples;
    struct bench_samples *steps;  // what it takes to record one; NULL: nothing is recorded
    uint32_t bytes, trips, batch;
};

static int service(struct wb_task *self)
{
    struct wb_service service;
    struct wb_request request;

    if (wb_service_open(self, "echo", &service) != WB_OK)
        return 1;
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        memcpy(request.answer, request.data, request.bytes);
        if (wb_service_answer(&service, (int32_t)request.bytes) != WB_OK)
            return 1;
    }
    return 0;
}

// Steps of no call.
static void time_steps(struct wb_task *self, struct bench_samples *samples)
{
    enum { TIMES = 256 };
    const uint64_t from_ns = wb_now_ns();

    for (uint32_t i = 0; i < TIMES; i++)
        wb_record_event(self->system->cores[wb_kernel_core()], WB_EVENT_CALL, self->id, 0, STEPS,
                        wb_kernel_stamp_ns());
    bench_samples_add(samples, (double)(wb_now_ns() - from_ns) / TIMES);
}

static int caller(struct wb_task *self)
{
    static unsigned char request[BENCH_BYTES_MOST], answer[BENCH_BYTES_MOST];
    const struct shared *shared = wb_task_app(self)->state;
    const uint32_t bytes = shared->bytes;
    struct wb_caller caller;

    if (wb_caller_open(self, "echo", &caller) != WB_OK)
        return 1;
    for (uint32_t i = 0; i < shared->trips + WARM_UP; i += shared->batch) {
        const uint64_t from_ns = wb_now_ns();
        for (uint32_t j = 0; j < shared->batch; j++)
            if (wb_call(&caller, request, bytes, answer, bytes, WB_FOREVER) != (int32_t)bytes)
                return 1;
        if (i >= WARM_UP)
            bench_samples_add(shared->samples, (double)(wb_now_ns() - from_ns) / shared->batch);
    }
    if (shared->steps != NULL)
        time_steps(self, shared->steps);
    return 0;
}

// ---- One round ----------------------------------------------------------------------------------

static struct wb_channel *channel(struct bench_system *b, const struct wb_channel_config *config)
{
    struct wb_channel *channel;

    if (wb_channel_add(b->system, config, &channel) != WB_OK)
        bench_fail("a channel of a service cannot be added");
    return channel;
}

static void connect(struct bench_system *b, struct wb_task *from, struct wb_task *to,
                    uint32_t bytes)
{
    const uint32_t slot_bytes = WB_CALL_HEAD_BYTES + bytes;
    struct wb_channel *requests =
        channel(b, &(struct wb_channel_config){
                       .name = "echo", .slots = CALLS, .slot_bytes = slot_bytes, .mailbox = true });
    struct wb_channel *answers = channel(
        b, &(struct wb_channel_config){
               .name = "echo_0", .slots = CALLS + 1, .slot_bytes = slot_bytes, .answers = true });

    if (wb_port_add(to, requests, WB_IN, "echo", 0) != WB_OK ||
        wb_port_add(from, requests, WB_OUT, "echo", 0) != WB_OK ||
        wb_port_add(to, answers, WB_OUT, "echo", 1) != WB_OK ||
        wb_port_add(from, answers, WB_IN, "echo", 1) != WB_OK)
        bench_fail("a port of a service cannot be bound");
}

static void open_round(struct bench_system *b, const struct bench_options *options, bool polling,
                       bool recorded)
{
    const struct wb_host_config config = {
        .system = { .cores = 2,
                    .tasks = 2,
                    .channels = 2,
                    .ports = 4,
                    .record_events = recorded ? EVENTS : 0,
                    .offer_timeout_ns = 10000000000 },
        .memory_bytes = (1 << 20) + (recorded ? (size_t)EVENTS * 96 : 0) + BENCH_BYTES_MOST * 16,
        .stacks_bytes = 128 << 10,
        .cpus = options->cpu,
        .spin_ns = polling ? WB_FOREVER : 0,
    };

    bench_open_as(b, &config);
}

// Leaves the system open, for what was recorded.
static void run_round(struct bench_system *b, const struct bench_options *options, bool polling,
                      bool recorded, struct shared *shared)
{
    open_round(b, options, polling, recorded);
    struct wb_task *from = bench_task(b, "caller", caller, 0);
    struct wb_task *to = bench_task(b, "service", service, 1);
    connect(b, from, to, shared->bytes);
    bench_start(b, shared);
}

// ---- Phases -------------------------------------------------------------------------------------

struct phases {
    struct bench_samples *of[PHASES], *serving, *recorded, *steps;
};

// When each step of a call was done.
struct steps {
    uint64_t ns[STEPS];
};

static void collect(struct wb_core *core, struct steps *steps, uint32_t n)
{
    struct wb_event event;

    while (wb_ring_take(&core->record.events, &event)) {
        const uint32_t step = event.value & ((1 << WB_CALL_STEP_BITS) - 1);
        const uint32_t number = event.value >> WB_CALL_STEP_BITS;
        if (event.kind == WB_EVENT_CALL && step < STEPS && number - 1 < n)
            steps[number - 1].ns[step] = event.time_ns;
    }
    if (wb_word_load(&core->record.events.dropped, WB_RELAXED) != 0)
        bench_fail("the steps of calls do not fit their ring");
}

static uint64_t first(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void add_phases(const struct steps *steps, struct phases *phases)
{
    const uint64_t *ns = steps->ns;
    const bool overlaps = ns[WB_CALL_BACK] > ns[WB_CALL_RECEIVED];
    const uint64_t ends[PHASES + 1] = {
        ns[WB_CALL_BEGUN],
        ns[WB_CALL_COPIED_IN],
        first(ns[WB_CALL_NOTIFIED], ns[WB_CALL_SEEN]),
        ns[overlaps ? WB_CALL_ANSWERED : WB_CALL_BACK],
        ns[WB_CALL_RECEIVED],
        ns[WB_CALL_COPIED_OUT],
    };

    for (int i = 0; i < PHASES; i++)
        bench_samples_add(phases->of[i], (double)(ends[i + 1] - ends[i]));
    bench_samples_add(phases->serving, (double)(ns[WB_CALL_SERVED] - ns[WB_CALL_FOUND]));
}

// Of the calls after those that warm up.
static void take_phases(struct bench_system *b, const struct shared *shared, struct phases *phases)
{
    const uint32_t n = shared->trips + WARM_UP;
    static struct steps steps[(EVENTS >> 4) + WARM_UP];

    if (n > sizeof steps / sizeof steps[0])
        bench_fail("more calls than there is room for");
    memset(steps, 0, sizeof steps);
    for (uint32_t i = 0; i < b->system->n_cores; i++)
        collect(b->system->cores[i], steps, n);
    for (uint32_t i = WARM_UP; i < n; i++)
        add_phases(&steps[i], phases);
}

static struct phases phases_new(uint32_t room)
{
    struct phases phases;

    for (int i = 0; i < PHASES; i++)
        phases.of[i] = bench_samples_new(room);
    phases.serving = bench_samples_new(room);
    phases.recorded = bench_samples_new(room);
    phases.steps = bench_samples_new(room);
    return phases;
}

static void phases_free(struct phases *phases)
{
    for (int i = 0; i < PHASES; i++)
        bench_samples_free(phases->of[i]);
    bench_samples_free(phases->serving);
    bench_samples_free(phases->recorded);
    bench_samples_free(phases->steps);
}

// What is left of the median of a phase that has so many steps.
static double without(struct bench_samples *samples, uint32_t steps, double step_ns)
{
    const double left = bench_samples_median(samples) - steps * step_ns;

    return left > 0 ? left : 0;
}

// The steps whose recording lies within a phase: that of its first to that before its last. Those
// with which a side has told the other are recorded while that goes on.
static void print_phases(const char *name, struct phases *phases, double plain_ns)
{
    static const uint32_t steps[PHASES] = { 1, 2, 3, 1, 1 };
    static const char *const letters = "ABCDE";
    const double recorded_ns = bench_samples_median(phases->recorded);
    const double step_ns = bench_samples_median(phases->steps);

    printf("{\"bench\":\"%s.phases\",\"unit\":\"ns of each\"", name);
    for (int i = 0; i < PHASES; i++)
        printf(",\"%c\":%.1f", letters[i], without(phases->of[i], steps[i], step_ns));
    printf(",\"service\":%.1f,\"round\":%.1f,\"recorded\":%.1f,\"step\":%.1f}\n",
           without(phases->serving, 1, step_ns), plain_ns, recorded_ns, step_ns);
    fflush(stdout);
}

// ---- Rows ---------------------------------------------------------------------------------------

struct row {
    const struct bench_options *options;
    const char *size;
    uint32_t bytes;
    bool polling, phases;
};

static void against(const struct row *row, const struct bench_raw *raw, uint32_t bytes)
{
    if (row->polling)
        bench_raw_line(raw, bytes);
    else
        bench_raw_eventfds(raw);
}

// What a call of few bytes has to stand beside, and one of many.
static const char *peer_of(const struct row *row)
{
    if (!row->polling)
        return "eventfds, there and back";
    return row->phases ? "raw copies and a cache line, there and back"
                       : "two raw cache lines, there and back";
}

static void measure(const struct row *row)
{
    const struct bench_options *options = row->options;
    const uint32_t few = row->polling ? options->samples : options->samples / 8;
    const uint32_t trips = few / BATCH * BATCH, rounds = options->rounds;
    struct bench_samples *plain = bench_samples_new(rounds * trips);
    struct bench_samples *theirs = bench_samples_new(rounds * (trips + 1));
    struct phases phases = phases_new(rounds * trips);
    const struct bench_raw raw = { .options = options,
                                   .samples = theirs,
                                   .trips = trips,
                                   .ways = row->polling && !row->phases ? 4 : 2 };
    struct shared shared = { .bytes = row->bytes, .trips = trips };
    struct bench_system b;
    char name[64];

    for (uint32_t round = 0; round < rounds; round++) {
        shared.samples = plain;
        shared.steps = NULL;
        shared.batch = row->polling ? BATCH : 1;
        run_round(&b, options, row->polling, false, &shared);
        wb_host_close(b.host);
        against(row, &raw, row->phases ? row->bytes : BENCH_LINE_BYTES);
        shared.samples = phases.recorded;
        shared.steps = phases.steps;
        if (!row->phases)
            continue;
        run_round(&b, options, row->polling, true, &shared);
        take_phases(&b, &shared, &phases);
        wb_host_close(b.host);
    }
    snprintf(name, sizeof name, "call.%s.%s", row->size, row->polling ? "spin" : "block");
    if (row->phases)
        print_phases(name, &phases, bench_samples_median(plain));
    phases_free(&phases);
    bench_row(name, plain, peer_of(row), theirs);
}

static void against_futexes(const struct bench_options *options)
{
    const uint32_t trips = options->samples / 8;
    struct bench_samples *ours = bench_samples_new(options->rounds * trips);
    struct bench_samples *theirs = bench_samples_new(options->rounds * trips);
    const struct bench_raw raw = {
        .options = options, .samples = theirs, .trips = trips, .ways = 2
    };
    struct shared shared = { .samples = ours, .bytes = 160, .trips = trips, .batch = 1 };
    struct bench_system b;

    for (uint32_t round = 0; round < options->rounds; round++) {
        run_round(&b, options, false, false, &shared);
        wb_host_close(b.host);
        bench_raw_futexes(&raw);
    }
    bench_row("call.160B.block.futex", ours, "futexes, there and back", theirs);
}

void bench_calls(const struct bench_options *options)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } sizes[] = { { "128B", 128 },
                  { "512B", 512 },
                  { "2KiB", 2 << 10 },
                  { "8KiB", 8 << 10 },
                  { "32KiB", 32 << 10 } };

    if (!options->two_cores)
        bench_fail("call needs two processors");
    for (uint32_t polling = 2; polling-- > 0;) {
        measure(
            &(struct row){ .options = options, .size = "160B", .bytes = 160, .polling = polling });
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            measure(&(struct row){ .options = options,
                                   .size = sizes[i].name,
                                   .bytes = sizes[i].bytes,
                                   .polling = polling,
                                   .phases = true });
    }
    against_futexes(options);
}
