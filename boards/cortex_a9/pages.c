// SPDX-License-Identifier: Apache-2.0
// Memory for tasks that are recreated: each core has some of its own, and puts it, page by page,
// behind addresses that are the same on all cores. Its page tables for them are its own as well.

#include "arm_board.h"
#include "map.h"

enum {
    PAGE_BYTES = 4096,
    LINE_BYTES = 32,
    DATA = 0x47f,  // shareable, write-back; never executed
    CODE = 0x67e,  // the same, to be read and executed only
    AT = ~0xfff,   // where in memory a page is, of its entry
    OWN_BYTES = MAP_MODULES_MB * MAP_MB / MAP_CORES,
    OWN_PAGES = OWN_BYTES / PAGE_BYTES,
};

// Each core's own, seen by all.
static struct pages {
    volatile uint32_t used, spared;  // spared: not to be used
    uint32_t bits[OWN_PAGES / 32];   // one for each page that is used
} all[MAP_CORES] __attribute__((section(".gvm")));

static uint32_t *entry_of(uintptr_t address)
{
    uint32_t *pages = (uint32_t *)(MAP_MODULE_PAGES + board_core() * MAP_MODULES_MB * 1024);

    return pages + (address - MAP_MODULES) / PAGE_BYTES;
}

// Translations that were there are forgotten; one that was not there is not remembered.
static void forget_translations(void)
{
    __asm__ volatile("dsb\n mcr p15, 0, %0, c8, c7, 0\n dsb\n isb" ::"r"(0) : "memory");
}

static uint32_t take_page(struct pages *own)
{
    uint32_t word = 0;

    while (own->bits[word] == UINT32_MAX)
        word++;
    const uint32_t bit = (uint32_t)__builtin_ctz(~own->bits[word]);
    own->bits[word] |= 1u << bit;
    own->used++;
    return MAP_MODULES + board_core() * OWN_BYTES + (word * 32 + bit) * PAGE_BYTES;
}

static void give_page(struct pages *own, uint32_t at)
{
    const uint32_t page = (at - MAP_MODULES - board_core() * OWN_BYTES) / PAGE_BYTES;

    own->bits[page / 32] &= ~(1u << page % 32);
    own->used--;
}

unsigned char *board_module_space(size_t *bytes)
{
    *bytes = MAP_MODULES_MB * MAP_MB;
    return (unsigned char *)MAP_MODULES;
}

bool board_map(void *at, size_t bytes)
{
    struct pages *own = &all[board_core()];
    const uint32_t unused = OWN_PAGES - own->used;

    if (own->spared > unused || bytes / PAGE_BYTES > unused - own->spared)
        return false;
    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        *entry_of((uintptr_t)at + i) = take_page(own) | DATA;
    __asm__ volatile("dsb\n isb" ::: "memory");
    return true;
}

void board_unmap(void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += PAGE_BYTES) {
        uint32_t *entry = entry_of((uintptr_t)at + i);
        give_page(&all[board_core()], *entry & AT);
        *entry = 0;
    }
    forget_translations();
}

// What has been written reaches the memory that instructions are fetched from, and what has been
// fetched from there before is forgotten.
void board_make_readonly(void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        __asm__ volatile("mcr p15, 0, %0, c7, c11, 1" ::"r"((uintptr_t)at + i) : "memory");
    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        *entry_of((uintptr_t)at + i) = (*entry_of((uintptr_t)at + i) & AT) | CODE;
    __asm__ volatile("dsb\n mcr p15, 0, %0, c7, c5, 0\n mcr p15, 0, %0, c7, c5, 6" ::"r"(0)
                     : "memory");
    forget_translations();
}

size_t board_mapped_bytes(uint32_t core)
{
    return all[core].used * PAGE_BYTES;
}

void board_limit_mapping(uint32_t core, size_t bytes)
{
    all[core].spared = bytes < OWN_BYTES ? OWN_PAGES - bytes / PAGE_BYTES : 0;
}

void pages_reset(void)
{
    struct pages *own = &all[board_core()];

    for (uint32_t i = 0; i < OWN_PAGES / 32; i++)
        own->bits[i] = 0;
    own->used = 0;
    for (uint32_t i = 0; i < MAP_MODULES_MB * MAP_MB; i += PAGE_BYTES)
        *entry_of(MAP_MODULES + i) = 0;
    forget_translations();
}
