// SPDX-License-Identifier: Apache-2.0
// The arena: the memory of a system, handed out once.

#include "../word/mem.h"
#include "base.h"

void *wb_system_alloc(struct wb_system *system, size_t bytes, size_t align)
{
    const uintptr_t at = wb_round_up((uintptr_t)system->arena, align);

    if (at > (uintptr_t)system->arena_end || bytes > (uintptr_t)system->arena_end - at)
        return NULL;
    unsigned char *memory = system->arena + (at - (uintptr_t)system->arena);
    system->arena = memory + bytes;
    return memory;
}

char *wb_system_keep_text(struct wb_system *system, const char *text)
{
    const size_t bytes = wb_text_bytes(text);
    char *copy = wb_system_alloc(system, bytes, 1);

    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}
