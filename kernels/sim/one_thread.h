// SPDX-License-Identifier: Apache-2.0
// Included before every file of the simulator (tools/c.mk): it has one thread, so what is atomic needs
// neither a lock nor a fence. Loads and stores stay what they are; an exchange is both.
#ifndef WB_ONE_THREAD_H
#define WB_ONE_THREAD_H

#include <stdatomic.h>

#define ONE_THREAD_LOAD(at_) __atomic_load_n(at_, __ATOMIC_RELAXED)
#define ONE_THREAD_STORE(at_, value) __atomic_store_n(at_, value, __ATOMIC_RELAXED)

// The value before, and `next` in its place, which may be made of it: it is `was_`.
#define ONE_THREAD_CHANGE(object, next)                                                            \
    __extension__({                                                                                \
        __auto_type at_ = (object);                                                                \
        const __typeof__((void)0, *at_) was_ = ONE_THREAD_LOAD(at_);                               \
        ONE_THREAD_STORE(at_, next);                                                               \
        was_;                                                                                      \
    })

#define ONE_THREAD_COMPARE_EXCHANGE(object, expected, next)                                        \
    __extension__({                                                                                \
        __auto_type at_ = (object);                                                                \
        __auto_type wanted_ = (expected);                                                          \
        const __typeof__((void)0, *at_) was_ = ONE_THREAD_LOAD(at_);                               \
        const _Bool same_ = was_ == *wanted_;                                                      \
        if (same_)                                                                                 \
            ONE_THREAD_STORE(at_, next);                                                           \
        else                                                                                       \
            *wanted_ = was_;                                                                       \
        same_;                                                                                     \
    })

#undef atomic_thread_fence
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit

// There is no other core whose cache has what comes next.
#define __builtin_prefetch(...) ((void)0)

#define atomic_thread_fence(order) atomic_signal_fence(order)
#define atomic_store_explicit(object, value, order) ONE_THREAD_STORE(object, value)
#define atomic_exchange_explicit(object, value, order) ONE_THREAD_CHANGE(object, value)
#define atomic_fetch_add_explicit(object, value, order) ONE_THREAD_CHANGE(object, was_ + (value))
#define atomic_fetch_sub_explicit(object, value, order) ONE_THREAD_CHANGE(object, was_ - (value))
#define atomic_fetch_or_explicit(object, value, order) ONE_THREAD_CHANGE(object, was_ | (value))
#define atomic_fetch_and_explicit(object, value, order) ONE_THREAD_CHANGE(object, was_ &(value))
#define atomic_compare_exchange_strong_explicit(object, expected, value, yes, no)                  \
    ONE_THREAD_COMPARE_EXCHANGE(object, expected, value)
#define atomic_compare_exchange_weak_explicit(object, expected, value, yes, no)                    \
    ONE_THREAD_COMPARE_EXCHANGE(object, expected, value)

#endif
