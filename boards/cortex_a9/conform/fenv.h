// SPDX-License-Identifier: Apache-2.0
// <fenv.h> of C11 for an Arm floating-point unit: newlib 3.3 has none. Bits of FPSCR (Arm ARM,
// B4.1.58).
#ifndef CONFORM_FENV_H
#define CONFORM_FENV_H

enum {
    FE_INVALID = 1,
    FE_DIVBYZERO = 2,
    FE_ALL_EXCEPT = 0x9f,
    FE_TONEAREST = 0,
    FE_UPWARD = 0x400000,
    FE_DOWNWARD = 0x800000,
    FE_TOWARDZERO = 0xc00000,
};

static inline int fe_get(void)
{
    int fpscr;

    __asm__ volatile("vmrs %0, fpscr" : "=r"(fpscr));
    return fpscr;
}

static inline void fe_set(int bits, int mask)
{
    __asm__ volatile("vmsr fpscr, %0" ::"r"((fe_get() & ~mask) | bits));
}

static inline int fegetround(void)
{
    return fe_get() & FE_TOWARDZERO;
}

static inline int fesetround(int way)
{
    fe_set(way, FE_TOWARDZERO);
    return 0;
}

static inline int fetestexcept(int flags)
{
    return fe_get() & flags;
}

static inline int feclearexcept(int flags)
{
    fe_set(0, flags);
    return 0;
}

#endif
