// SPDX-License-Identifier: Apache-2.0
// Words that cores share, and the only atomic operations there are.
//
// What may be done to a word depends on its type, and what may not be done does not compile:
//
//   stored    load, store                  one writer at a time: an index, a report
//   compared  load, store, compare-swap    who holds the state that the word is in stores, and a
//                                          compare-swap asks for a state that nobody holds
//   swapped   load, compare-swap, swap,    anybody, at any time: a flag that others take, a set of
//             add, or, and                 bits, a sum
//
// The rule behind it: a word that anybody swaps is never stored plainly. Where a processor has no
// atomic instructions a swap is a load and a store under a lock, and a plain store between the two
// is lost. (A compare-swap that fails writes nothing there, so a store by the holder of a state
// that no compare-swap asks for is safe.) Nobody else sees the word yet: then wb_word_init();
// nobody else may change it now: then wb_word_alone(), and the caller says why.
//
// Every operation takes its order, and the caller says why it suffices. No word is wider than a
// pointer. For applications in C++ as well.
#ifndef WB_WORD_H
#define WB_WORD_H

#include <stdint.h>

#include "wb/word_ops.h"

#define WB_RELAXED __ATOMIC_RELAXED
#define WB_ACQUIRE __ATOMIC_ACQUIRE
#define WB_RELEASE __ATOMIC_RELEASE
#define WB_ACQ_REL __ATOMIC_ACQ_REL
#define WB_SEQ_CST __ATOMIC_SEQ_CST

// The names of the one member are what may be done to it.
#define WB_STORED(type)                                                                            \
    struct {                                                                                       \
        union {                                                                                    \
            type value;                                                                            \
            type stored;                                                                           \
        };                                                                                         \
    }
#define WB_COMPARED(type)                                                                          \
    struct {                                                                                       \
        union {                                                                                    \
            type value;                                                                            \
            type stored;                                                                           \
            type compared;                                                                         \
        };                                                                                         \
    }
#define WB_SWAPPED(type)                                                                           \
    struct {                                                                                       \
        union {                                                                                    \
            type value;                                                                            \
            type compared;                                                                         \
            type swapped;                                                                          \
        };                                                                                         \
    }

// Those of 32 bits have names, so that they can be pointed to.
struct wb_word {
    union {
        uint32_t value, stored;
    };
};
struct wb_compared {
    union {
        uint32_t value, stored, compared;
    };
};
struct wb_swapped {
    union {
        uint32_t value, compared, swapped;
    };
};

#define wb_word_load(word, order) WB_OPS_LOAD(&(word)->value, order)
#define wb_word_store(word, next, order) WB_OPS_STORE(&(word)->stored, next, order)

/// The first value of a word that nobody else sees yet.
#define wb_word_init(word, first) WB_OPS_STORE(&(word)->value, first, WB_RELAXED)

/// The next value of a word that others see, while nobody else may change it. Relaxed.
#define wb_word_alone(word, next) WB_OPS_STORE(&(word)->value, next, WB_RELAXED)

/// Returns what was there, and leaves `next`.
#define wb_word_swap(word, next, order) WB_OPS_SWAP(&(word)->swapped, next, order)

/// True: it was `*expected` and is `next` now. False: `*expected` is what it was. The weak one may
/// fail for no reason, which costs less in a loop.
#define wb_word_compare_swap(word, expected, next, yes, no)                                        \
    WB_OPS_COMPARE(&(word)->compared, expected, next, 0, yes, no)
#define wb_word_compare_swap_weak(word, expected, next, yes, no)                                   \
    WB_OPS_COMPARE(&(word)->compared, expected, next, 1, yes, no)

/// These return what was there before.
#define wb_word_add(word, n, order) WB_OPS_ADD(&(word)->swapped, n, order)
#define wb_word_sub(word, n, order) WB_OPS_ADD(&(word)->swapped, 0u - (n), order)
#define wb_word_or(word, bits, order) WB_OPS_OR(&(word)->swapped, bits, order)
#define wb_word_and(word, bits, order) WB_OPS_AND(&(word)->swapped, bits, order)

/// Orders what comes before against what comes after, between this core and others.
#define wb_word_fence(order) WB_OPS_FENCE(order)

/// The same between this core and itself, interrupted or killed here: no instruction.
#define wb_word_order() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/// Fetches the line at an address that is about to be read, or to be written.
#define wb_word_prefetch(at, to_write) WB_OPS_PREFETCH(at, to_write)

#endif
