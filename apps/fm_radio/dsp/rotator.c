// SPDX-License-Identifier: Apache-2.0
#include "rotator.h"

#include <math.h>

uint32_t fm_phase_step(double cycles)
{
    return (uint32_t)llround((cycles - floor(cycles)) * 4294967296.0);
}

// Polynomials in turns for an eighth of a turn to either side of a quadrant's middle (minimax fits,
// 6e-7 and 4e-8), then the quadrant swaps them and sets the signs.
void fm_phasors_fill(struct fm_phasors *phasors, uint32_t phase, uint32_t step)
{
    const uint32_t eighth = 1u << 29;

    for (uint32_t i = 0; i < FM_BLOCK; i++) {  // hot
        const uint32_t at = phase + i * step;
        const uint32_t quadrant = (at + eighth) >> 30;
        const float t = (float)(int32_t)(at - (quadrant << 30)) * 0x1p-32f;
        const float u = t * t;
        const float sine = t * (6.28315388f + u * (-41.3255673f + u * 79.5314083f));
        const float cosine = 1 + u * (-19.7391673f + u * (64.9232286f + u * -83.6659189f));
        const float re = quadrant & 1 ? sine : cosine;
        const float im = quadrant & 1 ? cosine : sine;

        phasors->re[i] = (quadrant + 1) & 2 ? -re : re;
        phasors->im[i] = quadrant & 2 ? im : -im;
    }
}
