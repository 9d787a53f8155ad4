// SPDX-License-Identifier: Apache-2.0
#include "outside.h"

#include <errno.h>

#include "board.h"

enum { LONGEST = 10, KERNEL_BYTES = 16 << 10 };  // LONGEST: times board_rest_ns()

// The two programs, while they wait. Each has its own part of the C library.
static void *outside_sp, *kernel_sp;
static void *outside_library, *kernel_library;
static _Alignas(8) unsigned char kernel_stack[KERNEL_BYTES] __attribute__((noinit));
static bool has_kernel;
static uint64_t since_ns;  // when it was woken last, or the kernel began

// The timer's interrupt, in the first core's kernel.
void board_outside(void)
{
    if (!has_kernel)
        return;
    const int number = errno;

    wb_board_outside(true);
    kernel_library = board_library(outside_library);
    board_switch(&kernel_sp, outside_sp);
    wb_board_outside(false);
    errno = number;
}

void outside_begin(void (*kernel)(void))
{
    kernel_library = NULL;
    kernel_sp = board_context(kernel_stack + KERNEL_BYTES, kernel);
    has_kernel = true;
    since_ns = board_now_ns();
}

static void run_kernel(uint64_t ns)
{
    // The timer must find the kernel, however soon it is.
    const uint32_t ears = board_close_ears();

    board_wake_outside((uint32_t)(ns / 1000));
    outside_library = board_library(kernel_library);
    board_switch(&outside_sp, kernel_sp);
    board_open_ears(ears);
}

void outside_kill(void)
{
    has_kernel = false;
}

void outside_rest(void)
{
    const uint64_t ran_ns = board_now_ns() - since_ns;

    const uint64_t least_ns = board_rest_ns(), most_ns = LONGEST * least_ns;

    if (has_kernel)
        run_kernel(ran_ns < least_ns ? least_ns : ran_ns > most_ns ? most_ns : ran_ns);
    else
        board_pause((uint32_t)(least_ns / 1000));
    since_ns = board_now_ns();
}
