// SPDX-License-Identifier: Apache-2.0
// A task is recreated on the other core and back, with a small state and with larger ones, against
// what no recreation can do without: starting the same program and seeing it end, by posix_spawn.

#define _GNU_SOURCE
#include "mover.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"

extern char **environ;

enum { MOVES_PER_ROUND = 40, HEADER_BYTES = 16 };

// Beside this program.
static void find_program(char *path, size_t bytes)
{
    const ssize_t n = readlink("/proc/self/exe", path, bytes - 8);

    if (n <= 0)
        bench_fail("/proc/self/exe cannot be read");
    memcpy(path + n, ".task", 6);
}

static int no_entry(struct wb_task *self)
{
    wb_task_fail(self, "it has the entry of its program");
}

static void ours(const struct bench_options *options, const char *program, uint32_t state_bytes,
                 struct bench_samples *samples)
{
    struct bench_system b;
    struct wb_task *task;

    bench_open(&b, options, 2, 0);
    const struct wb_task_config config = { .name = "mover",
                                           .priority = 8,
                                           .entry = no_entry,
                                           .migratable = true,
                                           .restart = true,
                                           .mode = WB_RECREATE,
                                           .stack = wb_linux_stack(b.lx, 64 << 10),
                                           .stack_bytes = 64 << 10,
                                           .heap_bytes = state_bytes };
    struct recreate_plan *plan = wb_app_alloc(&b.system->app, sizeof *plan);
    // One block of the heap takes all of it.
    *plan = (struct recreate_plan){ .moves = MOVES_PER_ROUND,
                                    .state_bytes = state_bytes - HEADER_BYTES };
    if (wb_linux_program(b.lx, program) != WB_OK ||
        wb_task_add(b.system, &config, &task) != WB_OK ||
        wb_linux_host(b.lx, task, "mover") != WB_OK)
        bench_fail("the program whimbrel-bench.task cannot be used");
    const uint64_t *took_ns = plan->took_ns;
    bench_start(&b, plan);
    for (uint32_t i = 0; i < MOVES_PER_ROUND; i++)
        bench_samples_add(samples, (double)took_ns[i]);
    wb_linux_close(b.lx);
}

static void theirs(const struct bench_options *options, const char *program,
                   struct bench_samples *samples)
{
    char *const argv[] = { (char *)"program", NULL };

    for (uint32_t i = 0; i < MOVES_PER_ROUND; i++) {
        pid_t pid;
        bench_pin(options->cpu[i % 2]);
        const uint64_t from_ns = clock_now_ns();
        if (posix_spawn(&pid, program, NULL, NULL, argv, environ) != 0 ||
            waitpid(pid, NULL, 0) != pid)
            bench_fail("the program whimbrel-bench.task cannot be started");
        bench_samples_add(samples, (double)(clock_now_ns() - from_ns));
    }
    bench_unpin();
}

static void compare(const struct bench_options *options, const char *name, uint32_t state_bytes)
{
    struct bench_samples a = bench_samples_new(options->rounds * MOVES_PER_ROUND);
    struct bench_samples b = bench_samples_new(options->rounds * MOVES_PER_ROUND);
    char program[4096];

    find_program(program, sizeof program);
    for (uint32_t round = 0; round < options->rounds; round++) {
        ours(options, program, state_bytes, &a);
        theirs(options, program, &b);
    }
    bench_row(name, &a, "posix_spawn", &b);
}

void bench_recreation(const struct bench_options *options)
{
    compare(options, "migration.recreate.4KiB", 4 << 10);
    compare(options, "migration.recreate.64KiB", 64 << 10);
    compare(options, "migration.recreate.1MiB", 1 << 20);
}
