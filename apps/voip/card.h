// SPDX-License-Identifier: Apache-2.0
// A sound card in the place of recordings: ALSA's, where the phone was built with it.
//
// The card belongs to the process that opened it. What does not fit its buffers is lost, and what
// is not there yet is silence: the caller keeps the time.
#ifndef VOIP_CARD_H
#define VOIP_CARD_H

#include <stddef.h>
#include <stdint.h>

enum { CARD_WHY_BYTES = 128 };

struct card;

/// Opens a card by ALSA's name for it, one channel of 16 bits each way.
///
/// `samples` is how many are played and recorded at once.
/// Context: the task that uses it. May block as ALSA does.
/// Memory:  the card is from the task's heap, and stays until the task ends.
/// Returns: the card; NULL, with the reason in `why`.
struct card *card_open(const char *name, uint32_t rate, uint32_t samples, char why[CARD_WHY_BYTES]);

/// Context: the task that opened it. Never blocks.
void card_play(struct card *card, const int16_t *samples, size_t n);

/// Context: as card_play().
void card_record(struct card *card, int16_t *samples, size_t n);

#endif
