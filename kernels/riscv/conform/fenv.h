// SPDX-License-Identifier: Apache-2.0
// <fenv.h> of C11 where floating point is computed by the compiler's library, which rounds to the
// nearest and raises no flags: picolibc has no names for more there.
#ifndef CONFORM_FENV_H
#define CONFORM_FENV_H

enum {
    FE_TONEAREST,
    FE_UPWARD,
    FE_DOWNWARD,
    FE_TOWARDZERO,
    FE_INVALID,
    FE_DIVBYZERO,
    FE_ALL_EXCEPT = 0,
};

static inline int fegetround(void)
{
    return FE_TONEAREST;
}

static inline int fesetround(int way)
{
    return way != FE_TONEAREST;
}

static inline int fetestexcept(int flags)
{
    (void)flags;
    return 0;
}

static inline int feclearexcept(int flags)
{
    return flags != FE_ALL_EXCEPT;
}

#endif
