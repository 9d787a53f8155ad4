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

#include <stdbool.h>
#include <stdint.h>

// ---- What the kernels of a program choose -------------------------------------------------------

// The compiler is told the header of their choices: -DWB_CONFIG='"riscv_config.h"'. A choice that
// it does not make is the one below.
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

// True: the kernel, which is that of all cores, has woken a task by itself, as the note would.
#ifndef WB_KERNEL_WAKES
#define WB_KERNEL_WAKES(task) false
#endif

// True: the kernel, which takes a step in the place of a task, has done by itself what it wants the
// task at a checkpoint for.
#ifndef WB_KERNEL_SERVES
#define WB_KERNEL_SERVES() false
#endif

// What the operations on words come to: the compiler's builtins. On a processor without atomic
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
#ifdef __x86_64__
// By its name: a compiler that is told of no certain processor fetches to read, which leaves the
// line to the core that has it. Processors without the instruction take it for none.
#define WB_OPS_PREFETCH(at) __asm__ volatile("prefetchw %0" : : "m"(*(const unsigned char *)(at)))
#else
#define WB_OPS_PREFETCH(at) __builtin_prefetch(at, 1)
#endif
#endif

// ---- Words --------------------------------------------------------------------------------------

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

struct wb_swapped64 {
    union {
        uint64_t value, compared, swapped;
    };
};

