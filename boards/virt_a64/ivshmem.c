// SPDX-License-Identifier: Apache-2.0
// The board as a guest: memory of the system, and doorbells to and from others, are a PCI device of
// QEMU's, `ivshmem-doorbell`. Its interrupts are messages, which the GICv2m makes interrupts of the
// GIC.

#include "arm_board.h"
#include "board.h"
#include "guest_board.h"
#include "map.h"

_Static_assert(MAP_SYSTEM == WB_GUEST_MEMORY, "as all kernels see it");

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

// Of the configuration of a device: registers by their names in the PCI standard.
enum {
    ID = 0,
    COMMAND = 4,
    BAR0 = 0x10,
    BAR1 = 0x14,
    BAR2 = 0x18,
    CAPABILITIES = 0x34,
    DEVICES = 32,
    DEVICE_SHIFT = 15,
    IVSHMEM = 0x11101af4,
    IS_64_BITS = 4,            // of a BAR
    MEMORY_AND_MASTER = 6,     // of COMMAND
    MSI_X = 0x11,              // a capability
    MSI_X_ENABLED = 1u << 31,  // of its first word
    VECTORS_SHIFT = 16,        // as well: how many there are, less 1
    VECTORS = 0x7ff,
};

// Where the device's registers are put, and the table of its messages.
enum { REGISTERS = MAP_PCI, TABLE = MAP_PCI + 0x10000, MESSAGE_BYTES = 16 };

// Of the device's registers, and of the GICv2m.
enum { POSITION = 8, DOORBELL = 12, TYPER = 8, SETSPI = 0x40, BASE_SHIFT = 16, BASE = 0x3ff };

enum { LEAST_BYTES = 2 << 20, PAGE_BYTES = 4096 };

static uintptr_t find_device(void)
{
    for (uintptr_t i = 0; i < DEVICES; i++)
        if (REGISTER(MAP_PCI_CONFIG + (i << DEVICE_SHIFT) + ID) == IVSHMEM)
            return MAP_PCI_CONFIG + (i << DEVICE_SHIFT);
    return 0;
}

// A BAR says which of its bits are fixed.
static uint64_t memory_bytes(uintptr_t device)
{
    if ((REGISTER(device + BAR2) & IS_64_BITS) == 0)
        return 0;
    REGISTER(device + BAR2) = UINT32_MAX;
    REGISTER(device + BAR2 + 4) = UINT32_MAX;
    const uint64_t fixed =
        (uint64_t)REGISTER(device + BAR2 + 4) << 32 | (REGISTER(device + BAR2) & ~15u);
    return -fixed;
}

static void place(uintptr_t device)
{
    REGISTER(device + BAR0) = REGISTERS;
    REGISTER(device + BAR1) = TABLE;
    REGISTER(device + BAR2) = (uint32_t)MAP_PCI_MEMORY;
    REGISTER(device + BAR2 + 4) = (uint32_t)(MAP_PCI_MEMORY >> 32);
    REGISTER(device + COMMAND) |= MEMORY_AND_MASTER;
}

static uintptr_t find_capability(uintptr_t device, uint32_t wanted)
{
    uint32_t at = REGISTER(device + CAPABILITIES) & 0xff;

    while (at != 0 && (REGISTER(device + at) & 0xff) != wanted)
        at = REGISTER(device + at) >> 8 & 0xff;
    return at != 0 ? device + at : 0;
}

// Vector v rings core v.
static bool begin_doorbells(uintptr_t device)
{
    const uint32_t first = REGISTER(MAP_GICV2M + TYPER) >> BASE_SHIFT & BASE;
    const uintptr_t capability = find_capability(device, MSI_X);

    if (capability == 0)
        return false;
    const uint32_t vectors = 1 + (REGISTER(capability) >> VECTORS_SHIFT & VECTORS);
    const uint32_t n = vectors < MAP_CORES ? vectors : MAP_CORES;
    gic_begin_doorbells(first, n);
    for (uint32_t i = 0; i < n; i++) {
        const uintptr_t message = TABLE + i * MESSAGE_BYTES;
        REGISTER(message) = MAP_GICV2M + SETSPI;
        REGISTER(message + 4) = 0;
        REGISTER(message + 8) = first + i;
        REGISTER(message + 12) = 0;
    }
    REGISTER(capability) |= MSI_X_ENABLED;
    return true;
}

// Nobody has written to the board's own since the machine began: it need not be cleared.
static void keep_memory(void)
{
    extern unsigned char gvm_end[];

    board_memory_used(gvm_end);
}

uint64_t board_find_system(uint32_t *guest, const char **why)
{
    mmu_map_pci();
    const uintptr_t device = find_device();
    if (device == 0) {
        *why = "this machine has no ivshmem-doorbell: `whimbrel run` starts it with one";
        return 0;
    }
    const uint64_t bytes = memory_bytes(device);
    if (bytes < LEAST_BYTES || bytes > (uint64_t)MAP_SYSTEM_GB << 30) {
        *why = "the memory of ivshmem-doorbell must have from 2 MiB to 512 GiB";
        return 0;
    }
    place(device);
    // The launcher is the first peer.
    *guest = REGISTER(REGISTERS + POSITION) - 1;
    if (!begin_doorbells(device)) {
        *why = "ivshmem-doorbell has no vectors: start it with `vectors=`";
        return 0;
    }
    mmu_map_system(bytes);
    memory_add_global((void *)MAP_SYSTEM, bytes);
    keep_memory();
    return bytes;
}

bool board_guard(const void *at, size_t bytes)
{
    const unsigned char *page = at;

    for (size_t done = 0; done < bytes; done += PAGE_BYTES)
        if (!board_is_global(page + done) || !mmu_unmap_page_of_system(page + done))
            return false;
    return true;
}

// ---- Doorbells ----------------------------------------------------------------------------------

// By the system's numbers: which core of this board it is, from 1; and what rings it otherwise. All
// cores see them.
static struct {
    uint32_t own, doorbell;
} cores[WB_GUEST_CORES] __attribute__((section(".gvm")));
static const struct wb_system *the_system __attribute__((section(".gvm")));

void board_join(const struct wb_guest *page)
{
    the_system = page->system;
    for (uint32_t i = 0; i < WB_GUEST_CORES; i++)
        cores[i].doorbell = page->doorbell[i];
    for (uint32_t i = 0; i < MAP_CORES; i++)
        if (page->core[i] < WB_GUEST_CORES)
            cores[page->core[i]].own = i + 1;
}

void board_ring(uint32_t core)
{
    if (cores[core].own != 0) {
        gic_ring(cores[core].own - 1);
        return;
    }
    if (!wb_guest_must_ring(the_system->cores[core]))
        return;
    // What the doorbell is about has been written before.
    __asm__ volatile("dsb sy" ::: "memory");
    REGISTER(REGISTERS + DOORBELL) = cores[core].doorbell;
}

void board_sleep(void)
{
    (void)board_irq_save();
    for (;;)
        __asm__ volatile("wfi");
}
