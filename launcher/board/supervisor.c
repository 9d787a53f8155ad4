// SPDX-License-Identifier: Apache-2.0
#include "supervisor.h"

#include <errno.h>

#include "board.h"

// The kernel runs as long as the supervisor ran before: for at least a slice of
// board_timeslice_ns(), and at most LONGEST of them. One that tells when it is idle runs BUSY_SHARE
// times as long, and at most LONGEST_BUSY slices: the supervisor's work on a command is one piece,
// which may begin while the kernel is idle. One that does not may be idle all the time, and
// the supervisor may have taken long only because an emulator waited for its host. In long work the
// supervisor gives way after a slice / TURNS.
enum { LONGEST = 10, BUSY_SHARE = 9, LONGEST_BUSY = 50, TURNS = 8, KERNEL_BYTES = 16 << 10 };

// The two programs, while they wait. Each has its own part of the C library.
static void *supervisor_sp, *kernel_sp;
static void *supervisor_library, *kernel_library;
static _Alignas(8) unsigned char kernel_stack[KERNEL_BYTES] __attribute__((noinit));
static void (*look_meanwhile)(void);
static bool has_kernel, runs_kernel;
static bool is_idle;              // the kernel, when it ran last
static uint64_t since_ns;         // when the supervisor was woken last, or the kernel began
static uint64_t idle_ns, end_ns;  // when it is woken next: if the kernel is idle, and if it is not

// At most four seconds ahead: dividing 64 bits would take a small core a thousand cycles.
static void wake_at(uint64_t at_ns, uint64_t now_ns)
{
    board_wake_supervisor((uint32_t)(at_ns - now_ns) / 1000 + 1);
}

// In the first core's kernel: the timer's interrupt, or the kernel is idle now. The timer may have
// been set for a kernel that was idle then and is not any more.
void board_supervisor(void)
{
    const uint64_t now_ns = board_now_ns();

    if (!has_kernel || !runs_kernel)
        return;
    if (!is_idle && now_ns < end_ns) {
        wake_at(end_ns, now_ns);
        return;
    }
    const int number = errno;

    wb_board_in_supervisor(true);
    kernel_library = board_library(supervisor_library);
    board_switch(&kernel_sp, supervisor_sp);
    wb_board_in_supervisor(false);
    errno = number;
}

void supervisor_begin(void (*kernel)(void), void (*look)(void))
{
    look_meanwhile = look;
    kernel_library = NULL;
    kernel_sp = board_context(kernel_stack + KERNEL_BYTES, kernel);
    has_kernel = true;
    is_idle = false;
    since_ns = board_now_ns();
}

// An idle kernel gives way after `least_ns`.
static void run_kernel(uint64_t least_ns)
{
    // The timer must find the kernel, however soon it is.
    const uint32_t irq_state = board_irq_save();
    const uint64_t now_ns = board_now_ns(), slice_ns = board_timeslice_ns();
    const uint64_t its_ns = (board_tells_idle() ? BUSY_SHARE : 1) * (now_ns - since_ns);
    const uint64_t most_ns = (board_tells_idle() ? LONGEST_BUSY : LONGEST) * slice_ns;

    idle_ns = now_ns + least_ns;
    end_ns = now_ns + (its_ns < slice_ns ? slice_ns : its_ns > most_ns ? most_ns : its_ns);
    wake_at(end_ns, now_ns);
    supervisor_library = board_library(kernel_library);
    runs_kernel = true;
    board_switch(&supervisor_sp, kernel_sp);
    runs_kernel = false;
    since_ns = board_now_ns();
    board_irq_restore(irq_state);
}

__attribute__((weak)) bool board_tells_idle(void)
{
    return false;
}

bool board_kernel_idles(void)
{
    const uint64_t now_ns = board_now_ns();

    if (!has_kernel)
        return false;
    is_idle = true;
    if (now_ns >= idle_ns) {
        board_supervisor();
        return true;
    }
    if (idle_ns < end_ns)
        wake_at(idle_ns, now_ns);
    return false;
}

void board_kernel_wakes(void)
{
    is_idle = false;
}

void board_kernel_is_called(void)
{
    if (has_kernel && !runs_kernel && is_idle)
        run_kernel(0);
}

void supervisor_kill_kernel(void)
{
    has_kernel = false;
}

// A kernel that has failed reports that in the place of the supervisor, and does not run again.
void supervisor_yield(void)
{
    if (has_kernel && !runs_kernel) {
        run_kernel(board_timeslice_ns());
        return;
    }
    board_pause((uint32_t)(board_timeslice_ns() / 1000));
    since_ns = board_now_ns();
}

// An idle kernel needs no turn: it takes the core when it is called.
void supervisor_share(void)
{
    if (!has_kernel || runs_kernel)
        return;
    if (!is_idle && board_now_ns() - since_ns >= board_timeslice_ns() / TURNS)
        run_kernel(0);
    if (look_meanwhile != NULL)
        look_meanwhile();
}
