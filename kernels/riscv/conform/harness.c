// SPDX-License-Identifier: Apache-2.0
// The harness on a SoC; what is the same on all boards is in board.c.

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "launcher.h"
#include "riscv_board.h"
#include "suite.h"

enum { STACK_BYTES = 64 << 10 };

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

// The arguments are words on the line. `scale=N` and `shared` are ours.
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
        else if (strcmp(word, "shared") == 0)
            suite_cores = UINT32_MAX;
        else
            argv[argc++] = word;
    return argc;
}

bool harness_preempts(void)
{
    return false;
}

// While a task computes its kernel does not look anyway.
void harness_irq_save(bool close)
{
    (void)close;
}

bool harness_hold(struct wb_task *self, bool hold)
{
    (void)self;
    (void)hold;
    return false;
}

double harness_scale(void)
{
    return scale;
}
