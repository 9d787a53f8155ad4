// SPDX-License-Identifier: Apache-2.0
// The page tables: a granule of 4 KiB, 48 bits of address. Each core has a table of blocks of 2 MiB
// of its own; all share the pages where stacks lie, and the tables of the memory of a system that
// the board is a guest of. Every kernel has its private memory at the same addresses.

#include <string.h>

#include "arm_board.h"
#include "map.h"
#include "psci.h"

enum {
    BLOCK_BYTES = 2 << 20,
    PAGE_BYTES = 4096,
    ENTRIES = 512,  // of a table
    STACK_PAGES = MAP_STACKS_MB * MAP_MB / PAGE_BYTES,
    GB_SHIFT = 30,
    ROOT_SHIFT = 39,
};

// Of an entry: what it is, and how the memory behind it may be used (Arm ARM, D8.3).
#define BLOCK UINT64_C(1)
#define TABLE UINT64_C(3)
#define PAGE UINT64_C(3)
#define AS_DEVICE (UINT64_C(1) << 2)  // the second attribute of MAIR
#define READ_ONLY (UINT64_C(1) << 7)
#define SHARED (UINT64_C(3) << 8)
#define ACCESSED (UINT64_C(1) << 10)
#define NEVER_EXECUTED (UINT64_C(3) << 53)
#define DEVICE (ACCESSED | AS_DEVICE | NEVER_EXECUTED)
#define CODE (ACCESSED | SHARED | READ_ONLY)
#define DATA (ACCESSED | SHARED | NEVER_EXECUTED)

// ---- Tables -------------------------------------------------------------------------------------

// Of the two first levels, then that of the devices' gigabyte, then that of the memory's.
struct tables {
    uint64_t roots[ENTRIES], gigabytes[ENTRIES], devices[ENTRIES], blocks[ENTRIES];
};

// Of the system's memory: its gigabytes, or blocks of the only one. Nothing, if there is none.
struct system_tables {
    uint64_t gigabytes[ENTRIES], blocks[ENTRIES];
};

static struct tables *tables(uint32_t core)
{
    return (struct tables *)MAP_TABLES + core;
}

static uint64_t *stack_pages(void)
{
    return (uint64_t *)((struct tables *)MAP_TABLES + MAP_CORES);
}

static struct system_tables *system_tables(void)
{
    return (struct system_tables *)(stack_pages() + STACK_PAGES);
}

static uint64_t *block_of(uint32_t core, uintptr_t address)
{
    struct tables *of = tables(core);
    uint64_t *blocks = address >> GB_SHIFT == 0 ? of->devices : of->blocks;

    return blocks + address / BLOCK_BYTES % ENTRIES;
}

static void map(uint32_t core, uintptr_t address, uintptr_t at, uint32_t mb, uint64_t kind)
{
    uint64_t *block = block_of(core, address);

    for (uintptr_t offset = 0; offset < (uintptr_t)mb * MAP_MB; offset += BLOCK_BYTES)
        *block++ = (at + offset) | kind | BLOCK;
}

static void map_shared(uint32_t core)
{
    map(core, MAP_GVM, MAP_GVM, MAP_GVM_MB, DATA);
    for (uint32_t i = 0; i < STACK_PAGES / ENTRIES; i++)
        block_of(core, MAP_STACKS)[i] = (uintptr_t)(stack_pages() + i * ENTRIES) | TABLE;
    tables(core)->roots[MAP_SYSTEM >> ROOT_SHIFT] = (uintptr_t)system_tables()->gigabytes | TABLE;
}

