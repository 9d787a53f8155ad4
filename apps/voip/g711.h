// SPDX-License-Identifier: Apache-2.0
// G.711: A-law and µ-law, a byte for each sample of 16 bits.
//
// The tables of the recommendation say between which decision values a sample lies, and not where
// one belongs that is a decision value itself, or how it is cut to the 13 and 14 bits of the laws.
// There this is the G.711 of ITU-T G.191 (the Software Tool Library): a sample is cut by an
// arithmetic shift, and the negative ones are the complements of the others.
#ifndef VOIP_G711_H
#define VOIP_G711_H

#include <stdint.h>

/// Context: any. Never blocks.
uint8_t g711_alaw_encode(int16_t sample);
int16_t g711_alaw_decode(uint8_t code);
uint8_t g711_ulaw_encode(int16_t sample);
int16_t g711_ulaw_decode(uint8_t code);

#endif
