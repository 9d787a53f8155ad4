// SPDX-License-Identifier: Apache-2.0
// Mistakes of a task that would end its process: signals that it raises, and calls of exit(). They
// end the run with an error that names the task.

#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "arch.h"
#include "process.h"

enum { SIGNAL_STACK_BYTES = 64 * 1024 };

// Of the only task of this process; NULL in a kernel.
static const void *own_stack;

void fault_set_stack(const void *lowest)
{
    own_stack = lowest;
}

// ---- Where it happened --------------------------------------------------------------------------

static struct fault_trace own_trace, *the_trace = &own_trace;

void fault_trace_to(struct fault_trace *trace)
{
    the_trace = trace;
}

const struct fault_trace *fault_traced(void)
{
    return the_trace;
}

// Of a caller, an address in its call: the one that it returns to may be of another line.
static void trace_add(uintptr_t pc)
{
    if (the_trace->n < WB_FRAMES)
        the_trace->pc[the_trace->n++] = pc;
}

static sigjmp_buf trace_cut;

static void on_cut(int number)
{
    (void)number;
    siglongjmp(trace_cut, 1);
}

// Of a call into nowhere, nothing is known but where it came from.
static void trace_callers(const ucontext_t *context, uintptr_t pc)
{
    enum { OF_HANDLER = 4 };
    void *frames[OF_HANDLER + WB_FRAMES];
    const int n = backtrace(frames, sizeof frames / sizeof frames[0]);
    int i = 0;

    while (i < n && (uintptr_t)frames[i] != pc)
        i++;
    if (i + 1 >= n)
        trace_add(arch_return_address(context) - 1);
    for (i++; i < n; i++)
        trace_add((uintptr_t)frames[i] - 1);
}

// backtrace() is async-signal-safe once it was called (fault_prepare()). A stack that the task has
// overwritten ends it early.
static void trace(const ucontext_t *context)
{
    const uintptr_t pc = arch_pc(context);
    const struct sigaction cut = { .sa_handler = on_cut, .sa_flags = SA_NODEFER };
    struct sigaction segv, bus;
    sigset_t both, before;

    the_trace->n = 0;
    trace_add(pc);
    sigemptyset(&both);
    sigaddset(&both, SIGSEGV);
    sigaddset(&both, SIGBUS);
    sigaction(SIGSEGV, &cut, &segv);
    sigaction(SIGBUS, &cut, &bus);
    pthread_sigmask(SIG_UNBLOCK, &both, &before);
    if (sigsetjmp(trace_cut, 1) == 0)
        trace_callers(context, pc);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
}

// ---- Signals ------------------------------------------------------------------------------------

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

    trace(context);
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
        snprintf(text, sizeof text, "it raised SIG%s%s", sigabbrev_np(number),
                 number == SIGFPE && info->si_code == FPE_INTDIV ? ", by dividing by zero" : "");
        wb_system_fault(kernel_system(), WB_FAULT_TRAP, task, text);
    }
    wb_kernel_halt();
}

// ---- The end of the process ---------------------------------------------------------------------

void fault_exit(const char *call, int status)
{
    struct wb_task *task = wb_kernel_self();
    char text[WB_ERROR_BYTES];

    if (task == NULL)
        return;
    the_trace->n = 0;
    snprintf(text, sizeof text, "it called %s(%d), which ends the process of a whole core", call,
             status);
    wb_system_fault(kernel_system(), WB_FAULT_TASK, task, text);
    wb_kernel_halt();
}

static void on_exit_of_process(int status, void *unused)
{
    (void)unused;
    fault_exit("exit", status);
}

void fault_prepare(void)
{
    // The first call loads what it needs.
    (void)backtrace(&(void *){ NULL }, 1);
}

void fault_catch(void)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND };
    // A stack of its own: the task's may be what overflowed.
    static _Alignas(16) unsigned char memory[SIGNAL_STACK_BYTES];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };

    the_trace->n = 0;
    (void)on_exit(on_exit_of_process, NULL);
    sigaltstack(&stack, NULL);
    action.sa_sigaction = on_fault;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}
