// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: four cores, what all of them see, and how a check fails.
#ifndef WB_TEST_CORES_H
#define WB_TEST_CORES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "arm_board.h"
#include "wb_freertos.h"

#define GLOBAL __attribute__((section(".gvm")))
#define CHECK(condition) check(condition, __FILE_NAME__, __LINE__, #condition)

enum { CORES = 4 };

static inline void check(bool holds, const char *file, int line, const char *what)
{
    if (holds)
        return;
    printf("%s:%d: on core %u: %s\n", file, line, (unsigned int)board_core(), what);
    exit(1);
}

/// Calls `begin` on each core, which starts its scheduler. Returns, with the status of a program
/// that failed, only if that is not possible.
static inline int start_cores(void *memory, size_t bytes, uint32_t tasks,
                              void (*begin)(uint32_t core))
{
    if (wb_freertos_init(memory, bytes, CORES, tasks) != WB_OK)
        return 2;
    for (uint32_t core = 1; core < CORES; core++)
        if (!board_waits(core))
            return 2;
    board_start_others(CORES, begin);
    begin(0);
    return 2;
}

#endif
