// SPDX-License-Identifier: Apache-2.0
// Where things are: addresses as cores see them, and what lies there. link.ld has those of its
// sections once more.
//
//   0x10000000  256 MiB  devices
//   0x60000000    4 MiB  code and constants, the same for all cores; the image of private data
//   0x60f00000    1 MiB  page tables, and the stacks of booting
//   0x61000000   16 MiB  addresses of tasks that are recreated; each core's are its own, and so is
//                        a quarter of the memory, which it puts there page by page (pages.c)
//   0x62000000   32 MiB  globally visible memory; the last four in pages, with guards below stacks
//   0x70000000    4 MiB  private memory: that of core n is at 0x64000000 + n * 4 MiB
//   0x78000000   16 MiB  the same of all four cores, to be read only
#ifndef VEXPRESS_MAP_H
#define VEXPRESS_MAP_H

#define MAP_CORES 4
#define MAP_MB 0x100000

#define MAP_DEVICES 0x10000000
#define MAP_DEVICES_MB 256
#define MAP_CODE 0x60000000
#define MAP_CODE_MB 4
#define MAP_TABLES 0x60f00000
#define MAP_START 0x60f21000         // what cores wait for
#define MAP_FENCES 0x60f21800        // which cores are fenced off
#define MAP_MODULE_PAGES 0x60f30000  // tables of pages, for each core
#define MAP_MODULES 0x61000000
#define MAP_MODULES_MB 16
#define MAP_GVM 0x62000000
#define MAP_GVM_MB 28
#define MAP_LAUNCHER_MB 2   // of these
#define MAP_GLOBALS_KB 624  // and for an application's globals; the rest is for its plan
#define MAP_STACKS 0x63c00000
#define MAP_STACKS_MB 4
#define MAP_PRIVATE 0x70000000
#define MAP_PRIVATE_MB 4
#define MAP_PRIVATE_AT 0x64000000
#define MAP_WINDOW 0x74000000  // where the first core sees private memory of another for a while
#define MAP_ALIASES 0x78000000

// Devices, and their interrupts.
#define MAP_UART 0x10009000  // the first PL011
#define MAP_LINE_IRQ 37      // its interrupt
#define MAP_GICC 0x1e000100
#define MAP_GICD 0x1e001000
#define MAP_TICK_IRQ 29        // the private timer
#define MAP_SUPERVISOR_IRQ 30  // the private watchdog, as a timer

// Of private memory the first is the kernel's; the rest is for tasks that are replicated.
#define MAP_KERNEL_MB 1

#endif
