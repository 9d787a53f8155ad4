// SPDX-License-Identifier: Apache-2.0
// The page tables: short descriptors of ARMv7, one table of sections for each core, and pages where
// stacks lie. Every kernel has its private memory at the same addresses.

#include "arm_board.h"
#include "map.h"
#include "secondary.h"

enum {
    DEVICE = 0x00c16,  // never executed
    CODE = 0x19c0e,    // read only
    DATA = 0x11c1e,    // shareable, write-back; never executed
    READ = 0x19c1e,    // the same, read only
    TABLE = 0x1,       // of pages
    PAGE = 0x47f,      // as DATA
    PAGES = 256,       // of a table
    PAGE_BYTES = 4096,
    SECTION_SHIFT = 20,
};

// Registers of the SCU by their names in Arm's manual.
enum { SCU_CTRL = 0, SCU_INVALIDATE = 0xc };

// Those of the PL310, the controller of the L2 cache, as numbers of words.
enum {
    L2_CONTROL = 0x100 / 4,
    L2_AUXILIARY = 0x104 / 4,
    L2_SYNC = 0x730 / 4,
    L2_INVALIDATE_WAY = 0x77c / 4,
    L2_CLEAN_INVALIDATE_WAY = 0x7fc / 4,
    L2_SIXTEEN_WAYS = 1 << 16,  // of L2_AUXILIARY; otherwise eight
};

static uint32_t *sections(uint32_t core)
{
    return (uint32_t *)(MAP_TABLES + core * 0x4000);
}

static uint32_t *pages(void)
{
    return (uint32_t *)(MAP_TABLES + MAP_CORES * 0x4000);
}

static void map(uint32_t core, uint32_t address, uint32_t at, uint32_t mb, uint32_t kind)
{
    for (uint32_t i = 0; i < mb; i++)
        sections(core)[(address >> SECTION_SHIFT) + i] = (at + i * MAP_MB) | kind;
}

static void map_shared(uint32_t core)
{
    map(core, MAP_GVM, MAP_GVM, MAP_GVM_MB, DATA);
    for (uint32_t i = 0; i < MAP_STACKS_MB; i++)
        sections(core)[(MAP_STACKS >> SECTION_SHIFT) + i] = (uint32_t)(pages() + i * PAGES) | TABLE;
}

// Of tables without any page (pages.c).
static void map_modules(uint32_t core)
{
    volatile uint32_t *const own =
        (volatile uint32_t *)MAP_MODULE_PAGES + core * MAP_MODULES_MB * PAGES;

    for (uint32_t i = 0; i < MAP_MODULES_MB * PAGES; i++)
        own[i] = 0;
    for (uint32_t i = 0; i < MAP_MODULES_MB; i++)
        sections(core)[(MAP_MODULES >> SECTION_SHIFT) + i] = (uint32_t)(own + i * PAGES) | TABLE;
}

static void map_core(uint32_t core)
{
    const uint32_t own = MAP_PRIVATE_AT + core * MAP_PRIVATE_MB * MAP_MB;

    for (uint32_t i = 0; i < 4096; i++)
        sections(core)[i] = 0;
    map(core, MAP_DEVICES, MAP_DEVICES, MAP_DEVICES_MB, DEVICE);
    map(core, MAP_CODE, MAP_CODE, MAP_CODE_MB, CODE);
    map(core, MAP_TABLES, MAP_TABLES, 1, DATA);
    map_shared(core);
    map_modules(core);
    map(core, MAP_PRIVATE, own, MAP_PRIVATE_MB, DATA);
    map(core, MAP_ALIASES, MAP_PRIVATE_AT, MAP_CORES * MAP_PRIVATE_MB, READ);
}

// Nothing is remembered of what was not there.
static void show_translations(void)
{
    __asm__ volatile("dsb\n isb" ::: "memory");
}

void mmu_map_stacks(void)
{
    for (uint32_t i = 0; i < MAP_STACKS_MB * PAGES; i++)
        pages()[i] = (MAP_STACKS + i * PAGE_BYTES) | PAGE;
    show_translations();
}

