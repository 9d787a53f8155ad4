// SPDX-License-Identifier: Apache-2.0
// The kernels' parts of tasks that have no room for them (internal.h): of a system that is also of
// other kernels.

#include "board.h"
#include "internal.h"

struct freertos_task *wb_freertos_parts __attribute__((section(".gvm")));

bool wb_board_keep_parts(void *memory, size_t bytes, uint32_t tasks)
{
    wb_freertos_parts = memory;
    return bytes / sizeof *wb_freertos_parts >= tasks;
}