static void map_core(uint32_t core)
{
    struct tables *own = tables(core);
    const uintptr_t private = MAP_PRIVATE_AT + core * MAP_PRIVATE_MB * MAP_MB;

    for (uint32_t i = 0; i < ENTRIES; i++)
        own->roots[i] = own->gigabytes[i] = own->devices[i] = own->blocks[i] = 0;
    own->roots[0] = (uintptr_t)own->gigabytes | TABLE;
    own->gigabytes[0] = (uintptr_t)own->devices | TABLE;
    own->gigabytes[1] = (uintptr_t)own->blocks | TABLE;
    map(core, MAP_DEVICES, MAP_DEVICES, MAP_DEVICES_MB, DEVICE);
    map(core, MAP_CODE, MAP_CODE, MAP_CODE_MB, CODE);
    map(core, MAP_TABLES, MAP_TABLES, MAP_TABLES_MB, DATA);
    map_shared(core);
    map(core, MAP_PRIVATE, private, MAP_PRIVATE_MB, DATA);
    map(core, MAP_ALIASES, MAP_PRIVATE_AT, MAP_CORES * MAP_PRIVATE_MB, DATA | READ_ONLY);
}

// Nothing is remembered of what was not there.
static void show_translations(void)
{
    __asm__ volatile("dsb sy\n isb" ::: "memory");
}

void mmu_map_stacks(void)
{
    for (uint32_t i = 0; i < STACK_PAGES; i++)
        stack_pages()[i] = (MAP_STACKS + i * PAGE_BYTES) | DATA | PAGE;
    show_translations();
}

// ---- Booting ------------------------------------------------------------------------------------

void mmu_begin(uint32_t core);
extern unsigned char _start[];

static void make_tables(void)
{
    mmu_map_stacks();
    for (uint32_t i = 0; i < ENTRIES; i++)
        system_tables()->gigabytes[i] = system_tables()->blocks[i] = 0;
    for (uint32_t i = 0; i < MAP_CORES; i++)
        map_core(i);
    for (uintptr_t at = MAP_START; at < MAP_START + PAGE_BYTES; at += 8)
        *(volatile uint64_t *)at = 0;
    __asm__ volatile("dsb sy" ::: "memory");
}

static void turn_on(const struct tables *of)
{
    // The first attribute: write-back, allocated when read or written; the second: a device.
    const uint64_t attributes = 0xff | 0x04 << 8;
    // 48 bits of address, 40 of those of the machine; what walks the tables is shareable,
    // write-back; no upper addresses.
    const uint64_t control = 16 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 | UINT64_C(2) << 32;
    enum { MMU = 1 << 0, CHECKED = 1 << 1, DATA_CACHE = 1 << 2, CODE_CACHE = 1 << 12 };
    uint64_t system;

    __asm__ volatile(
        "msr mair_el1, %0\n msr tcr_el1, %1\n msr ttbr0_el1, %2\n isb" ::"r"(attributes),
        "r"(control), "r"(of->roots)
        : "memory");
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(system));
    system = (system & ~(uint64_t)CHECKED) | MMU | DATA_CACHE | CODE_CACHE;
    __asm__ volatile(
        "tlbi vmalle1\n ic iallu\n dsb sy\n isb\n msr sctlr_el1, %0\n isb" ::"r"(system)
        : "memory");
}

// With the MMU off, where memory is accessed by aligned words only.
void mmu_begin(uint32_t core)
{
    if (core == 0) {
        make_tables();
        // A core that is not there stays away (board_waits()).
        for (uint32_t i = 1; i < MAP_CORES; i++)
            (void)psci(PSCI_CPU_ON, i, (uintptr_t)_start);
    }
    turn_on(tables(core));
}

// ---- Memory for a launcher ----------------------------------------------------------------------

// What a core has begun with the old tables is over when the barrier is.
static void forget_translations(void)
{
    __asm__ volatile("dsb sy\n tlbi vmalle1is\n dsb sy\n isb" ::: "memory");
}

void mmu_unmap_page_of_stacks(const void *page)
{
    stack_pages()[((uintptr_t)page - MAP_STACKS) / PAGE_BYTES] = 0;
    forget_translations();
}

