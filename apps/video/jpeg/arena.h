// SPDX-License-Identifier: Apache-2.0
// Where libjpeg's memory for one picture comes from: its decoder's `client_data` points to one.
#ifndef JPEG_ARENA_H
#define JPEG_ARENA_H

#include <stddef.h>

enum { JPEG_ARENA_BYTES = 40 << 10 };

struct jpeg_arena {
    size_t used;
    _Alignas(64) unsigned char bytes[JPEG_ARENA_BYTES];
};

/// Takes the next bytes, aligned to 64.
///
/// Context: any. Never blocks.
/// Returns: the memory, or NULL where it is used up.
static inline void *jpeg_arena_take(struct jpeg_arena *arena, size_t bytes)
{
    const size_t rounded = (bytes + 63) & ~(size_t)63;

    if (bytes > JPEG_ARENA_BYTES || rounded > JPEG_ARENA_BYTES - arena->used)
        return NULL;
    void *taken = arena->bytes + arena->used;
    arena->used += rounded;
    return taken;
}

#endif
