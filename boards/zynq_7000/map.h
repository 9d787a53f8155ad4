// SPDX-License-Identifier: Apache-2.0
// Where memory and devices of this board are; memory_map.h has what lies there.
#ifndef ZYNQ_7000_MAP_H
#define ZYNQ_7000_MAP_H

#define MAP_CORES 2
#define MAP_CODE 0x00100000     // its memory, without what the on-chip memory may hide
#define MAP_PRIVATE 0x80000000  // of addresses that nothing else has
#define MAP_DEVICES 0xe0000000
#define MAP_DEVICES_MB 400
#define MAP_MPCORE 0xf8f00000
#define MAP_PL310 0xf8f02000
#define MAP_SLCR 0xf8000000      // the System-Level Control Registers
#define MAP_CRYSTAL_HZ 33333333  // PS_CLK of most boards
#define MAP_RELEASE 0xfffffff0   // where the second core finds its entry, in on-chip memory
#define MAP_UART 0xe0001000      // UART1, which is most boards' console
#define MAP_LINE_IRQ 82          // its interrupt

#include "memory_map.h"

#endif
