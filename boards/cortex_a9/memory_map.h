// SPDX-License-Identifier: Apache-2.0
// Where things are on a board with up to four Cortex-A9: addresses as cores see them, and what lies
// there. A board's map.h says how many cores it has, where its memory (MAP_CODE) and its devices
// are, and which addresses are free for private memory, and includes this. Its link.ld has those of
// sections once more.
//
//   MAP_CODE      4 MiB  code and constants, the same for all cores; the image of private data
//   + 15 MiB      1 MiB  page tables, and the stacks of booting
//   + 16 MiB     16 MiB  addresses of tasks that are recreated; each core's are its own, and so is
//                        its part of the memory, which it puts there page by page (pages.c)
//   + 32 MiB     32 MiB  globally visible memory; the last four in pages, with guards below stacks
//   + 64 MiB     16 MiB  private memory of the cores, one after the other
//   MAP_PRIVATE   4 MiB  that of the core that looks
//   + 128 MiB    16 MiB  that of all cores, to be read only
#ifndef CORTEX_A9_MEMORY_MAP_H
#define CORTEX_A9_MEMORY_MAP_H

#define MAP_MB 0x100000

#define MAP_CODE_MB 4
#define MAP_TABLES (MAP_CODE + 0xf00000)
#define MAP_START (MAP_CODE + 0xf21000)         // what cores wait for
#define MAP_FENCES (MAP_CODE + 0xf21800)        // which cores are fenced off
#define MAP_MODULE_PAGES (MAP_CODE + 0xf30000)  // tables of pages, for each core
#define MAP_MODULES (MAP_CODE + 0x1000000)
#define MAP_MODULES_MB 16
#define MAP_GVM (MAP_CODE + 0x2000000)
#define MAP_GVM_MB 28
#define MAP_LAUNCHER_MB 2   // of these
#define MAP_GLOBALS_KB 624  // and for an application's globals; the rest is for its plan
#define MAP_STACKS (MAP_CODE + 0x3c00000)
#define MAP_STACKS_MB 4
#define MAP_PRIVATE_MB 4
#define MAP_PRIVATE_AT (MAP_CODE + 0x4000000)
#define MAP_WINDOW (MAP_PRIVATE + 0x4000000)  // the first core sees that of another for a while
#define MAP_ALIASES (MAP_PRIVATE + 0x8000000)

// What is private to a core of the MPCore, and what its cores share.
#define MAP_SCU MAP_MPCORE
#define MAP_GICC (MAP_MPCORE + 0x100)
#define MAP_GLOBAL_TIMER (MAP_MPCORE + 0x200)
#define MAP_PRIVATE_TIMER (MAP_MPCORE + 0x600)
#define MAP_WATCHDOG (MAP_MPCORE + 0x620)
#define MAP_GICD (MAP_MPCORE + 0x1000)
#define MAP_TICK_IRQ 29        // the private timer
#define MAP_SUPERVISOR_IRQ 30  // the private watchdog, as a timer

// Of private memory the first is the kernel's; the rest is for tasks that are replicated.
#define MAP_KERNEL_MB 1

#endif
