// SPDX-License-Identifier: Apache-2.0
#include "private_mapping.h"

#include <stdlib.h>
#include <sys/mman.h>

// A block of globally visible memory to map into, and behind it one for each core to map.
static struct {
    const struct gvm *gvm;
    unsigned char *base;
    size_t bytes, used;  // of one block
} region;

static size_t block_bytes(size_t bytes, uint32_t parts)
{
    return bytes == 0 ? 0 : whole_pages(bytes) + (size_t)parts * (GUARD_BYTES + PAGE_BYTES);
}

size_t private_mapping_bytes(uint32_t cores, size_t bytes, uint32_t parts)
{
    return block_bytes(bytes, parts) * (cores + 1);
}

bool private_mapping_open(struct gvm *gvm, uint32_t cores, size_t bytes, uint32_t parts)
{
    region.gvm = gvm;
    region.bytes = block_bytes(bytes, parts);
    region.used = 0;
    region.base = gvm_take(gvm, region.bytes * (cores + 1));
    return region.base != NULL;
}

bool private_mapping_contains(const void *address)
{
    const unsigned char *a = address;
    return a >= region.base && a < region.base + region.bytes;
}

void *private_mapping_of(uint32_t core, const void *address)
{
    unsigned char *a = (unsigned char *)(uintptr_t)address;
    return private_mapping_contains(a) ? a + region.bytes * (core + 1) : a;
}

// Nothing but a lack of memory for page tables can prevent it, and nobody could go on then.
static void map_memory(unsigned char *at, size_t bytes, uint32_t core)
{
    const unsigned char *from = private_mapping_of(core, at);

    if (mmap(at, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, region.gvm->fd,
             from - region.gvm->base) != at)
        abort();
}

void *private_mapping_take(uint32_t core, size_t bytes)
{
    unsigned char *guard = region.base + region.used;

    bytes = whole_pages(bytes != 0 ? bytes : 1);
    if (GUARD_BYTES + bytes > region.bytes - region.used ||
        mprotect(guard, GUARD_BYTES, PROT_NONE) != 0)
        return NULL;
    region.used += GUARD_BYTES + bytes;
    map_memory(guard + GUARD_BYTES, bytes, core);
    return guard + GUARD_BYTES;
}

void private_mapping_give(const struct wb_task *task, uint32_t core)
{
    map_memory(task->stack, task->stack_bytes, core);
    if (task->heap.end != task->heap.base)
        map_memory(task->heap.base, (size_t)(task->heap.end - task->heap.base), core);
}
