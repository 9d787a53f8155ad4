// SPDX-License-Identifier: Apache-2.0
// The FM radio as fast as it goes: its tasks on one core against the same filters in one plain C
// loop with the same flags (build/apps/fm_plain), and on two cores against one; and which part of
// its time its checkpoints take.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "wb/launcher.h"

enum { STACK_BYTES = 64 << 10, HEAP_BYTES = 1 << 20, SLOTS = 14, BANDS = 3 };
enum { TASKS = BENCH_RADIO_TASKS };
#define RECORDING "apps/fm_radio/data/cold_day_240k.cu8"

enum { FRAME = 2048, SLOT_BYTES = FRAME * 8 + 128, PLAYS = 120, FILE_SAMPLES = 1199992 };

// The graph that GNU Radio and FutureSDR are measured on as well (bench/peers/fm_graph.py).
static const struct {
    const char *key, *text;
    double value;
} params[] = {
    { "sample_rate", "960000", 960000 },
    { "decimation", "4", 4 },
    { "audio_rate", "240000", 240000 },
    { "lpf_taps", "64", 64 },
    { "bpf_taps", "64", 64 },
    { "frame_samples", "2048", FRAME },
    { "offset_hz", "4000", 4000 },
    { "output", "", 0 },
};

struct radio {
    struct bench_system b;
    void *module;
    struct wb_task *lpf, *demodulator, *bpf[BANDS], *sum;
};

static struct wb_task *task(struct radio *r, const char *name, uint32_t index, uint32_t core)
{
    struct wb_task_config config = {
        .name = name, .index = index, .core = core, .heap_bytes = HEAP_BYTES
    };

    *(void **)&config.entry = dlsym(r->module, name);
    return bench_task_with(&r->b, &config);
}

static void channel(struct radio *r, struct wb_task *from, uint32_t out, struct wb_task *to,
                    uint32_t in)
{
    char name[WB_NAME_BYTES];

    snprintf(name, sizeof name, "%.12s_%u_%.12s", wb_task_name(from), out + in, wb_task_name(to));
    bench_channel(&r->b, name, SLOTS, SLOT_BYTES, from, out, to, in);
}

// On two cores the low-pass and one band take about as long as all the rest.
static void add_tasks(struct radio *r, uint32_t cores)
{
    const uint32_t other = cores - 1;

    r->lpf = task(r, "lpf", 0, 0);
    r->demodulator = task(r, "demodulator", 0, other);
    r->sum = task(r, "sum", 0, other);
    for (uint32_t i = 0; i < BANDS; i++)
        r->bpf[i] = task(r, "bpf", i, i == BANDS - 1 ? 0 : other);
    channel(r, r->lpf, 0, r->demodulator, 0);
    for (uint32_t i = 0; i < BANDS; i++) {
        channel(r, r->demodulator, i, r->bpf[i], 0);
        channel(r, r->bpf[i], 0, r->sum, i);
    }
}

static void add_params(struct wb_system *system)
{
    char *input = bench_path(RECORDING);
    static const double plays = PLAYS;
    const double gains[BANDS] = { 1, 1, 1 };
    bool done = wb_param_add(system, "input", input, NULL, 0) == WB_OK &&
                wb_param_add(system, "plays", "", &plays, 1) == WB_OK &&
                wb_param_add(system, "band_gains", "", gains, BANDS) == WB_OK;

    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++)
        done = done && wb_param_add(system, params[i].key, params[i].text, &params[i].value,
                                    params[i].text[0] != '\0') == WB_OK;
    if (!done)
        bench_fail("a parameter of the radio cannot be added");
    free(input);
}

double bench_radio(const struct bench_options *options, uint32_t cores, const char *module,
                   struct bench_radio *told)
{
    const struct wb_host_config config = {
        .system = { .cores = cores, .tasks = TASKS, .channels = 8, .ports = 16, .params = 16 },
        .memory_bytes = (size_t)TASKS * HEAP_BYTES + (size_t)8 * (SLOTS + 1) * SLOT_BYTES,
        .stacks_bytes = (size_t)TASKS * STACK_BYTES,
        .cpus = options->cpu,
        .spin_ns = 50000,
    };
    struct timed_checkpoints *timed = NULL;
    struct radio r;
    char error[512];

    bench_open_as(&r.b, &config);
    struct wb_system *system = r.b.system;
    r.module = wb_host_module(r.b.host, module, error, sizeof error);
    if (r.module == NULL)
        bench_fail(error);
    add_params(system);
    add_tasks(&r, cores);
    enum wb_status (*setup)(struct wb_app *);
    *(void **)&setup = dlsym(r.module, "wb_app_setup");
    if (setup(&system->app) != WB_OK)
        bench_fail(system->app.error);
    if (told != NULL && (timed = dlsym(r.module, "timed_checkpoints")) != NULL)
        *timed = told->timed;
    bench_start(&r.b, system->app.state);
    const uint64_t spent_ns = wb_kernel_now_ns() - system->start_ns;
    if (timed != NULL)
        told->timed = *timed;
    for (uint32_t i = 0; told != NULL && i < TASKS; i++)
        told->busy_ns[i] = (double)wb_counter_get(&system->tasks[i].stats.busy_ns);
    wb_host_close(r.b.host);
    dlclose(r.module);
    return (double)PLAYS * FILE_SAMPLES * 1e9 / (double)spent_ns;
}

// The yardstick runs by itself, on the same processor.
static double plain(const struct bench_options *options, const char *program, const char *input)
{
    char *command;
    double rate = 0;

    if (asprintf(&command,
                 "taskset -c %u '%s' --bench '%s' sample_rate=960000 decimation=4 "
                 "audio_rate=240000 bpf_taps=64 frame_samples=%d",
                 options->cpu[0], program, input, FRAME) < 0)
        bench_fail("no memory");
    FILE *out = popen(command, "r");
    if (out == NULL || fscanf(out, "%lf", &rate) != 1 || pclose(out) != 0)
        bench_fail("build/apps/fm_plain failed; `make build` makes it");
    free(command);
    return rate;
}

void bench_fm_radio(const struct bench_options *options)
{
    char *module = bench_path("build/apps/fm_radio.so");
    char *program = bench_path("build/apps/fm_plain");
    char *input = bench_path(RECORDING);
    const uint32_t rounds = options->rounds < 7 ? options->rounds : 7;
    struct bench_samples *one = bench_samples_new(rounds), *loop = bench_samples_new(rounds);
    struct bench_samples *two = bench_samples_new(rounds), *half = bench_samples_new(rounds);

    for (uint32_t round = 0; round < rounds; round++) {
        const double rate = bench_radio(options, 1, module, NULL);
        bench_samples_add(one, rate);
        bench_samples_add(half, rate);
        bench_samples_add(loop, plain(options, program, input));
        if (options->two_cores)
            bench_samples_add(two, bench_radio(options, 2, module, NULL));
    }
    bench_rate_row("fm_radio.one_core", "samples/s", one, "the same filters in one C loop", loop);
    if (options->two_cores)
        bench_rate_row("fm_radio.two_cores", "samples/s", two, "fm_radio.one_core", half);
    free(module);
    free(program);
    free(input);
}
