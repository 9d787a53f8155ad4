// SPDX-License-Identifier: Apache-2.0
// What the processor traps ends the run with an error that names the task.

#include <stdio.h>

#include "board_a9.h"
#include "wb/system.h"

enum { UNDEFINED, PREFETCH, DATA, GUARD_BYTES = 64 << 10 };

static bool is_below_stack(const struct wb_task *task, uintptr_t address)
{
    const uintptr_t bottom = (uintptr_t)task->stack;

    return address >= bottom - GUARD_BYTES && address < bottom;
}

static enum wb_fault_kind kind_of(uint32_t vector, const struct wb_task *task, uint32_t address)
{
    if (task == NULL)
        return WB_FAULT_KERNEL;
    if (vector == DATA && is_below_stack(task, address))
        return WB_FAULT_STACK;
    if (vector == DATA && wb_heap_missed(&task->heap, address) != 0)
        return WB_FAULT_HEAP;
    return vector == UNDEFINED ? WB_FAULT_TRAP : WB_FAULT_MEMORY;
}

// `address`: what could not be read or written, or the instruction. The fault's stack is in use.
_Noreturn void board_fault(uint32_t vector, uint32_t address, uint32_t instruction)
{
    static const char *const texts[] = { [UNDEFINED] = "it came to an unknown instruction",
                                         [PREFETCH] = "it ran into memory that is not its",
                                         [DATA] = "it touched memory that is not its" };
    const uint32_t core = board_core();
    if (mmu_is_fenced(core))
        board_restart(core);
    const struct wb_task *task = wb_kernel_self();
    const enum wb_fault_kind kind = kind_of(vector, task, address);
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
        snprintf(text, sizeof text, "%s at address %#x", texts[vector], (unsigned int)address);
    else
        snprintf(text, sizeof text, "the kernel crashed at address %#x, instruction %#x",
                 (unsigned int)address, (unsigned int)instruction);
    if (task == NULL && wb_kernel_core() == WB_CORE_NONE)
        board_failed(WB_CORE_NONE, "", text);
    wb_freertos_fault(kind, text);
}
