// SPDX-License-Identifier: Apache-2.0
// A sound at another rate: a windowed sinc, which passes what both rates can carry. It keeps
// nothing between calls, and needs no library.
#ifndef VOIP_RESAMPLE_H
#define VOIP_RESAMPLE_H

#include <stdint.h>

enum { RESAMPLE_CROSSINGS = 16 };  // of the sinc with zero, on either side

/// How many samples at rate `from` before and behind its place one at rate `to` is made of.
///
/// Context: any. Never blocks.
static inline uint32_t resample_margin(uint32_t from, uint32_t to)
{
    return RESAMPLE_CROSSINGS * (from > to ? (from + to - 1) / to : 1);
}

/// Makes samples `first` to `first` + `n` of a sound at rate `to`.
///
/// `in` is the sound at rate `from`: a margin, the sample at the place of `first` or before it, and
/// so on as far as a margin behind the last.
/// Context: any. Never blocks.
void resample(const int16_t *in, uint32_t from, uint32_t to, uint64_t first, int16_t *out,
              uint32_t n);

#endif
