// SPDX-License-Identifier: Apache-2.0
// Arm's Power State Coordination Interface (DEN 0022), as QEMU has it.
#ifndef VIRT_A64_PSCI_H
#define VIRT_A64_PSCI_H

#include <stdint.h>

enum psci_function { PSCI_CPU_ON = 0xc4000003, PSCI_AFFINITY_INFO = 0xc4000004 };

/// Calls a function for a core; `entry`: where PSCI_CPU_ON lets it begin.
///
/// Returns: negative: it cannot be, as for a core that is not there.
static inline int64_t psci(enum psci_function function, uint32_t core, uintptr_t entry)
{
    register int64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = core;
    register uint64_t x2 __asm__("x2") = entry;
    register uint64_t x3 __asm__("x3") = 0;

    __asm__ volatile("hvc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"x4", "x5", "x6", "x7", "x8", "x9",
                       "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory");
    return x0;
}

#endif
