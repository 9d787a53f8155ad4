// SPDX-License-Identifier: Apache-2.0
// A live source and a sound card, which are in a library of their own (fm_radio_live.so).
//
// It is loaded by the launcher where a run asks for one. What is loaded with the module has the
// heap and the globals that all kernels share, which is nothing for a driver with threads.
#ifndef FM_DEVICES_H
#define FM_DEVICES_H

#include <stdbool.h>

#include "frame.h"

struct fm_devices {
    /// Opens the live source that a run has as its `input`, for radio->input and radio->live.
    ///
    /// Context: wb_app_setup(). Blocks up to some seconds for who does not answer.
    /// Returns: false, with the reason in `app->error`.
    bool (*live_open)(struct wb_app *app, struct fm_radio *radio);

    /// Ends the source, and says what came of it.
    ///
    /// Context: wb_app_finish().
    /// Returns: false, with the reason in `app->error`, where the source failed.
    bool (*live_finish)(struct wb_app *app, struct fm_radio *radio);

    /// Opens the sound card `card` for what is played, for radio->speaker.
    ///
    /// Context: wb_app_setup(). May block as ALSA does.
    /// Returns: false, with the reason in `app->error`.
    bool (*speaker_open)(struct wb_app *app, struct fm_radio *radio);

    /// Plays what is left, closes the card, and says what came of it.
    ///
    /// Context: wb_app_finish().
    /// Returns: false, with the reason in `app->error`, where the card failed.
    bool (*speaker_finish)(struct wb_app *app, struct fm_radio *radio);
};

/// Loads the library from where the module is, once.
///
/// Context: wb_app_setup() and wb_app_finish().
/// Returns: NULL, with the reason in `app->error`.
const struct fm_devices *fm_devices_load(struct wb_app *app);

#endif
