// SPDX-License-Identifier: Apache-2.0
// The routines that GCC and Clang ask of every freestanding target, and small ones of ours.
#ifndef WB_MEM_H
#define WB_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int byte, size_t n);

/// `align`: a power of two.
static inline size_t wb_round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/// True when both are the same text.
bool wb_text_equal(const char *a, const char *b);

/// How many bytes it has, with the terminating zero.
size_t wb_text_bytes(const char *text);

/// Copies text into `bytes` of room, cut if need be, always terminated.
void wb_text_copy(char *dst, const char *src, size_t bytes);

#endif
