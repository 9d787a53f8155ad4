// SPDX-License-Identifier: Apache-2.0
// Where memory and devices of this board are; memory_map.h has what lies there.
#ifndef REALVIEW_PBX_MAP_H
#define REALVIEW_PBX_MAP_H

#define MAP_CORES 4
#define MAP_CODE 0x70000000     // its memory
#define MAP_PRIVATE 0x80000000  // of addresses that nothing else has
#define MAP_DEVICES 0x10000000
#define MAP_DEVICES_MB 256
#define MAP_MPCORE 0x1f000000
#define MAP_PL310 0x1f002000
#define MAP_TIMER_HZ 100000000      // of QEMU
#define MAP_HZ 400000000            // as vexpress_a9; QEMU has no cycles
#define MAP_FLAGS 0x10000030        // a word that any reset clears: bits are set here
#define MAP_FLAGS_CLEAR 0x10000034  // and cleared here
#define MAP_UART 0x10009000         // the first PL011
#define MAP_LINE_IRQ 44             // its interrupt

#include "memory_map.h"

#endif
