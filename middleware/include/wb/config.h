// SPDX-License-Identifier: Apache-2.0
// What the kernels of a program choose of the middleware. The compiler is told the header of their
// choices: -DWB_CONFIG='"riscv_config.h"'. A choice that it does not make is the one below.
#ifndef WB_CONFIG_H
#define WB_CONFIG_H

#ifdef WB_CONFIG
#include WB_CONFIG
#endif

// 1: a task gives way only where it calls the kernel, and interrupts call nothing of the
// middleware. Then nothing comes between two of its steps, and no step has to be taken again.
#ifndef WB_COOPERATIVE
#define WB_COOPERATIVE 0
#endif

// 1: nothing that the middleware does costs virtual time: wb_kernel_charge() is not even a call.
#ifndef WB_CHARGES_NOTHING
#define WB_CHARGES_NOTHING 0
#endif

// The operations of wb/word.h: WB_OPS_* (wb/word_ops.h).

#endif
