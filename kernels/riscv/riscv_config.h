// SPDX-License-Identifier: Apache-2.0
// What this kernel chooses of the middleware (wb/word.h): its interrupts call nothing of the
// middleware and switch to nobody, nothing costs virtual time, and the operations of wb/word.h are
// those of a RISC-V without atomic instructions.
//
// A core's loads keep their order, and so do its stores, which other cores see in that order. Only
// a load may overtake an earlier store, which waits in the write buffer. So acquire and release are
// orders for the compiler, and the one that costs something is "store, then load" (WB_SEQ_CST):
// there the core empties its write buffer, by reading a device, which waits for that.
// What reads and writes at once is a call: kernels/riscv/atomic.c defines these functions.
#ifndef WB_RISCV_CONFIG_H
#define WB_RISCV_CONFIG_H

#define WB_COOPERATIVE 1
#define WB_CHARGES_NOTHING 1

// Waits until all that this core has stored is in memory. The device is the Lock Unit: what it has
// granted.
#define WB_OPS_DRAIN() __asm__ volatile("lw zero, 0(%0)" ::"r"(0x20001008) : "memory")

// The compiler would add a `fence`, which this core passes over.
#define WB_OPS_LOAD(at, order)                                                                     \
    __extension__({                                                                                \
        const __typeof__(*(at)) loaded_word = __atomic_load_n(at, __ATOMIC_RELAXED);               \
        __atomic_signal_fence(order);                                                              \
        loaded_word;                                                                               \
    })
#define WB_OPS_STORE(at, next, order)                                                              \
    do {                                                                                           \
        const __typeof__(*(at)) stored_word = (next);                                              \
        __atomic_signal_fence(order);                                                              \
        __atomic_store_n(at, stored_word, __ATOMIC_RELAXED);                                       \
        if ((order) == __ATOMIC_SEQ_CST)                                                           \
            WB_OPS_DRAIN();                                                                        \
    } while (0)
#define WB_OPS_FENCE(order)                                                                        \
    do {                                                                                           \
        __atomic_signal_fence(order);                                                              \
        if ((order) == __ATOMIC_SEQ_CST)                                                           \
            WB_OPS_DRAIN();                                                                        \
    } while (0)

#endif
