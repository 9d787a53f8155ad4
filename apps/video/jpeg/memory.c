// SPDX-License-Identifier: Apache-2.0
// libjpeg's memory, in the place of its jmemnobs.c: an arena that belongs to one decoder.
//
// Nothing is freed piece by piece: the arena is empty again when the next picture begins.
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>
#include <jmemsys.h>

#include "arena.h"

static void *take(j_common_ptr picture, size_t bytes)
{
    return jpeg_arena_take(picture->client_data, bytes);
}

void *jpeg_get_small(j_common_ptr picture, size_t bytes)
{
    return take(picture, bytes);
}

void *jpeg_get_large(j_common_ptr picture, size_t bytes)
{
    return take(picture, bytes);
}

void jpeg_free_small(j_common_ptr picture, void *object, size_t bytes)
{
    (void)picture, (void)object, (void)bytes;
}

void jpeg_free_large(j_common_ptr picture, void *object, size_t bytes)
{
    (void)picture, (void)object, (void)bytes;
}

// A picture in several scans wants all its coefficients at once. Where the arena is too small for
// them, take() says so.
size_t jpeg_mem_available(j_common_ptr picture, size_t least, size_t most, size_t already)
{
    (void)picture, (void)least, (void)already;
    return most;
}

void jpeg_open_backing_store(j_common_ptr picture, backing_store_ptr store, long bytes)
{
    (void)store, (void)bytes;
    ERREXIT(picture, JERR_NO_BACKING_STORE);
}

long jpeg_mem_init(j_common_ptr picture)
{
    (void)picture;
    return 0;
}

void jpeg_mem_term(j_common_ptr picture)
{
    (void)picture;
}
