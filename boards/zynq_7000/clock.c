// SPDX-License-Identifier: Apache-2.0
// The boot loader sets the cores' frequency in the System-Level Control Registers: a PLL multiplies
// the crystal's, and a divisor follows. The cores' timers count at half of it.

#include "mpcore_clock.h"

#define REGISTER(offset) (*(volatile uint32_t *)(MAP_SLCR + (offset)))
#define PLL_CTRL(pll) REGISTER(0x100 + 4 * (pll))  // of ARM, DDR and IO
#define ARM_CLK_CTRL REGISTER(0x120)

enum { ARM_PLL = 0, BYPASSED = 1 << 4, USUAL_HZ = 333333333 };  // BYPASSED: of PLL_CTRL

uint32_t clock_find_hz(const char **wrong)
{
    const uint32_t clock = ARM_CLK_CTRL, source = clock >> 4 & 3, divisor = clock >> 8 & 0x3f;
    const uint32_t pll = PLL_CTRL(source < 2 ? ARM_PLL : source - 1);
    const uint64_t factor = (pll & BYPASSED) != 0 ? 1 : pll >> 12 & 0x7f;

    if (factor == 0 || divisor == 0) {
        *wrong = "the frequency of the cores is not set in the SLCR: start the board by its "
                 "first-stage boot loader";
        return USUAL_HZ;
    }
    return (uint32_t)(MAP_CRYSTAL_HZ * factor / divisor / 2);
}
