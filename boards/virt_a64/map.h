// SPDX-License-Identifier: Apache-2.0
// Where things are: addresses as cores see them, and what lies there. link.ld has those of its
// sections once more.
//
//   0x08000000   32 MiB  devices
//   0x10000000    2 MiB  registers of a PCI device, where the board is a guest (ivshmem.c)
//   0x40000000    2 MiB  the machine's device tree, which nobody reads
//   0x40200000    4 MiB  code and constants, the same for all cores; the image of private data
//   0x40800000    2 MiB  page tables, and the stacks of booting
//   0x42000000   64 MiB  globally visible memory; the last eight in pages, with guards below stacks
//   0x70000000    8 MiB  private memory: that of core n is at 0x48000000 + n * 8 MiB
//   0x78000000   32 MiB  the same of all four cores, to be read only
//
// And where the board is a guest:
//
//   0x4010000000         the configuration of PCI devices
//   0x200000000000       globally visible memory of the system; it is at 0x8000000000
#ifndef VIRT_A64_MAP_H
#define VIRT_A64_MAP_H

#define MAP_CORES 4
#define MAP_MB 0x100000

#define MAP_DEVICES 0x08000000
#define MAP_DEVICES_MB 32
#define MAP_CODE 0x40200000
#define MAP_CODE_MB 4
#define MAP_TABLES 0x40800000
#define MAP_TABLES_MB 2
#define MAP_SPARE_TABLES 0x40822000  // up to the stacks of booting
#define MAP_SPARE_TABLES_KB 1896
#define MAP_START 0x40821000   // what cores wait for
#define MAP_FENCES 0x40821800  // which cores are fenced off
#define MAP_GVM 0x42000000
#define MAP_GVM_MB 56
#define MAP_LAUNCHER_MB 3   // of these
#define MAP_GLOBALS_KB 624  // and for an application's globals; the rest is for its plan
#define MAP_STACKS 0x45800000
#define MAP_STACKS_MB 8
#define MAP_PRIVATE 0x70000000
#define MAP_PRIVATE_MB 8
#define MAP_PRIVATE_AT 0x48000000
#define MAP_WINDOW 0x74000000  // where the first core sees private memory of another for a while
#define MAP_ALIASES 0x78000000

// Devices, and their interrupts.
#define MAP_UART 0x09000000  // a PL011
#define MAP_LINE_IRQ 33      // its interrupt
#define MAP_GICD 0x08000000
#define MAP_GICC 0x08010000
#define MAP_GICV2M 0x08020000  // what turns messages of PCI devices into interrupts
#define MAP_TICK_IRQ 27        // the virtual timer
#define MAP_SUPERVISOR_IRQ 30  // the physical timer

// PCI: the configuration of devices, in a gigabyte of its own; where their registers are put, and
// memory.
#define MAP_PCI_CONFIG 0x4010000000
#define MAP_PCI 0x10000000
#define MAP_PCI_MB 2
#define MAP_PCI_MEMORY 0x8000000000
#define MAP_SYSTEM 0x200000000000  // where all kernels of the system see it (guest.h)
#define MAP_SYSTEM_GB 512          // at most

// Of private memory the first are the kernel's; the rest is for tasks that are replicated.
#define MAP_KERNEL_MB 2

// What board_switch() leaves on a stack: x19 to x30, d8 to d15.
#define BOARD_CONTEXT_BYTES 160

#endif
