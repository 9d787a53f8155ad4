// SPDX-License-Identifier: Apache-2.0
// fm_plain: the FM radio as one plain loop.
//
//   fm_plain IN OUT.wav [KEY=VALUE ...]     writes the sound (OUT.f32: bare floats)
//   fm_plain --bench IN [KEY=VALUE ...]     plays it again and again without sound, and prints
//                                               input samples per second, the best of five rounds
//
// The keys are those of [params] in app.toml.
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dsp/receiver.h"

enum { ROUNDS = 5, ROUND_NS = 200000000 };

static int fail(const char *why)
{
    fprintf(stderr, "fm_plain: %s\n", why);
    return 2;
}

// What is no number.
struct texts {
    const char *gains, *format;
};

static bool set(struct fm_config *config, const char *setting, struct texts *texts,
                char why[FM_WHY_BYTES])
{
    const char *value = strchr(setting, '=');
    char key[64], *end;

    snprintf(key, sizeof key, "%.*s", (int)(value ? value - setting : 0), setting);
    const char **text = strcmp(key, "band_gains") == 0 ? &texts->gains
                        : strcmp(key, "format") == 0   ? &texts->format
                                                       : NULL;
    if (value && text) {
        *text = value + 1;
        return true;
    }
    double *field = fm_config_field(config, key);
    if (!field) {
        snprintf(why, FM_WHY_BYTES, "\"%.100s\": give KEY=VALUE with a key of app.toml", setting);
        return false;
    }
    *field = strtod(value + 1, &end);
    if (end == value + 1 || *end != '\0') {
        snprintf(why, FM_WHY_BYTES, "%s is \"%.100s\": give a number", key, value + 1);
        return false;
    }
    return true;
}

static bool configure(struct fm_config *config, char **settings, struct texts *texts,
                      char why[FM_WHY_BYTES])
{
    fm_config_init(config);
    for (; *settings; settings++)
        if (!set(config, *settings, texts, why))
            return false;
    return fm_config_check(config, why) &&
           (!texts->gains || fm_config_gains(config, texts->gains, why));
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// Plays the file `plays` times without sound; -1 where that failed.
static int64_t round_ns(struct fm_config *config, const char *path, const char *format,
                        uint64_t plays, uint64_t *samples, char why[FM_WHY_BYTES])
{
    struct fm_input input;
    struct fm_output output;

    if (!fm_input_open(&input, path, format, plays, why) ||
        !fm_input_tune(&input, path, config, why) ||
        !fm_output_open(&output, "", config->audio_rate, why))
        return -1;
    const uint64_t start = now_ns();
    const bool done = fm_receiver_run(config, &input, &output, why);
    const uint64_t spent = now_ns() - start;

    fm_input_close(&input);
    *samples = input.end;
    return done ? (int64_t)spent : -1;
}

static int bench(struct fm_config *config, const char *path, const char *format,
                 char why[FM_WHY_BYTES])
{
    uint64_t samples, plays = 1;
    double best = 0;

    for (int i = 0; i <= ROUNDS; i++) {
        const int64_t spent = round_ns(config, path, format, plays, &samples, why);

        if (spent < 0)
            return fail(why);
        if (i == 0)  // warms up, and says how many plays make a round
            plays += (uint64_t)(ROUND_NS / spent);
        else if ((double)samples * 1e9 / (double)spent > best)
            best = (double)samples * 1e9 / (double)spent;
    }
    printf("%.0f\n", best);
    return 0;
}

static int play(struct fm_config *config, char **files, const char *format, char why[FM_WHY_BYTES])
{
    struct fm_input input;
    struct fm_output output;

    if (!fm_input_open(&input, files[0], format, 1, why) ||
        !fm_input_tune(&input, files[0], config, why) ||
        !fm_output_open(&output, files[1], config->audio_rate, why) ||
        !fm_receiver_run(config, &input, &output, why))
        return fail(why);
    printf("%" PRIu64 " samples in, %" PRIu64 " samples out\n", input.samples, output.samples);
    return 0;
}

int main(int argc, char **argv)
{
    char why[FM_WHY_BYTES] = "";
    struct texts texts = { NULL, "" };
    struct fm_config config;

    if (argc < 3)
        return fail("usage: fm_plain IN OUT.wav [KEY=VALUE ...] | --bench IN [KEY=VALUE ...]");
    if (!configure(&config, argv + 3, &texts, why))
        return fail(why);
    if (strcmp(argv[1], "--bench") == 0)
        return bench(&config, argv[2], texts.format, why);
    return play(&config, argv + 1, texts.format, why);
}
