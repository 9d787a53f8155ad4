// SPDX-License-Identifier: Apache-2.0
#include "trap.h"

#include <stdio.h>

#include "board.h"
#include "wb/kernel.h"
#include "wb/system.h"

static bool is_below_stack(const struct wb_task *task, const struct trap *trap)
{
    const uintptr_t bottom = (uintptr_t)task->stack;

    return trap->address >= bottom - trap->guard_bytes && trap->address < bottom;
}

static enum wb_fault_kind kind_of(const struct wb_task *task, const struct trap *trap)
{
    if (task == NULL)
        return WB_FAULT_KERNEL;
    if (trap->cause == TRAP_DATA && is_below_stack(task, trap))
        return WB_FAULT_STACK;
    if (trap->cause == TRAP_DATA && wb_heap_missed(&task->heap, trap->address) != 0)
        return WB_FAULT_HEAP;
    return trap->cause == TRAP_INSTRUCTION ? WB_FAULT_TRAP : WB_FAULT_MEMORY;
}

enum wb_fault_kind trap_describe(const struct trap *trap, char *text)
{
    static const char *const causes[] = { [TRAP_INSTRUCTION] = "came to an unknown instruction",
                                          [TRAP_FETCH] = "ran into memory that is not its",
                                          [TRAP_DATA] = "touched memory that is not its" };
    const struct wb_task *task = wb_kernel_self();
    const enum wb_fault_kind kind = kind_of(task, trap);

    if (kind == WB_FAULT_STACK)
        snprintf(text, WB_ERROR_BYTES, "it overflowed its stack of %u bytes",
                 (unsigned int)task->stack_bytes);
    else if (kind == WB_FAULT_HEAP)
        snprintf(text, WB_ERROR_BYTES,
                 "it touched memory that it did not get, after its heap of %u bytes had no room "
                 "for %u more",
                 (unsigned int)(task->heap.end - task->heap.base),
                 (unsigned int)task->heap.refused_bytes);
    else if (task != NULL)
        snprintf(text, WB_ERROR_BYTES, "it %s at address %#lx", causes[trap->cause],
                 (unsigned long)trap->address);
    else
        snprintf(text, WB_ERROR_BYTES, "the kernel crashed at address %#lx, instruction %#lx",
                 (unsigned long)trap->address, (unsigned long)trap->instruction);
    if (task == NULL && wb_kernel_core() == WB_CORE_NONE)
        board_failed(WB_CORE_NONE, "", text);
    return kind;
}
