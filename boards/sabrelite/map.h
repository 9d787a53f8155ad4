// SPDX-License-Identifier: Apache-2.0
// Where memory and devices of this board are; memory_map.h has what lies there.
#ifndef SABRELITE_MAP_H
#define SABRELITE_MAP_H

#define MAP_CORES 4
#define MAP_CODE 0x10000000     // its memory
#define MAP_PRIVATE 0x80000000  // of addresses that nothing else has
#define MAP_DEVICES 0x00a00000
#define MAP_DEVICES_MB 24
#define MAP_MPCORE 0x00a00000
#define MAP_PL310 0x00a02000
#define MAP_GPT 0x02098000   // the General Purpose Timer
#define MAP_CCM 0x020c4000   // the Clock Controller Module
#define MAP_SRC 0x020d8000   // the System Reset Controller
#define MAP_UART 0x021e8000  // UART2, which the board's console connector has
#define MAP_LINE_IRQ 59      // its interrupt

#include "memory_map.h"

#endif
