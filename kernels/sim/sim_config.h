// SPDX-License-Identifier: Apache-2.0
// What the simulator chooses of the middleware (wb/word.h): the operations of wb/word.h. It has
// one thread, so what is atomic needs neither a lock nor a fence. Loads and stores stay what they
// are; a swap is both.
#ifndef WB_SIM_CONFIG_H
#define WB_SIM_CONFIG_H

// What happens before each of them: nothing. Tests have something there (conform/words.h).
#ifndef WB_OPS_BEFORE
#define WB_OPS_BEFORE() ((void)0)
#endif

#define WB_OPS_LOAD_(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#define WB_OPS_STORE_(at, next) __atomic_store_n(at, next, __ATOMIC_RELAXED)

#define WB_OPS_LOAD(at, order) (WB_OPS_BEFORE(), WB_OPS_LOAD_(at))
#define WB_OPS_STORE(at, next, order) (WB_OPS_BEFORE(), WB_OPS_STORE_(at, next))

// The value before, and `next` in its place, which may be made of it: it is `was_`.
#define WB_OPS_CHANGE(at, next)                                                                    \
    __extension__({                                                                                \
        WB_OPS_BEFORE();                                                                           \
        __auto_type at_ = (at);                                                                    \
        const __typeof__((void)0, *at_) was_ = WB_OPS_LOAD_(at_);                                  \
        WB_OPS_STORE_(at_, next);                                                                  \
        was_;                                                                                      \
    })

#define WB_OPS_COMPARE(at, expected, next, weak, yes, no)                                          \
    __extension__({                                                                                \
        WB_OPS_BEFORE();                                                                           \
        __auto_type at_ = (at);                                                                    \
        __auto_type wanted_ = (expected);                                                          \
        const __typeof__((void)0, *at_) was_ = WB_OPS_LOAD_(at_);                                  \
        const _Bool same_ = was_ == *wanted_;                                                      \
        if (same_)                                                                                 \
            WB_OPS_STORE_(at_, next);                                                              \
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
#define WB_OPS_PREFETCH(at) ((void)(at))

// See inbox.c, firing.c, and core.c.
struct wb_task;
_Bool sim_wakes(struct wb_task *task);
_Bool sim_serves(void);
#define WB_KERNEL_WAKES(task) sim_wakes(task)
#define WB_KERNEL_SERVES() sim_serves()

#endif
