// SPDX-License-Identifier: Apache-2.0
// The harness on a SoC: "outside" is where a launcher runs (outside.h).

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board_host.h"
#include "check.h"
#include "launcher.h"
#include "riscv_board.h"

enum { STACK_BYTES = 64 << 10, WORDS = 4 };

const struct harness_sizes harness_sizes = { .memory_bytes = 3 << 20,
                                             .shared_bytes = 256 << 10,
                                             .stack_bytes = STACK_BYTES };

static double scale = CONFORM_SCALE;

static void read_line(char *line, size_t bytes)
{
    size_t n = 0;

    do
        n += board_line_read(line + n, 1);
    while (n < bytes - 1 && (n == 0 || line[n - 1] != '\n'));
    line[n] = '\0';
}

// The arguments are words on the line. `scale=N` is ours.
int board_arguments(char **argv, int most)
{
    static char line[256];
    int argc = 1;

    argv[0] = "conform";
    read_line(line, sizeof line);
    for (char *word = strtok(line, " \r\n"); word != NULL && argc < most;
         word = strtok(NULL, " \r\n"))
        if (strncmp(word, "scale=", 6) == 0)
            scale = strtod(word + 6, NULL);
        else
            argv[argc++] = word;
    return argc;
}

// Cases keep interrupts away for as long as they like: no watchdog.
struct harness *harness_open(const struct harness_config *config)
{
    const uint64_t for_ever_ns = 3600000000000;

    if (config->cores > board_cores())
        wb_test_abandon("it wants more cores than this board has");
    struct harness *h = launcher_open(config, for_ever_ns, (struct wb_host_config){ .cpus = NULL });
    wb_host_watch(h->host, UINT32_MAX);
    return h;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    wb_host_kill_core(h->host, core, "");
    return true;
}

bool harness_preempts(void)
{
    return false;
}

// While a task computes its kernel does not look anyway.
void harness_close_ears(bool close)
{
    (void)close;
}

bool harness_hold(struct wb_task *self, bool hold)
{
    (void)self;
    (void)hold;
    return false;
}

bool harness_host(struct harness *h, struct wb_task *task, const char *entry)
{
    (void)h;
    (void)task;
    (void)entry;
    return false;
}

bool harness_has_processes(void)
{
    return false;
}

bool harness_kill_program(struct harness *h, const struct wb_task *task)
{
    (void)h;
    (void)task;
    return false;
}

bool harness_starve(struct harness *h, uint32_t core, bool starve)
{
    (void)h;
    (void)core;
    (void)starve;
    return false;
}

uint32_t harness_programs(struct harness *h)
{
    (void)h;
    return 0;
}

size_t harness_memory(struct harness *h, uint32_t core)
{
    (void)h;
    (void)core;
    return 0;
}

void harness_close(struct harness *h)
{
    wb_host_close(h->host);
    free(h);
}

double harness_scale(void)
{
    return scale;
}
