// SPDX-License-Identifier: Apache-2.0
// The C library's part of a task, thread-local variables: it lies at the top of the task's stack
// and moves along with it (FreeRTOSConfig.h).

#include <picolibc.h>
#include <picotls.h>
#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "arm_board.h"
#include "picolibc_system.h"
#include "semihosting.h"

enum { TLS_BYTES = 512 };

// FPCR and FPSR of a task, which FreeRTOS does not save: boot.S does.
extern __thread uint64_t library_modes[2];
__thread uint64_t library_modes[2];

static __thread struct line line;  // of its text that it has not ended yet

struct line *library_line(void)
{
    return &line;
}

uint32_t library_core(void)
{
    return board_core();
}

// Below what begins on a stack.
void *library_begin_task(void **block, void *top)
{
    const uintptr_t at = ((uintptr_t)top - _tls_size()) & ~(_tls_align() - 1);

    *block = (void *)at;
    _init_tls(*block);
    return (void *)(at & ~(uintptr_t)portBYTE_ALIGNMENT_MASK);
}

void library_use(void *block)
{
    _set_tls(block);
    __asm__ volatile("msr fpcr, %0\n msr fpsr, %1" ::"r"(library_modes[0]), "r"(library_modes[1]));
}

// The register of thread-local variables.
static uintptr_t thread(void)
{
    uintptr_t at;

    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(at));
    return at;
}

static void begin(void *block)
{
    _init_tls(block);
    _set_tls(block);
}

// Of a core, before it has a kernel.
void library_begin(void)
{
    static _Alignas(16) unsigned char block[TLS_BYTES];

    begin(block);
}

// A kernel that begins has a part of its own until its first task runs.
void *board_library(void *next)
{
    static _Alignas(16) unsigned char first[TLS_BYTES];
    const uintptr_t last = thread();

    if (next == NULL)
        begin(first);
    else
        __asm__ volatile("msr tpidr_el0, %0" ::"r"(next) : "memory");
    return (void *)last;
}

void _exit(int status)
{
    semihosting_exit(status);
}
