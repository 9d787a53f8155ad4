// SPDX-License-Identifier: Apache-2.0
// AddressSanitizer across kernels. Its functions are weak here: without it, these do nothing.
//
// Its shadow memory is private to a process, so a red zone written by one kernel would be missed,
// or a stale one found, by the next. Sharing the shadow of globally visible memory cures both.

#define _GNU_SOURCE
#include <sys/mman.h>

#include "arch.h"
#include "process.h"

__attribute__((weak)) void __asan_get_shadow_mapping(size_t *scale, size_t *offset);
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **save, const void *bottom,
                                                          size_t bytes);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom,
                                                           size_t *bytes);

__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *at, size_t bytes);

bool sanitizer_is_there(void)
{
    return __builtin_expect(__sanitizer_start_switch_fiber != NULL, 0);
}

void sanitizer_clean(void *at, size_t bytes)
{
    if (__asan_unpoison_memory_region != NULL)
        __asan_unpoison_memory_region(at, bytes);
}

bool sanitizer_share(void *base, size_t bytes)
{
    size_t scale, offset;

    if (__asan_get_shadow_mapping == NULL)
        return true;
    __asan_get_shadow_mapping(&scale, &offset);
    const uintptr_t from = ((uintptr_t)base >> scale) + offset;
    const uintptr_t end = (((uintptr_t)base + bytes) >> scale) + offset;
    const uintptr_t first = from & ~(uintptr_t)(PAGE_BYTES - 1);
    const size_t length = ((end - first) + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);

    return mmap((void *)first, length, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == (void *)first;
}

// A stack has red zones, which the checked memcpy() would take for mistakes.
__attribute__((no_sanitize("address", "undefined"))) static void
copy_unchecked(volatile unsigned char *to, const volatile unsigned char *from, size_t bytes)
{
    while (bytes-- != 0)
        *to++ = *from++;
}

void sanitizer_copy(void *to, const void *from, size_t bytes)
{
    sanitizer_clean(to, bytes);
    if (__asan_get_shadow_mapping == NULL)
        arch_copy(to, from, bytes);
    else
        copy_unchecked(to, from, bytes);
}

__attribute__((no_sanitize("address", "undefined"))) static bool
differs_unchecked(const volatile unsigned char *a, const volatile unsigned char *b, size_t bytes)
{
    while (bytes != 0 && *a == *b) {
        a++;
        b++;
        bytes--;
    }
    return bytes != 0;
}

bool sanitizer_differs(const void *a, const void *b, size_t bytes)
{
    return __asan_get_shadow_mapping == NULL ? memcmp(a, b, bytes) != 0
                                             : differs_unchecked(a, b, bytes);
}

// The loop's own stack is not passed: what it was is learnt at the first switch away from it.
static const void *loop_stack;
static size_t loop_bytes;

void sanitizer_leave(void **fake_stack, const void *stack, size_t stack_bytes)
{
    if (__sanitizer_start_switch_fiber == NULL)
        return;
    if (stack == NULL) {
        stack = loop_stack;
        stack_bytes = loop_bytes;
    }
    __sanitizer_start_switch_fiber(fake_stack, stack, stack_bytes);
}

void sanitizer_enter_from(void *fake_stack, const void **stack, size_t *stack_bytes)
{
    *stack = NULL;
    *stack_bytes = 0;
    if (__sanitizer_finish_switch_fiber == NULL)
        return;
    __sanitizer_finish_switch_fiber(fake_stack, stack, stack_bytes);
    if (loop_stack == NULL && !gvm_contains(*stack)) {
        loop_stack = *stack;
        loop_bytes = *stack_bytes;
    }
}

void sanitizer_enter(void *fake_stack)
{
    const void *stack;
    size_t bytes;

    sanitizer_enter_from(fake_stack, &stack, &bytes);
}
