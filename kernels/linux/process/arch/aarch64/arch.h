// SPDX-License-Identifier: Apache-2.0
// What the Linux kernels need of an AArch64 processor. The other folders of arch/ have the same
// names.
#ifndef WB_ARCH_H
#define WB_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum { ARCH_MACHINE = EM_AARCH64 };

enum { ARCH_CONTEXT_BYTES = 176 };  // what context_switch() stores

static inline uint64_t arch_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

// The architecture's generic timer: one counter for all cores, its frequency in a register.
static inline uint64_t arch_ticks_hz(void)
{
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

static inline void arch_relax(void)
{
    __asm__ volatile("yield");
}

/// Lays out a first context below `top` that begins as if `start` was called. `task` is for
/// context_start().
static inline void *arch_context_init(void *top, void *task, void (*start)(void))
{
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15) - ARCH_CONTEXT_BYTES / 8;
    uint64_t fpcr;

    __asm__("mrs %0, fpcr" : "=r"(fpcr));
    for (int i = 0; i < ARCH_CONTEXT_BYTES / 8; i++)
        sp[i] = 0;
    sp[0] = (uintptr_t)task;    // x19
    sp[11] = (uintptr_t)start;  // x30
    sp[20] = fpcr;
    return sp;
}

/// Copies what another core has written last.
static inline void arch_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

// Relocations that hold the address of a function.
static inline bool arch_relocation_is_address(uint64_t type)
{
    return type == R_AARCH64_ABS64 || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT;
}

// Where a signal has interrupted the code.
static inline uintptr_t arch_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}

// Where that function returns to, if it was just called.
static inline uintptr_t arch_return_address(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.regs[30];
}

#endif