// Two words that lie together: where a pointer has 64 bits, both can be changed in one step
// (WB_PAIRS, below).
struct wb_pair {
    union {
        struct wb_swapped word[2];
        struct wb_swapped64 both;
    };
};
struct wb_two {
    uint32_t first, second;
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

/// Fetches the line at an address that is about to be written.
#define wb_word_prefetch(at) WB_OPS_PREFETCH(at)

// ---- Counters and stamps ------------------------------------------------------------------------

// Counter: 64 bits, one writer, any number of readers.
//
// Where a pointer has 64 bits it is one word. On other cores the high half is kept twice (Lamport,
// "Concurrent reading and writing", 1977): the writer stores it before and after the low half,
// readers load it in the opposite order and try again while the two differ.
//
// Stamp: the same for what may jump by any amount, forth and back, such as a time that is over. On
// other cores it is kept twice, and a sequence says which of the two is whole: a writer that is
// killed leaves the one before it.

// WB_COUNTER_HALVES, for tests: as where it has 32.
#if UINTPTR_MAX > UINT32_MAX && !defined WB_COUNTER_HALVES

#define WB_PAIRS 1

struct wb_counter {
    WB_STORED(uint64_t) value;  // one writer: the kernel that owns what is counted
};

/// Context: the one writer. Never blocks.
static inline void wb_counter_set(struct wb_counter *c, uint64_t value)
{
    // Release: whoever sees it sees what was counted.
    wb_word_store(&c->value, value, WB_RELEASE);
}

/// Context: any core.
static inline uint64_t wb_counter_get(const struct wb_counter *c)
{
    return wb_word_load(&c->value, WB_ACQUIRE);
}

/// Context: the one writer. Never blocks.
static inline __attribute__((always_inline)) void wb_counter_add(struct wb_counter *c, uint64_t n)
{
    wb_counter_set(c, wb_word_load(&c->value, WB_RELAXED) + n);
}

/// Context: the one writer, while no other was killed in the midst of writing it.
static inline uint64_t wb_counter_own(const struct wb_counter *c)
{
    return wb_word_load(&c->value, WB_RELAXED);
}

/// Whether so much can be added by wb_counter_add_plainly(), which is short everywhere.
///
/// Context: the one writer. Never blocks.
static inline bool wb_counter_is_plain(const struct wb_counter *c, uint32_t n)
{
    (void)c;
    (void)n;
    return true;
}

static inline __attribute__((always_inline)) void wb_counter_add_plainly(struct wb_counter *c,
                                                                         uint32_t n)
{
    wb_counter_add(c, n);
}

struct wb_stamp {
    WB_STORED(uint64_t) value;  // one writer at a time
};

/// Context: the one writer. Never blocks.
static inline void wb_stamp_set(struct wb_stamp *s, uint64_t value)
{
    // Release: whoever sees it sees what was stamped.
    wb_word_store(&s->value, value, WB_RELEASE);
}

/// Context: any core. Never blocks.
static inline uint64_t wb_stamp_get(const struct wb_stamp *s)
{
    return wb_word_load(&s->value, WB_ACQUIRE);
}

/// Sets it, unless it is earlier.
///
/// Context: the one writer. Never blocks.
static inline void wb_stamp_lower(struct wb_stamp *s, uint64_t value)
{
    if (value < wb_word_load(&s->value, WB_RELAXED))
        wb_stamp_set(s, value);
}

#else

#define WB_PAIRS 0

struct wb_counter {
    struct wb_word high;  // one writer: the kernel that owns what is counted
    struct wb_word low;
    struct wb_word high_again;
};

/// Context: the one writer. Never blocks.
void wb_counter_set(struct wb_counter *c, uint64_t value);

// What is left of the two below when something is carried, or was when the writer was killed.
__attribute__((cold)) void wb_counter_carry(struct wb_counter *c, uint64_t n);
__attribute__((cold)) uint64_t wb_counter_settled(const struct wb_counter *c);

// Both are inlined where they are to be quick, and called where code is to be small.

/// Context: the one writer. Never blocks.
inline void wb_counter_add(struct wb_counter *c, uint64_t n)
{
    const uint32_t low = wb_word_load(&c->low, WB_RELAXED);

    // Nearly always: see wb_counter_is_plain().
    if (__builtin_expect(n <= UINT32_MAX - low && wb_word_load(&c->high, WB_RELAXED) ==
                                                      wb_word_load(&c->high_again, WB_RELAXED),
                         1))
        wb_word_store(&c->low, low + (uint32_t)n, WB_RELEASE);
    else
        wb_counter_carry(c, n);
}

/// Context: the one writer, while no other was killed in the midst of writing it.
static inline uint64_t wb_counter_own(const struct wb_counter *c)
{
    return (uint64_t)wb_word_load(&c->high, WB_RELAXED) << 32 | wb_word_load(&c->low, WB_RELAXED);
}

/// True: nothing is carried, and the last writer was not killed while it did. Then so much can be
/// added by wb_counter_add_plainly(), which calls nothing.
///
/// Context: the one writer. Never blocks.
static inline bool wb_counter_is_plain(const struct wb_counter *c, uint32_t n)
{
    return n <= UINT32_MAX - wb_word_load(&c->low, WB_RELAXED) &&
           wb_word_load(&c->high, WB_RELAXED) == wb_word_load(&c->high_again, WB_RELAXED);
}

static inline void wb_counter_add_plainly(struct wb_counter *c, uint32_t n)
{
    wb_word_store(&c->low, wb_word_load(&c->low, WB_RELAXED) + n, WB_RELEASE);
}

/// Context: any core. Never blocks. Exact for a counter that goes up by less than 2^31 at a time.
inline uint64_t wb_counter_get(const struct wb_counter *c)
{
    const uint32_t again = wb_word_load(&c->high_again, WB_ACQUIRE);
    const uint32_t low = wb_word_load(&c->low, WB_ACQUIRE);
    const uint32_t high = wb_word_load(&c->high, WB_ACQUIRE);

    return __builtin_expect(high == again, 1) ? (uint64_t)high << 32 | low : wb_counter_settled(c);
}

struct wb_stamp {
    // One writer at a time. `sequence`: how often it was set; its lowest bit says where the last
    // value is, and the next one goes to the other place.
    struct wb_word sequence;
    struct {
        struct wb_word low, high;
    } at[2];
};

/// Context: the one writer. Never blocks.
void wb_stamp_set(struct wb_stamp *s, uint64_t value);

/// Context: any core. Looks again only if it was set meanwhile. Exact, whatever was set.
uint64_t wb_stamp_get(const struct wb_stamp *s);

/// Sets it, unless it is earlier.
///
/// Context: the one writer. Never blocks.
void wb_stamp_lower(struct wb_stamp *s, uint64_t value);

#endif

// ---- Pairs --------------------------------------------------------------------------------------

// Only where WB_PAIRS is 1: elsewhere the processor may have no such step.

union wb_pair_bits {
    struct wb_two two;
    uint64_t both;
};

/// Sets bits in both words.
///
/// Context: any core. Never blocks.
#define wb_pair_or(pair, first_bits, second_bits, order)                                           \
    ((void)wb_word_or(&(pair)->both, wb_pair_both(first_bits, second_bits), order))

static inline uint64_t wb_pair_both(uint32_t first, uint32_t second)
{
    const union wb_pair_bits bits = { { first, second } };
    return bits.both;
}

/// What was in both words, which are 0 from now on.
///
/// Context: any core. Never blocks.
#define wb_pair_take(pair, order) wb_pair_two(wb_word_swap(&(pair)->both, 0, order))

static inline struct wb_two wb_pair_two(uint64_t both)
{
    union wb_pair_bits bits;
    bits.both = both;
    return bits.two;
}

#endif
