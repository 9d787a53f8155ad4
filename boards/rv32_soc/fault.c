// SPDX-License-Identifier: Apache-2.0
// What the processor traps ends the run with an error that names the task.

#include <stdio.h>

#include "rv32_soc.h"
#include "wb/system.h"

enum { FETCH_FAULT = 1, UNKNOWN = 2, BREAK = 3, LOAD_FAULT = 5, STORE_FAULT = 7 };

_Noreturn void board_fault(uint32_t cause, uint32_t value, uint32_t instruction);

static bool is_below_stack(const struct wb_task *task, uint32_t address)
{
    const uint32_t bottom = (uint32_t)task->stack;

    return address >= bottom - GUARD_BYTES && address < bottom;
}

static enum wb_fault_kind kind_of(uint32_t cause, const struct wb_task *task, uint32_t value)
{
    if (task == NULL)
        return WB_FAULT_KERNEL;
    if ((cause == LOAD_FAULT || cause == STORE_FAULT) && is_below_stack(task, value))
        return WB_FAULT_STACK;
    if ((cause == LOAD_FAULT || cause == STORE_FAULT) && wb_heap_missed(&task->heap, value) != 0)
        return WB_FAULT_HEAP;
    return cause == UNKNOWN || cause == BREAK ? WB_FAULT_TRAP : WB_FAULT_MEMORY;
}

// `value`: the address that could not be accessed, or the instruction's bits. The fault's stack is
// in use.
void board_fault(uint32_t cause, uint32_t value, uint32_t instruction)
{
    const struct wb_task *task = wb_kernel_self();
    const enum wb_fault_kind kind = kind_of(cause, task, value);
    const char *what = cause == UNKNOWN || cause == BREAK ? "came to an unknown instruction"
                       : cause == FETCH_FAULT             ? "ran into memory that is not its"
                                                          : "touched memory that is not its";
    char text[WB_ERROR_BYTES];

    if (kind == WB_FAULT_STACK)
        snprintf(text, sizeof text, "it overflowed its stack of %u bytes",
                 (unsigned int)task->stack_bytes);
    else if (kind == WB_FAULT_HEAP)
        snprintf(text, sizeof text,
                 "it touched memory that it did not get, after its heap of %u bytes had no room "
                 "for %u more",
                 (unsigned int)(task->heap.end - task->heap.base),
                 (unsigned int)task->heap.refused_bytes);
    else if (task != NULL)
        snprintf(text, sizeof text, "it %s at address %#x", what,
                 (unsigned int)(cause == UNKNOWN ? instruction : value));
    else
        snprintf(text, sizeof text, "the kernel crashed at address %#x, instruction %#x",
                 (unsigned int)value, (unsigned int)instruction);
    if (task == NULL && wb_kernel_core() == WB_CORE_NONE)
        board_failed(WB_CORE_NONE, "", text);
    wb_riscv_fault(kind, text);
}
