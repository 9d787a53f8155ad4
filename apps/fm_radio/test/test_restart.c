// SPDX-License-Identifier: Apache-2.0
// The radio made of tasks, on the real middleware: moved about, and with a core killed at each
// step.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../dsp/receiver.h"
#include "../frame.h"
#include "check.h"
#include "one_process.h"
#include "signals.h"
#include "wb/launcher.h"

enum {
    FRAMES = 7,
    FRAME_SAMPLES = 200,  // not a multiple of the audio decimation, 16
    SAMPLES = FRAMES * FRAME_SAMPLES + 77,
    DECIMATION = 2,
    AUDIO = SAMPLES / 16,
    BANDS = 3,
    SLOTS = 3,
    MEMORY_BYTES = 4 << 20,
};

int lpf(struct wb_task *self);
int demodulator(struct wb_task *self);
int bpf(struct wb_task *self);
int sum(struct wb_task *self);

static const struct {
    const char *key;
    double value;
} params[] = {
    { "sample_rate", 1024000 }, { "decimation", DECIMATION },       { "audio_rate", 32000 },
    { "bpf_taps", 100 },        { "frame_samples", FRAME_SAMPLES }, { "offset_hz", 12345 },
};
enum { PARAMS = sizeof params / sizeof *params };

static _Alignas(64) unsigned char memory[MEMORY_BYTES], stacks[3 + BANDS][STACK_BYTES];
static char input[] = "/tmp/fm_restart_XXXXXX.cu8", output[sizeof input + 4], why[FM_WHY_BYTES];
static float expected[AUDIO];

static void leave_no_files(void)
{
    unlink(input);
    unlink(output);
}

static struct wb_task *add_task(struct wb_system *system, const char *name, uint32_t index,
                                wb_task_entry *entry)
{
    struct wb_task_config config = { .name = name,
                                     .index = index,
                                     .core = system->n_tasks % 2,
                                     .priority = 8,
                                     .entry = entry,
                                     .migratable = true,
                                     .restart = true,
                                     .stack = stacks[system->n_tasks],
                                     .stack_bytes = STACK_BYTES,
                                     .heap_bytes = 256 << 10 };
    struct wb_task *task;

    CHECK(wb_task_add(system, &config, &task) == WB_OK);
    return task;
}

static void bind_ports(struct wb_task *from, uint32_t out, struct wb_task *to, uint32_t in,
                       uint32_t sample_bytes)
{
    struct wb_channel_config config = { .slots = SLOTS,
                                        .slot_bytes = FRAME_SAMPLES * sample_bytes + 128 };
    struct wb_channel *channel;
    char name[WB_NAME_BYTES];

    snprintf(name, sizeof name, "channel_%u", from->system->n_channels);
    config.name = name;
    CHECK(wb_channel_add(from->system, &config, &channel) == WB_OK);
    CHECK(wb_port_add(from, channel, WB_OUT, "out", out) == WB_OK);
    CHECK(wb_port_add(to, channel, WB_IN, "in", in) == WB_OK);
}

static struct wb_system *make_system(void)
{
    const struct wb_system_config config = { .cores = 2,
                                             .tasks = 3 + BANDS,
                                             .channels = 1 + 2 * BANDS,
                                             .ports = 2 + 4 * BANDS,
                                             .params = PARAMS + 2,
                                             .core_align = 64,
                                             .offer_timeout_ns = WB_FOREVER };
    struct wb_system *system;

    memset(memory, 0, sizeof memory);
    CHECK(wb_system_init(&system, memory, sizeof memory, &config) == WB_OK);
    for (uint32_t i = 0; i < PARAMS; i++)
        CHECK(wb_param_add(system, params[i].key, "", &params[i].value, 1) == WB_OK);
    CHECK(wb_param_add(system, "input", input, NULL, 0) == WB_OK);
    CHECK(wb_param_add(system, "output", output, NULL, 0) == WB_OK);

    struct wb_task *first = add_task(system, "lpf", 0, lpf);
    struct wb_task *split = add_task(system, "demodulator", 0, demodulator);
    struct wb_task *join = add_task(system, "sum", 0, sum);
    bind_ports(first, 0, split, 0, 8);
    for (uint32_t i = 0; i < BANDS; i++) {
        struct wb_task *band = add_task(system, "bpf", i, bpf);

        bind_ports(split, i, band, 0, 4);
        bind_ports(band, 0, join, i, 4);
    }
    return system;
}

// Runs the radio and compares its sound; returns the steps it took.
static uint32_t run(uint32_t kill_at, uint32_t move_every, uint64_t *migrations)
{
    struct wb_system *system = make_system();
    float audio[AUDIO + 1];

    CHECK(wb_app_setup(&system->app) == WB_OK);
    const uint32_t steps = one_process_run(system, kill_at, move_every);
    CHECK(wb_app_finish(&system->app) == WB_OK);
    *migrations = 0;
    for (uint32_t i = 0; i < system->n_tasks; i++)
        *migrations += wb_task_migrations(&system->tasks[i]);

    FILE *file = fopen(output, "rb");
    CHECK(file);
    CHECK(fread(audio, sizeof *audio, AUDIO + 1, file) == AUDIO);
    CHECK(fclose(file) == 0);
    CHECK(memcmp(audio, expected, sizeof expected) == 0);
    return steps;
}

// What the plain loop makes of the same numbers.
__attribute__((constructor)) static void make_expected(void)
{
    static uint8_t iq[2 * SAMPLES * DECIMATION];
    struct fm_config config;
    struct fm_input in;
    struct fm_output out;
    uint32_t seed = 21;
    const int fd = mkstemps(input, 4);

    for (size_t i = 0; i < sizeof iq; i++)
        iq[i] = (uint8_t)random_next(&seed);
    CHECK(fd >= 0 && write(fd, iq, sizeof iq) == sizeof iq && close(fd) == 0);
    snprintf(output, sizeof output, "%s.f32", input);
    atexit(leave_no_files);

    fm_config_init(&config);
    for (uint32_t i = 0; i < PARAMS; i++)
        *fm_config_field(&config, params[i].key) = params[i].value;
    CHECK(fm_config_check(&config, why) && fm_input_open(&in, input, "", 1, why));
    CHECK(fm_output_open(&out, output, config.audio_rate, why));
    CHECK(fm_receiver_run(&config, &in, &out, why));
    fm_input_close(&in);
    fm_output_close(&out);
    FILE *file = fopen(output, "rb");
    CHECK(file && fread(expected, sizeof *expected, AUDIO, file) == AUDIO && fclose(file) == 0);
}

TEST(tasks_give_the_same_bits_as_the_plain_loop)
{
    uint64_t migrations;

    CHECK(run(NEVER, NEVER, &migrations) > 100);
    CHECK(migrations == 0);
}

TEST(tasks_that_move_give_the_same_bits)
{
    uint64_t migrations;

    for (uint32_t every = 1; every < 20; every++) {
        run(NEVER, every, &migrations);
        CHECK(migrations >= 5);
    }
}

TEST(a_core_killed_at_any_step_changes_no_bit)
{
    uint64_t migrations;
    const uint32_t steps = run(NEVER, NEVER, &migrations);

    for (uint32_t kill_at = 1; kill_at <= steps; kill_at++)
        run(kill_at, NEVER, &migrations);
}

TEST(a_core_killed_at_any_step_while_tasks_move_changes_no_bit)
{
    uint64_t migrations;
    const uint32_t steps = run(NEVER, 5, &migrations);

    for (uint32_t kill_at = 1; kill_at <= steps; kill_at++)
        run(kill_at, 5, &migrations);
}
