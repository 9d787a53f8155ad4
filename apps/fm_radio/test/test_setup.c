// SPDX-License-Identifier: Apache-2.0
// Tests of setup.c: what the application refuses before a run, and what it says.
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../frame.h"
#include "check.h"
#include "wb/launcher.h"
#include "wb/system.h"

int bpf(struct wb_task *self);

enum { BANDS = 3, PARAMS_MAX = 4, MEMORY_BYTES = 256 << 10 };

static _Alignas(64) unsigned char memory[MEMORY_BYTES];
static char folder[] = "/tmp/fm_setup_XXXXXX", input[64], output[64];
static struct wb_app *app;

static void leave(void)
{
    unlink(input);
    unlink(output);
    rmdir(folder);
}

__attribute__((constructor)) static void enter(void)
{
    CHECK(mkdtemp(folder));
    snprintf(input, sizeof input, "%s/in.cu8", folder);
    snprintf(output, sizeof output, "%s/out.wav", folder);
    FILE *file = fopen(input, "wb");
    CHECK(file && fputs("abcd", file) >= 0 && fclose(file) == 0);
    atexit(leave);
}

// A system with three bands and these files, to which a test adds the parameters it is about.
static void prepare(const char *in, const char *out)
{
    const struct wb_system_config config = {
        .cores = 1, .tasks = BANDS, .params = PARAMS_MAX, .core_align = 64
    };
    struct wb_system *system;

    memset(memory, 0, sizeof memory);
    CHECK(wb_system_init(&system, memory, sizeof memory, &config) == WB_OK);
    for (uint32_t i = 0; i < BANDS; i++) {
        const struct wb_task_config task = { .name = "bpf", .index = i, .entry = bpf };
        struct wb_task *made;

        CHECK(wb_task_add(system, &task, &made) == WB_OK);
    }
    CHECK(wb_param_add(system, "input", in, NULL, 0) == WB_OK);
    CHECK(wb_param_add(system, "output", out, NULL, 0) == WB_OK);
    app = &system->app;
}

static void set(const char *key, const char *text, const double *numbers, uint32_t count)
{
    CHECK(wb_param_add(app->system, key, text, numbers, count) == WB_OK);
}

static bool refused(const char *reason)
{
    return wb_app_setup(app) == WB_ERR_INVAL && strstr(app->error, reason);
}

TEST(setup_counts_the_bands_and_takes_one_gain_for_each)
{
    const double gains[] = { 2, 0.5, -1, 7 };

    prepare(input, output);
    set("band_gains", "[2, 0.5, -1]", gains, 3);
    CHECK(wb_app_setup(app) == WB_OK);
    const struct fm_radio *radio = app->state;
    CHECK(radio->config.bands == BANDS);
    CHECK(memcmp(radio->config.gain, gains, 3 * sizeof *gains) == 0);
    CHECK(wb_app_finish(app) == WB_OK);

    for (uint32_t count = 2; count <= 4; count += 2) {
        prepare(input, output);
        set("band_gains", "[…]", gains, count);
        CHECK(refused("band_gains is […]: give one number for each of the 3 tasks bpf"));
    }
}

TEST(setup_refuses_frames_shorter_than_the_filters)
{
    const double frame_samples = 132, enough = 133;

    prepare(input, output);
    set("frame_samples", "132", &frame_samples, 1);
    CHECK(refused("frame_samples is 132: the filters are longer, give at least 133"));
    prepare(input, output);
    set("frame_samples", "133", &enough, 1);
    CHECK(wb_app_setup(app) == WB_OK && wb_app_finish(app) == WB_OK);
}

TEST(setup_refuses_numbers_and_files_that_make_no_radio)
{
    const double rate = 44100, plays = 0;

    prepare(input, output);
    set("audio_rate", "44100", &rate, 1);
    CHECK(refused("choose rates that make it a whole number"));
    prepare(input, output);
    set("plays", "0", &plays, 1);
    CHECK(refused("plays is 0: give a number from 1 to"));
    prepare("nowhere.cu8", output);
    CHECK(refused("input \"nowhere.cu8\" cannot be played: No such file"));
    prepare(input, "sound.mp3");
    CHECK(refused("output \"sound.mp3\" cannot be created: its name must end in .wav or .f32"));
}

TEST(finish_without_a_setup_does_nothing)
{
    prepare(input, output);
    CHECK(wb_app_finish(app) == WB_OK);
}
