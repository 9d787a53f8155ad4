// SPDX-License-Identifier: Apache-2.0
// The processor's part of wb/word.h: what its operations come to. Included by that file only.
//
// These are the compiler's builtins. On a processor without atomic instructions (RISC-V without the
// A extension) loads, stores and fences stay instructions, and what reads and writes at once
// becomes a call of a function such as __atomic_compare_exchange_4(), which the board defines
// around its lock. Where the builtins do not fit at all, the kernels' configuration defines all of
// these, as that of the simulator does (wb/config.h).
#ifndef WB_WORD_OPS_H
#define WB_WORD_OPS_H

#include "wb/config.h"

#ifndef WB_OPS_LOAD
#define WB_OPS_LOAD(at, order) __atomic_load_n(at, order)
#define WB_OPS_STORE(at, next, order) __atomic_store_n(at, next, order)
#define WB_OPS_SWAP(at, next, order) __atomic_exchange_n(at, next, order)
#define WB_OPS_COMPARE(at, expected, next, weak, yes, no)                                          \
    __atomic_compare_exchange_n(at, expected, next, weak, yes, no)
#define WB_OPS_ADD(at, n, order) __atomic_fetch_add(at, n, order)
#define WB_OPS_OR(at, bits, order) __atomic_fetch_or(at, bits, order)
#define WB_OPS_AND(at, bits, order) __atomic_fetch_and(at, bits, order)
#define WB_OPS_FENCE(order) __atomic_thread_fence(order)
#define WB_OPS_PREFETCH(at, to_write) __builtin_prefetch(at, to_write)
#endif

#endif
