// SPDX-License-Identifier: Apache-2.0
// What the kernels of a program choose of the middleware. The compiler is told the header of their
// choices: -DWB_CONFIG='"riscv_config.h"'. A choice that it does not make is the one below.
#ifndef WB_CONFIG_H
#define WB_CONFIG_H

#ifdef WB_CONFIG
#include WB_CONFIG
#endif

// 1: a task gives way only where it calls the kernel, and interrupts call nothing of the
// middleware. Then nothing comes between two of its steps, and no step has to be taken again.
#ifndef WB_COOPERATIVE
#define WB_COOPERATIVE 0
#endif

// 1: nothing that the middleware does costs virtual time: wb_kernel_charge() is not even a call.
#ifndef WB_CHARGES_NOTHING
#define WB_CHARGES_NOTHING 0
#endif

// What the operations of wb/word.h come to: the compiler's builtins. On a processor without atomic
// instructions (RISC-V without the A extension) loads, stores and fences stay instructions, and
// what reads and writes at once becomes a call of a function such as __atomic_compare_exchange_4(),
// which the board defines around its lock. A configuration may have the two kinds of its own.
#ifndef WB_OPS_LOAD
#define WB_OPS_LOAD(at, order) __atomic_load_n(at, order)
#define WB_OPS_STORE(at, next, order) __atomic_store_n(at, next, order)
#define WB_OPS_FENCE(order) __atomic_thread_fence(order)
#endif

#ifndef WB_OPS_SWAP
#define WB_OPS_SWAP(at, next, order) __atomic_exchange_n(at, next, order)
#define WB_OPS_COMPARE(at, expected, next, weak, yes, no)                                          \
    __atomic_compare_exchange_n(at, expected, next, weak, yes, no)
#define WB_OPS_ADD(at, n, order) __atomic_fetch_add(at, n, order)
#define WB_OPS_OR(at, bits, order) __atomic_fetch_or(at, bits, order)
#define WB_OPS_AND(at, bits, order) __atomic_fetch_and(at, bits, order)
#endif

#ifndef WB_OPS_PREFETCH
#define WB_OPS_PREFETCH(at, to_write) __builtin_prefetch(at, to_write)
#endif

#endif
