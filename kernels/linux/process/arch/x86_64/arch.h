// SPDX-License-Identifier: Apache-2.0
// What the Linux kernels need of an x86-64 processor. The other folders of arch/ have the same
// names.
#ifndef WB_ARCH_H
#define WB_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <x86intrin.h>

enum { ARCH_MACHINE = EM_X86_64 };

enum { ARCH_CONTEXT_BYTES = 8 * 8 };  // what context_switch() pushes, with the return address

static inline uint64_t arch_ticks(void)
{
    return __rdtsc();
}

// Unknown: it is measured against the monotonic clock.
static inline uint64_t arch_ticks_hz(void)
{
    return 0;
}

static inline void arch_relax(void)
{
    _mm_pause();
}

/// Lays out a first context below `top` that begins as if `start` was called. `task` is for
/// context_start().
static inline void *arch_context_init(void *top, void *task, void (*start)(void))
{
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15);
    uint32_t mxcsr = _mm_getcsr();
    uint16_t control;

    __asm__("fnstcw %0" : "=m"(control));
    *--sp = 0;                 // who called `start`: the end of backtraces
    *--sp = (uintptr_t)start;  // return address
    *--sp = 0;                 // rbp
    *--sp = 0;                 // rbx
    *--sp = (uintptr_t)task;   // r12
    *--sp = 0;                 // r13
    *--sp = 0;                 // r14
    *--sp = 0;                 // r15
    *--sp = (uint64_t)control << 32 | mxcsr;
    return sp;
}

/// Copies what another core has written last: by one string move, which reads ahead further than
/// the loops of memcpy() do. (1 MiB from the other core's cache: 20 us, where memcpy() took 30.)
/// A string move takes long to begin: 80 ns at an address that is no multiple of 64.
static inline void arch_copy(void *to, const void *from, size_t bytes)
{
    enum { LEAST = 1024 };

    if (bytes < LEAST) {
        memcpy(to, from, bytes);
        return;
    }
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// Relocations that hold the address of a function.
static inline bool arch_relocation_is_address(uint64_t type)
{
    return type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT;
}

// Where a signal has interrupted the code.
static inline uintptr_t arch_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

// Where that function returns to, if it was just called.
static inline uintptr_t arch_return_address(const ucontext_t *context)
{
    return *(const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
}

#endif
