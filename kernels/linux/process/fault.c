// SPDX-License-Identifier: Apache-2.0
// Signals that a task's mistake raises: they end the run with an error that names the task.

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "process.h"

enum { SIGNAL_STACK_BYTES = 64 * 1024 };

// Of the only task of this process; NULL in a kernel.
static const void *own_stack;

void fault_set_stack(const void *lowest)
{
    own_stack = lowest;
}

static bool is_below_stack(const struct wb_task *task, uintptr_t address)
{
    const uintptr_t bottom = (uintptr_t)(own_stack != NULL ? own_stack : task->stack);
    return address >= bottom - GUARD_BYTES && address < bottom;
}

// It used what malloc() did not give it, or nobody has caught what `new` threw.
static bool follows_full_heap(int number, const struct wb_task *task, uintptr_t address)
{
    if (task == NULL)
        return false;
    return number == SIGSEGV ? wb_heap_missed(&task->heap, address) != 0
                             : number == SIGABRT && task->heap.refused_bytes != 0;
}

// snprintf is not on the list of async-signal-safe functions, but allocates nothing for integers
// and strings in glibc; the process ends right after.
static void on_fault(int number, siginfo_t *info, void *context)
{
    struct wb_task *task = wb_kernel_self();
    const uintptr_t address = (uintptr_t)info->si_addr;
    char text[WB_ERROR_BYTES];

    (void)context;
    if (number == SIGSEGV && task != NULL && is_below_stack(task, address)) {
        snprintf(text, sizeof text, "it overflowed its stack of %zu bytes", task->stack_bytes);
        wb_system_fault(kernel_system(), WB_FAULT_STACK, task, text);
    } else if (follows_full_heap(number, task, address)) {
        snprintf(text, sizeof text, "%s, after its heap of %zu bytes had no room for %zu more",
                 number == SIGSEGV ? "it touched memory that it did not get" : "it gave up",
                 (size_t)(task->heap.end - task->heap.base), task->heap.refused_bytes);
        wb_system_fault(kernel_system(), WB_FAULT_HEAP, task, text);
    } else if (number == SIGSEGV || number == SIGBUS) {
        snprintf(text, sizeof text, "%s at address %#zx",
                 task != NULL ? "it touched memory that is not its" : "the kernel crashed",
                 (size_t)address);
        wb_system_fault(kernel_system(), task != NULL ? WB_FAULT_MEMORY : WB_FAULT_KERNEL, task,
                        text);
    } else {
        snprintf(text, sizeof text, "it raised %s", sigabbrev_np(number));
        wb_system_fault(kernel_system(), WB_FAULT_TRAP, task, text);
    }
    wb_kernel_halt();
}

void fault_catch(void)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND };
    // A stack of its own: the task's may be what overflowed.
    static _Alignas(16) unsigned char memory[SIGNAL_STACK_BYTES];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };

    sigaltstack(&stack, NULL);
    action.sa_sigaction = on_fault;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}
