// SPDX-License-Identifier: Apache-2.0
// usage: whimbrel-bench [--cpus A,B] [--quick] [GROUP]...
//
// WHIMBREL_BENCH_ROUNDS in the environment: how often ours and theirs take turns;
// WHIMBREL_BENCH_SAMPLES: of how many each consists. For tests that only need every row.

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

static const struct group {
    const char *name;
    void (*run)(const struct bench_options *options);
} groups[] = {
    { "migration", bench_migration },   { "channel", bench_channels }, { "switch", bench_switch },
    { "checkpoint", bench_checkpoint }, { "alloc", bench_alloc },      { "agent", bench_agent },
    { "fm_radio", bench_fm_radio },     { "wake", bench_wake },        { "call", bench_calls },
};

enum { GROUPS = sizeof groups / sizeof groups[0] };

// The first two processors that this process may use.
static void choose_cpus(struct bench_options *options)
{
    cpu_set_t allowed;
    uint32_t n = 0;

    sched_getaffinity(0, sizeof allowed, &allowed);
    for (unsigned int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            options->cpu[n++] = cpu;
    options->two_cores = n == 2;
}

static void run(const char *name, const struct bench_options *options)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (strcmp(groups[i].name, name) == 0) {
            fprintf(stderr, "measuring %s\n", name);
            groups[i].run(options);
            return;
        }
    bench_fail("there is no such group; there are migration, channel, switch, checkpoint, alloc, "
               "agent, fm_radio, wake, call");
}

// Takes the options out of the arguments, wherever they stand, and leaves the groups: how many.
static int take_options(int argc, char **argv, struct bench_options *options)
{
    int groups_given = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            argv[groups_given++] = argv[i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            options->rounds = 3;
            options->samples = 4000;
        } else if (strcmp(argv[i], "--cpus") == 0 && i + 1 < argc &&
                   sscanf(argv[i + 1], "%u,%u", &options->cpu[0], &options->cpu[1]) == 2) {
            options->two_cores = options->cpu[0] != options->cpu[1];
            i++;
        } else {
            bench_fail("usage: whimbrel-bench [--cpus A,B] [--quick] [GROUP]...");
        }
    }
    return groups_given;
}

static void take_number(const char *name, uint32_t least, uint32_t most, uint32_t *number)
{
    const char *const text = getenv(name);
    char *end, why[128];

    if (text == NULL)
        return;
    const unsigned long given = strtoul(text, &end, 10);
    if (*end != '\0' || given < least || given > most) {
        snprintf(why, sizeof why, "%s is %.20s: give a whole number from %u to %u", name, text,
                 least, most);
        bench_fail(why);
    }
    *number = (uint32_t)given;
}

int main(int argc, char **argv)
{
    struct bench_options options = { .rounds = 25, .samples = 8000 };

    choose_cpus(&options);
    clock_init(false);
    const int groups_given = take_options(argc, argv, &options);
    take_number("WHIMBREL_BENCH_ROUNDS", 1, 1000, &options.rounds);
    take_number("WHIMBREL_BENCH_SAMPLES", 800, 8000, &options.samples);
    for (size_t g = 0; groups_given == 0 && g < GROUPS; g++)
        run(groups[g].name, &options);
    for (int i = 0; i < groups_given; i++)
        run(argv[i], &options);
    return 0;
}
