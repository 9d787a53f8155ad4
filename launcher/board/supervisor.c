// SPDX-License-Identifier: Apache-2.0
#include "supervisor.h"

#include <errno.h>

#include "board.h"

enum { LONGEST = 10, KERNEL_BYTES = 16 << 10 };  // LONGEST: times board_timeslice_ns()

// The two programs, while they wait. Each has its own part of the C library.
static void *supervisor_sp, *kernel_sp;
static void *supervisor_library, *kernel_library;
static _Alignas(8) unsigned char kernel_stack[KERNEL_BYTES] __attribute__((noinit));
static bool has_kernel;
static uint64_t since_ns;  // when it was woken last, or the kernel began

// The timer's interrupt, in the first core's kernel.
void board_supervisor(void)
{
    if (!has_kernel)
        return;
    const int number = errno;

    wb_board_in_supervisor(true);
    kernel_library = board_library(supervisor_library);
    board_switch(&kernel_sp, supervisor_sp);
    wb_board_in_supervisor(false);
    errno = number;
}

void supervisor_begin(void (*kernel)(void))
{
    kernel_library = NULL;
    kernel_sp = board_context(kernel_stack + KERNEL_BYTES, kernel);
    has_kernel = true;
    since_ns = board_now_ns();
}

static void run_kernel(uint64_t ns)
{
    // The timer must find the kernel, however soon it is.
    const uint32_t irq_state = board_irq_save();

    board_wake_supervisor((uint32_t)(ns / 1000));
    supervisor_library = board_library(kernel_library);
    board_switch(&supervisor_sp, kernel_sp);
    board_irq_restore(irq_state);
}

void supervisor_kill_kernel(void)
{
    has_kernel = false;
}

void supervisor_yield(void)
{
    const uint64_t ran_ns = board_now_ns() - since_ns;

    const uint64_t least_ns = board_timeslice_ns(), most_ns = LONGEST * least_ns;

    if (has_kernel)
        run_kernel(ran_ns < least_ns ? least_ns : ran_ns > most_ns ? most_ns : ran_ns);
    else
        board_pause((uint32_t)(least_ns / 1000));
    since_ns = board_now_ns();
}
