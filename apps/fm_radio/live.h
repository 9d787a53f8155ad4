// SPDX-License-Identifier: Apache-2.0
// A live source and a sound card in the place of files.
//
// Devices belong to the process that opened them, and tasks move: so a thread of the launcher has
// the device, and between it and the task is a ring in a file of the memory, which every kernel
// reads and writes by place. A task that starts again finds in it what it had before.
#ifndef FM_LIVE_H
#define FM_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "dsp/input.h"
#include "ring.h"
#include "wb/wb.h"

// Where nothing is said, the thread writes until `is_over`, and then the launcher alone.
struct fm_live {
    struct fm_ring ring;
    struct wb_counter lost;      // samples that found the ring full
    struct wb_counter overruns;  // how often that was
    struct wb_word is_over;      // nothing comes any more
    struct wb_word is_stopped;   // nothing is wanted any more; the launcher
    char why[FM_WHY_BYTES];      // what is wrong; "": nothing
    struct fm_device *device;    // of the launcher's process
};

struct fm_speaker {
    struct fm_ring ring;
    struct wb_word is_over, is_stopped;  // as above
    uint32_t dry;                        // how often the card had nothing to play
    char why[FM_WHY_BYTES];
    struct fm_player *player;  // of the launcher's process
};

/// True when the next `samples` are there, or no more come: then `input` ends.
///
/// Context: the task that reads. Never blocks.
bool fm_live_has(struct fm_live *live, struct fm_input *input, uint32_t samples);

/// Says that all before sample `place` is read for good.
///
/// Context: the task that reads. Never blocks.
void fm_live_pass(struct fm_live *live, uint64_t place);

/// Plays samples, of which the first is at `place` of the sound.
///
/// Context: the task that plays. Blocks while the card is full.
void fm_speaker_play(struct fm_speaker *speaker, uint64_t place, const float *audio,
                     uint32_t samples);

#endif
