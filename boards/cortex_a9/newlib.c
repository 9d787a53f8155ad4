// SPDX-License-Identifier: Apache-2.0
// What newlib asks of a system, besides files.

#include <errno.h>
#include <reent.h>

#include "FreeRTOS.h"
#include "arm_board.h"
#include "semihosting.h"

#if configUSE_POSIX_ERRNO != 1
#error "configUSE_POSIX_ERRNO is 0: the errno of a task moves along with it, so set it to 1"
#endif

enum { HEAP_BYTES = 256 << 10 };

extern int FreeRTOS_errno;  // of tasks.c
void __malloc_lock(struct _reent *reent);
void __malloc_unlock(struct _reent *reent);

// Each task has its own (configUSE_POSIX_ERRNO).
int *__errno(void)
{
    return &FreeRTOS_errno;
}

void _exit(int status)
{
    semihosting_exit(status);
}

// Private memory: each core has a heap of its own.
void *_sbrk(ptrdiff_t bytes)
{
    static _Alignas(8) char heap[HEAP_BYTES];
    static ptrdiff_t used;

    if (bytes > HEAP_BYTES - used) {
        errno = ENOMEM;
        return (void *)-1;
    }
    used += bytes;
    return heap + used - bytes;
}

// Between the tasks of a core, and a launcher that interrupts them.
static uint32_t depth, irq_state;

void __malloc_lock(struct _reent *reent)
{
    const uint32_t state = board_irq_save();

    (void)reent;
    if (depth++ == 0)
        irq_state = state;
}

void __malloc_unlock(struct _reent *reent)
{
    (void)reent;
    if (--depth == 0)
        board_irq_restore(irq_state);
}

int _kill(int process, int number)
{
    (void)process;
    (void)number;
    return -1;
}

// Of each kernel: there is no other process.
int _getpid(void)
{
    return 1 + (int)board_core();
}

// Of newlib's start and end: nothing here needs any.
void _init(void);
void _fini(void);

void _init(void) {}

void _fini(void) {}
