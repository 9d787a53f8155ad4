// SPDX-License-Identifier: Apache-2.0
#include "outside.h"

#include <errno.h>
#include <reent.h>

#include "board.h"

enum { PERIOD_NS = 1000000, LONGEST_NS = 10 * PERIOD_NS, KERNEL_BYTES = 16 << 10 };

// The two programs, while they wait. Each has its own part of the C library.
static void *outside_sp, *kernel_sp;
static struct _reent *kernel_reent;
static _Alignas(8) unsigned char kernel_stack[KERNEL_BYTES];
static bool has_kernel;
static uint64_t since_ns;  // when it was woken last

// The timer's interrupt, in the first core's kernel.
void board_outside(void)
{
    if (!has_kernel)
        return;
    const int number = errno;

    wb_freertos_outside(true);
    kernel_reent = _impure_ptr;
    board_switch(&kernel_sp, outside_sp);
    wb_freertos_outside(false);
    errno = number;
}

void outside_begin(void (*kernel)(void))
{
    static struct _reent reent;

    _REENT_INIT_PTR(&reent);
    kernel_reent = &reent;
    kernel_sp = board_context(kernel_stack + KERNEL_BYTES, kernel);
    has_kernel = true;
}

static void run_kernel(uint64_t ns)
{
    struct _reent *reent = _impure_ptr;
    // The timer must find the kernel, however soon it is.
    const uint32_t ears = board_close_ears();

    board_wake_outside((uint32_t)(ns / 1000));
    _impure_ptr = kernel_reent;
    board_switch(&outside_sp, kernel_sp);
    _impure_ptr = reent;
    board_open_ears(ears);
}

void outside_kill(void)
{
    has_kernel = false;
}

void outside_rest(void)
{
    const uint64_t ran_ns = board_now_ns() - since_ns;

    if (has_kernel)
        run_kernel(ran_ns < PERIOD_NS ? PERIOD_NS : ran_ns > LONGEST_NS ? LONGEST_NS : ran_ns);
    else
        board_pause(PERIOD_NS / 1000);
    since_ns = board_now_ns();
}
