// SPDX-License-Identifier: Apache-2.0
// Memory that is not everybody's: a task that writes into that of another kernel ends the run, and
// the run says which task did so, on which core, and where. A task that is handed off lies in none.

#include <stdio.h>
#include <string.h>

#include "board.h"
#include "suite.h"

static uint32_t mine;  // private: every kernel has its own at this address

static int writes_elsewhere(struct wb_task *self)
{
    *(uint32_t *)board_private(1 - wb_task_core(self), &mine) = 1;
    return 0;
}

static int writes_code(struct wb_task *self)
{
    (void)self;
    *(volatile uint32_t *)(void *)writes_code = 0;
    return 0;
}

static void expect_fault(wb_task_entry *entry, const void *address)
{
    struct harness *h = suite_open(2, 0);
    const struct wb_fault *fault = &harness_system(h)->fault;
    char at[24];

    suite_task(h, &(struct wb_task_config){ .name = "guilty", .entry = entry, .core = 1 });
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_FAULT);
    CHECK(fault->kind == WB_FAULT_MEMORY);
    CHECK(fault->core == 1);
    CHECK(strcmp(harness_system(h)->tasks[fault->task].name, "guilty") == 0);
    snprintf(at, sizeof at, "address %#x", (unsigned int)(uintptr_t)address);
    CHECK(strstr(fault->text, at) != NULL);
    harness_close(h);
}

TEST(private_memory_of_another_kernel_cannot_be_written)
{
    expect_fault(writes_elsewhere, board_private(0, &mine));
}

TEST(code_cannot_be_written)
{
    expect_fault(writes_code, (const void *)writes_code);
}

TEST(a_task_that_is_handed_off_needs_a_stack_that_all_cores_see)
{
    struct harness *h = suite_open(2, 0);
    struct wb_task *task =
        suite_task(h, &(struct wb_task_config){ .name = "half", .entry = writes_code });

    task->stack = harness_private(h, 0, task->stack_bytes);
    CHECK(task->stack != NULL);
    CHECK(wb_system_start(harness_system(h), 0) == WB_ERR_INVAL);
    harness_close(h);
}
