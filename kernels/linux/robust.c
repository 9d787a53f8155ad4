// SPDX-License-Identifier: Apache-2.0
// Detecting the death of a kernel by a robust futex: Linux itself marks a word of a dying thread,
// some ten microseconds after the kill and long before its memory is torn down.

#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "private.h"

// Read by Linux when this thread dies; the list has one entry, the word of this process.
static struct robust_list_head the_list;

long futex(const void *word, int operation, uint32_t value, uint64_t timeout_ns)
{
    const struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u),
                                      .tv_nsec = (long)(timeout_ns % 1000000000u) };

    return syscall(SYS_futex, word, operation, value, timeout_ns == WB_FOREVER ? NULL : &timeout,
                   NULL, 0);
}

bool robust_mark(void **node, const void *word)
{
    // Linux adds the offset to the address of the list node to find the futex word.
    the_list.futex_offset = (long)((const char *)word - (const char *)node);
    the_list.list.next = (struct robust_list *)(void *)node;
    the_list.list_op_pending = NULL;
    *node = &the_list.list;
    return syscall(SYS_set_robust_list, &the_list, sizeof the_list) == 0;
}

bool robust_arm(struct wb_core *core)
{
    struct linux_core *lc = linux_core(core);

    wb_word_store(&lc->alive, (uint32_t)gettid(), WB_RELEASE);
    return robust_mark(&lc->robust_next, &lc->alive);
}

void robust_disarm(struct wb_core *core)
{
    the_list.list.next = &the_list.list;
    wb_word_store(&linux_core(core)->alive, 0, WB_RELEASE);
}

bool robust_is_dead(struct wb_core *core)
{
    return (wb_word_load(&linux_core(core)->alive, WB_ACQUIRE) & FUTEX_OWNER_DIED) != 0;
}

// The word, with the bit that makes Linux wake us; 0 when there is nothing to wait for.
static uint32_t word_to_wait_for(struct linux_core *lc)
{
    uint32_t word = wb_word_load(&lc->alive, WB_ACQUIRE);

    while (word != 0 && (word & (FUTEX_WAITERS | FUTEX_OWNER_DIED)) == 0)
        if (wb_word_compare_swap_weak(&lc->alive, &word, word | FUTEX_WAITERS, WB_ACQUIRE,
                                      WB_ACQUIRE))
            word |= FUTEX_WAITERS;
    return word;
}

bool robust_wait(struct wb_system *system, const bool *watched, uint64_t timeout_ns)
{
    struct futex_waitv waiters[FUTEX_WAITV_MAX];
    unsigned int n = 0;
    struct timespec until;

    for (uint32_t i = 0; i < system->n_cores && n < FUTEX_WAITV_MAX; i++) {
        struct linux_core *lc = linux_core(system->cores[i]);
        const uint32_t word = watched[i] ? word_to_wait_for(lc) : 0;
        if ((word & FUTEX_OWNER_DIED) != 0)
            return true;
        if (word != 0)
            waiters[n++] = (struct futex_waitv){ .val = word,
                                                 .uaddr = (uintptr_t)&lc->alive,
                                                 .flags = FUTEX_32 };
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(timeout_ns % 1000000000u);
    until.tv_sec += (time_t)(timeout_ns / 1000000000u) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (n == 0)
        return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0;
    return syscall(SYS_futex_waitv, waiters, n, 0, &until, CLOCK_MONOTONIC) >= 0 || errno != ENOSYS;
}
