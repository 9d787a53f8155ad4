// SPDX-License-Identifier: Apache-2.0
// The simulator's part of wb/word.h, found before the processor's (tools/c.mk): it has one thread,
// so what is atomic needs neither a lock nor a fence. Loads and stores stay what they are; a swap
// is both.
#ifndef WB_WORD_OPS_H
#define WB_WORD_OPS_H

#define WB_OPS_LOAD(at, order) __atomic_load_n(at, __ATOMIC_RELAXED)
#define WB_OPS_STORE(at, next, order) __atomic_store_n(at, next, __ATOMIC_RELAXED)

// The value before, and `next` in its place, which may be made of it: it is `was_`.
#define WB_OPS_CHANGE(at, next)                                                                    \
    __extension__({                                                                                \
        __auto_type at_ = (at);                                                                    \
        const __typeof__((void)0, *at_) was_ = WB_OPS_LOAD(at_, 0);                                \
        WB_OPS_STORE(at_, next, 0);                                                                \
        was_;                                                                                      \
    })

#define WB_OPS_COMPARE(at, expected, next, weak, yes, no)                                          \
    __extension__({                                                                                \
        __auto_type at_ = (at);                                                                    \
        __auto_type wanted_ = (expected);                                                          \
        const __typeof__((void)0, *at_) was_ = WB_OPS_LOAD(at_, 0);                                \
        const _Bool same_ = was_ == *wanted_;                                                      \
        if (same_)                                                                                 \
            WB_OPS_STORE(at_, next, 0);                                                            \
        else                                                                                       \
            *wanted_ = was_;                                                                       \
        same_;                                                                                     \
    })

#define WB_OPS_SWAP(at, next, order) WB_OPS_CHANGE(at, next)
#define WB_OPS_ADD(at, n, order) WB_OPS_CHANGE(at, was_ + (n))
#define WB_OPS_OR(at, bits, order) WB_OPS_CHANGE(at, was_ | (bits))
#define WB_OPS_AND(at, bits, order) WB_OPS_CHANGE(at, was_ &(bits))
#define WB_OPS_FENCE(order) __atomic_signal_fence(order)

// There is no other core whose cache has what comes next.
#define WB_OPS_PREFETCH(at, to_write) ((void)(at))

#endif
