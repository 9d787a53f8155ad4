// SPDX-License-Identifier: Apache-2.0
// For a phone that is built where ALSA is not installed.
#include <stdio.h>
#include <string.h>

#include "card.h"

struct card *card_open(const char *name, uint32_t rate, uint32_t samples, char why[CARD_WHY_BYTES])
{
    (void)rate;
    (void)samples;
    snprintf(why, CARD_WHY_BYTES,
             "card \"%.30s\" cannot be used: the phone was built without ALSA (libasound2-dev)",
             name);
    return NULL;
}

void card_play(struct card *card, const int16_t *samples, size_t n)
{
    (void)card;
    (void)samples;
    (void)n;
}

void card_record(struct card *card, int16_t *samples, size_t n)
{
    (void)card;
    memset(samples, 0, n * sizeof *samples);
}
