// SPDX-License-Identifier: Apache-2.0
// A sound card in the place of recordings: ALSA's, where the application was built with it.
//
// The card belongs to the process that opened it. What does not fit its buffers is left to the
// caller, and what is not there yet is silence: the caller keeps the time.
#ifndef APPS_CARD_H
#define APPS_CARD_H

#include <stddef.h>
#include <stdint.h>

enum { CARD_WHY_BYTES = 128 };
enum card_use { CARD_PLAYS = 1, CARD_RECORDS = 2 };  // both: their sum

struct card;

/// Opens a card by ALSA's name for it, one channel of 16 bits each way.
///
/// `samples` is how many are played and recorded at once; `use` is of enum card_use.
/// Context: the process that uses it. May block as ALSA does.
/// Memory:  the card is from the C library's heap, and stays until card_close() or the task's end.
/// Returns: the card; NULL, with the reason in `why`.
struct card *card_open(const char *name, unsigned use, uint32_t rate, uint32_t samples,
                       char why[CARD_WHY_BYTES]);

/// Plays what fits the card's buffer. One that ran dry begins again, and counts that in `*dry`
/// (NULL: is not asked).
///
/// Context: the process that opened it. Never blocks.
/// Returns: how many samples were taken; less than 0 where the card is gone.
int64_t card_play(struct card *card, const int16_t *samples, size_t n, uint32_t *dry);

/// Context: as card_play().
void card_record(struct card *card, int16_t *samples, size_t n);

/// Plays what it still has, and closes the card.
///
/// Context: the process that opened it. Blocks until that is done.
void card_close(struct card *card);

#endif
