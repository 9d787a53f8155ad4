// SPDX-License-Identifier: Apache-2.0
#include "switch.h"

#include <picolibc.h>

#include <picotls.h>
#include <stdint.h>
#include <string.h>

enum { ALIGN = 16, RA = 0, S0 = 1, S1 = 2, TP = 13, LEAST_BYTES = 256 };

void context_begin(void);

size_t context_library_bytes(void)
{
    return (_tls_size() + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *context_make(void *stack, size_t bytes, void (*entry)(void *argument), void *argument)
{
    const uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)(ALIGN - 1);

    if (bytes < context_library_bytes() + CONTEXT_BYTES + LEAST_BYTES)
        return NULL;
    const uintptr_t library = top - context_library_bytes();
    uint32_t *words = (uint32_t *)(library - CONTEXT_BYTES);
    _init_tls((void *)library);
    memset(words, 0, CONTEXT_BYTES);
    words[RA] = (uint32_t)context_begin;
    words[S0] = (uint32_t)argument;
    words[S1] = (uint32_t)entry;
    words[TP] = (uint32_t)library;
    return words;
}