// An operation on whole ways, until it is over.
static void do_ways(volatile uint32_t *l2, uint32_t operation, uint32_t ways)
{
    l2[operation] = ways;
    while ((l2[operation] & ways) != 0) {}
    l2[L2_SYNC] = 0;
    __asm__ volatile("dsb");
}

// The Snoop Control Unit keeps the L1 data caches coherent, so it is enabled before any of them.
// After a reset its copies of their tags contain anything.
static void begin_scu(void)
{
    *(volatile uint32_t *)(MAP_SCU + SCU_INVALIDATE) = 0xffff;
    *(volatile uint32_t *)(MAP_SCU + SCU_CTRL) |= 1;
}

// The L2 cache is enabled before any L1 data cache, so that what these write back reaches it. After
// a reset it contains anything; what a boot loader left in it is written back, and must be of other
// memory than the image's, which was written past it. Its latencies, and what is locked in it, are
// as the reset or the boot loader leaves them.
static void begin_l2(void)
{
    volatile uint32_t *const l2 = (volatile uint32_t *)MAP_PL310;

    if (MAP_PL310 == 0)
        return;
    const uint32_t ways = (l2[L2_AUXILIARY] & L2_SIXTEEN_WAYS) != 0 ? 0xffff : 0xff;
    if ((l2[L2_CONTROL] & 1) != 0)
        do_ways(l2, L2_CLEAN_INVALIDATE_WAY, ways);
    l2[L2_CONTROL] = 0;
    do_ways(l2, L2_INVALIDATE_WAY, ways);
    l2[L2_CONTROL] = 1;
    __asm__ volatile("dsb");
}

// With the MMU off, by the first core; the others wait until it has done so.
void mmu_tables(uint32_t core)
{
    if (core != 0) {
        secondary_wait();
        return;
    }
    secondary_hold();
    begin_scu();
    begin_l2();
    mmu_map_stacks();
    for (uint32_t i = 0; i < MAP_CORES; i++)
        map_core(i);
    for (uint32_t i = 0; i < PAGE_BYTES; i += 4)
        *(volatile uint32_t *)(MAP_START + i) = 0;
    __asm__ volatile("dsb");
    secondary_release();
}

// ---- Memory for a launcher ----------------------------------------------------------------------

// What the core has begun with the old tables is over when the barrier is.
static void forget_translations(void)
{
    __asm__ volatile("dsb\n mcr p15, 0, %0, c8, c3, 0\n dsb\n isb" ::"r"(0) : "memory");
}

void mmu_unmap_page_of_stacks(const void *page)
{
    pages()[((uintptr_t)page - MAP_STACKS) / PAGE_BYTES] = 0;
    __asm__ volatile("dsb\n mcr p15, 0, %0, c8, c3, 1\n dsb\n isb" ::"r"(page) : "memory");
}

void mmu_open_window(uint32_t core)
{
    map(0, MAP_WINDOW, MAP_PRIVATE_AT + core * MAP_PRIVATE_MB * MAP_MB, MAP_PRIVATE_MB, DATA);
    show_translations();
}

void mmu_close_window(void)
{
    for (uint32_t i = 0; i < MAP_PRIVATE_MB; i++)
        sections(0)[(MAP_WINDOW >> SECTION_SHIFT) + i] = 0;
    __asm__ volatile("dsb\n mcr p15, 0, %0, c8, c7, 0\n dsb\n isb" ::"r"(0) : "memory");
}

// ---- Fences -------------------------------------------------------------------------------------

static volatile uint32_t *fenced(uint32_t core)
{
    return (volatile uint32_t *)(MAP_FENCES + core * sizeof(uint32_t));
}

void mmu_fence(uint32_t core)
{
    *fenced(core) = 1;
    for (uint32_t i = 0; i < MAP_GVM_MB + MAP_STACKS_MB; i++)
        sections(core)[(MAP_GVM >> SECTION_SHIFT) + i] = 0;
    forget_translations();
}

void mmu_unfence(uint32_t core)
{
    map_shared(core);
    *fenced(core) = 0;
    forget_translations();
}

bool mmu_is_fenced(uint32_t core)
{
    return *fenced(core) != 0;
}
