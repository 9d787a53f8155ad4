// SPDX-License-Identifier: Apache-2.0
// The sound card of struct fm_devices.
#ifndef FM_SPEAKER_H
#define FM_SPEAKER_H

#include <stdbool.h>

struct fm_radio;
struct wb_app;

/// Context, and what they return: fm_devices.speaker_open and speaker_finish.
bool fm_speaker_open(struct wb_app *app, struct fm_radio *radio);
bool fm_speaker_finish(struct wb_app *app, struct fm_radio *radio);

#endif