void mmu_open_window(uint32_t core)
{
    map(0, MAP_WINDOW, MAP_PRIVATE_AT + core * MAP_PRIVATE_MB * MAP_MB, MAP_PRIVATE_MB, DATA);
    show_translations();
}

void mmu_close_window(void)
{
    memset(block_of(0, MAP_WINDOW), 0, MAP_PRIVATE_MB * MAP_MB / BLOCK_BYTES * sizeof(uint64_t));
    forget_translations();
}

// ---- A system that the board is a guest of ------------------------------------------------------

void mmu_map_pci(void)
{
    const uint64_t gigabyte = MAP_PCI_CONFIG >> GB_SHIFT;

    for (uint32_t core = 0; core < MAP_CORES; core++) {
        tables(core)->gigabytes[gigabyte] = gigabyte << GB_SHIFT | DEVICE | BLOCK;
        map(core, MAP_PCI, MAP_PCI, MAP_PCI_MB, DEVICE);
    }
    show_translations();
}

// A gigabyte, or any number of them, has no table of blocks.
void mmu_map_system(uint64_t bytes)
{
    struct system_tables *of = system_tables();

    for (uint64_t i = 0; i < bytes >> GB_SHIFT; i++)
        of->gigabytes[i] = (MAP_PCI_MEMORY + (i << GB_SHIFT)) | DATA | BLOCK;
    for (uint64_t at = 0; bytes >> GB_SHIFT == 0 && at < bytes; at += BLOCK_BYTES) {
        of->gigabytes[0] = (uintptr_t)of->blocks | TABLE;
        of->blocks[at / BLOCK_BYTES] = (MAP_PCI_MEMORY + at) | DATA | BLOCK;
    }
    show_translations();
}

// The table in an entry; one that shows what a block did, where that was.
static uint64_t *table_in(uint64_t *entry, uint64_t step_bytes, uint64_t kind)
{
    enum { SPARE_BYTES = MAP_SPARE_TABLES_KB << 10 };
    static uint32_t used;  // the first core's
    const uint64_t was = *entry, type = TABLE, address = ((UINT64_C(1) << 48) - 1) & -PAGE_BYTES;

    if ((was & type) == TABLE)
        return (uint64_t *)(was & address);
    if (used == SPARE_BYTES / PAGE_BYTES)
        return NULL;
    uint64_t *table = (uint64_t *)MAP_SPARE_TABLES + used++ * ENTRIES;
    for (uint64_t i = 0; i < ENTRIES; i++)
        table[i] = ((was & ~type) + i * step_bytes) | kind;
    // No core may remember both.
    *entry = 0;
    forget_translations();
    *entry = (uintptr_t)table | TABLE;
    show_translations();
    return table;
}

bool mmu_unmap_page_of_system(const void *page)
{
    const uint64_t offset = (uintptr_t)page - MAP_SYSTEM;
    uint64_t *blocks =
        table_in(&system_tables()->gigabytes[offset >> GB_SHIFT], BLOCK_BYTES, BLOCK);
    uint64_t *pages =
        blocks != NULL ? table_in(&blocks[offset / BLOCK_BYTES % ENTRIES], PAGE_BYTES, PAGE) : NULL;

    if (pages == NULL)
        return false;
    pages[offset / PAGE_BYTES % ENTRIES] = 0;
    forget_translations();
    return true;
}

// ---- Fences -------------------------------------------------------------------------------------

static volatile uint32_t *fenced(uint32_t core)
{
    return (volatile uint32_t *)MAP_FENCES + core;
}

void mmu_fence(uint32_t core)
{
    volatile uint64_t *blocks = block_of(core, MAP_GVM);

    *fenced(core) = 1;
    for (uint32_t i = 0; i < (MAP_GVM_MB + MAP_STACKS_MB) * MAP_MB / BLOCK_BYTES; i++)
        blocks[i] = 0;
    tables(core)->roots[MAP_SYSTEM >> ROOT_SHIFT] = 0;
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
