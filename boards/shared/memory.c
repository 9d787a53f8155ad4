// SPDX-License-Identifier: Apache-2.0
// Memory for a launcher: globally visible, stacks in it with guards, and private memory. Addresses
// are those of map.h; mmu.c of each board changes what lies behind them.

#include <string.h>

#include "arm_board.h"
#include "map.h"

enum { PAGE_BYTES = 4096, STACK_PAGES = MAP_STACKS_MB * MAP_MB / PAGE_BYTES, LINE_BYTES = 64 };

extern unsigned char gvm_end[];

static bool is_in(const void *address, uintptr_t begin, size_t bytes)
{
    return (uintptr_t)address - begin < bytes;
}

static const size_t of_kernel = MAP_KERNEL_MB * MAP_MB, private_bytes = MAP_PRIVATE_MB * MAP_MB;

// ---- Globally visible ---------------------------------------------------------------------------

// The end of what the last launcher wrote there; NULL: all of it, or nobody knows.
static const unsigned char *memory_used;

void *board_memory(size_t *bytes)
{
    unsigned char *begin = gvm_end, *end = (unsigned char *)MAP_GVM + MAP_GVM_MB * MAP_MB;

    memset(begin, 0, (size_t)((memory_used != NULL ? memory_used : end) - begin));
    memory_used = NULL;
    *bytes = (size_t)(end - begin);
    return begin;
}

void board_memory_used(const void *end)
{
    memory_used = end;
}

// Of the system that the board is a guest of, or nothing. All cores are told at once.
static struct {
    const void *at;
    size_t bytes;
} added __attribute__((section(".gvm")));

void memory_add_global(const void *at, size_t bytes)
{
    added.at = at;
    added.bytes = bytes;
}

bool board_is_global(const void *address)
{
    return is_in(address, MAP_GVM, MAP_GVM_MB * MAP_MB) ||
           is_in(address, MAP_STACKS, MAP_STACKS_MB * MAP_MB) ||
           is_in(address, (uintptr_t)added.at, added.bytes);
}

bool board_owns(const void *address)
{
    return board_is_global(address) ||
           is_in(address, MAP_PRIVATE + of_kernel, private_bytes - of_kernel);
}

// ---- Stacks -------------------------------------------------------------------------------------

static size_t pages_used;

void board_free_stacks(void)
{
    pages_used = 0;
    mmu_map_stacks();
}

void *board_stack(size_t bytes)
{
    const size_t wanted = 1 + (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

    if (wanted > STACK_PAGES - pages_used)
        return NULL;
    unsigned char *guard = (unsigned char *)MAP_STACKS + pages_used * PAGE_BYTES;
    mmu_unmap_page_of_stacks(guard);
    pages_used += wanted;
    return guard + PAGE_BYTES;
}

// ---- Private ------------------------------------------------------------------------------------

static size_t private_used;

void board_free_private(void)
{
    private_used = 0;
}

void *board_take_private(size_t bytes)
{
    unsigned char *at = (unsigned char *)MAP_PRIVATE + of_kernel + private_used;

    if (bytes > private_bytes - of_kernel - private_used)
        return NULL;
    memset(at, 0, bytes);
    private_used += (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return at;
}

void board_give_private(uint32_t core, void *at, size_t bytes)
{
    if (core == 0)
        return;
    mmu_open_window(core);
    memcpy((unsigned char *)at - MAP_PRIVATE + MAP_WINDOW, at, bytes);
    mmu_close_window();
    memset(at, 0, bytes);
}

const void *board_private(uint32_t core, const void *address)
{
    if (!is_in(address, MAP_PRIVATE, private_bytes))
        return NULL;
    return (const unsigned char *)address - MAP_PRIVATE + MAP_ALIASES + core * private_bytes;
}
