// SPDX-License-Identifier: Apache-2.0
// For an application that is built where ALSA is not installed.
#include <stdio.h>
#include <string.h>

#include "card.h"

struct card *card_open(const char *name, unsigned use, uint32_t rate, uint32_t samples,
                       char why[CARD_WHY_BYTES])
{
    (void)use;
    (void)rate;
    (void)samples;
    snprintf(why, CARD_WHY_BYTES,
             "card \"%.20s\" cannot be used without ALSA: install libasound2-dev, and build again",
             name);
    return NULL;
}

int64_t card_play(struct card *card, const int16_t *samples, size_t n, uint32_t *dry)
{
    (void)card;
    (void)samples;
    (void)dry;
    return (int64_t)n;
}

void card_record(struct card *card, int16_t *samples, size_t n)
{
    (void)card;
    memset(samples, 0, n * sizeof *samples);
}

void card_close(struct card *card)
{
    (void)card;
}
