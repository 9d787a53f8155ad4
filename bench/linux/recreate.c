// SPDX-License-Identifier: Apache-2.0
// A recreated task (program/mover.c) moves itself to the other core and back, with contexts of
// several sizes: from before it asks to the first statement of its next life. Compared with
// starting the same program by posix_spawn, without any task, until it has ended.

#define _GNU_SOURCE
#include "program/mover.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bench.h"
#include "clock.h"

static const size_t sizes[] = { 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20 };
// A kernel that polls for longer takes its processor from the program that it waits for.
enum { SPIN_NS = 20000 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static int no_entry(struct wb_task *self)
{
    wb_task_fail(self, "a task that is hosted has the entry of its program");
}

static void ours(const struct bench_options *options, size_t bytes, const char *program,
                 struct bench_samples *samples)
{
    struct bench_system b;

    bench_open_for(&b, options, 2, SPIN_NS, bytes);
    struct recreate *shared = wb_app_alloc(&b.system->app, sizeof *shared);
    shared->bytes = bytes;
    struct wb_task *task = bench_task_with(&b, &(struct wb_task_config){ .name = "mover",
                                                                         .entry = no_entry,
                                                                         .mode = WB_RECREATE,
                                                                         .restart = true,
                                                                         .heap_bytes = bytes });
    char why[200];
    if (wb_host_program(b.host, program) != WB_OK ||
        wb_host_recreates(b.host, task, "mover", why, sizeof why) != WB_OK)
        bench_fail("whimbrel-bench.task cannot be used; `make build` makes it");
    bench_start(&b, shared);
    for (uint32_t i = 0; i < RECREATE_MOVES; i++)
        bench_samples_add(samples, shared->ns[i]);
    wb_host_close(b.host);
}

static void theirs(const struct bench_options *options, char *program,
                   struct bench_samples *samples)
{
    char *const argv[] = { program, NULL }, *const environment[] = { NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;

    // It says that it is of no use by hand.
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bench_pin(options->cpu[0]);
    for (uint32_t i = 0; i < RECREATE_MOVES; i++) {
        const uint64_t from_ns = clock_now_ns();
        if (posix_spawn(&pid, program, &actions, NULL, argv, environment) != 0 ||
            waitpid(pid, &status, 0) != pid)
            bench_fail("a program cannot be started");
        bench_samples_add(samples, (double)(clock_now_ns() - from_ns));
    }
    bench_unpin();
    posix_spawn_file_actions_destroy(&actions);
}

// What it costs undisturbed, for the fit.
static double measure(const struct bench_options *options, size_t bytes, char *program)
{
    struct bench_samples *a = bench_samples_new(options->rounds * RECREATE_MOVES);
    struct bench_samples *b = bench_samples_new(options->rounds * RECREATE_MOVES);
    char size[24], name[64];

    for (uint32_t round = 0; round < options->rounds; round++) {
        ours(options, bytes, program, a);
        theirs(options, program, b);
    }
    const double cost_ns = bench_samples_undisturbed(a);
    snprintf(name, sizeof name, "migration.recreate.%s", bench_size_name(bytes, size));
    bench_row(name, a, "posix_spawn of the program", b);
    return cost_ns;
}

void bench_recreation(const struct bench_options *options)
{
    struct bench_point points[SIZES];
    char *program = bench_path("whimbrel-bench.task");

    for (uint32_t i = 0; i < SIZES; i++)
        points[i] = (struct bench_point){ .kib = (double)sizes[i] / 1024,
                                          .ns = measure(options, sizes[i], program) };
    bench_fit_row("migration.recreate.fit", points, SIZES);
    free(program);
}
