// SPDX-License-Identifier: Apache-2.0
// The radio's numbers, by the names that they have in [params] of app.toml.
#ifndef FM_CONFIG_H
#define FM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sum.h"

enum {
    FM_DEVIATION_HZ = 75000,  // of broadcast FM: the demodulator's full scale
    FM_WHY_BYTES = 256,
};

// Counts are doubles as well, so that one table reads and checks them all.
struct fm_config {
    double sample_rate;    // of the input, Hz
    double decimation;     // of the low-pass
    double audio_rate;     // of the output, Hz
    double offset_hz;      // where the station is in the input
    double station_hz;     // where it is on the air, for an input that says its own frequency; or 0
    double deemphasis_us;  // 75 in the Americas, 50 elsewhere, 0 for none
    double lpf_taps;
    double lpf_cutoff_hz;  // half the width of the channel
    double bpf_taps;
    double audio_cutoff_hz;  // the upper edge of the highest band
    double volume;           // gain of the output
    double bands;            // how many there are
    double frame_samples;    // in one frame, after the low-pass
    double gain[FM_BANDS_MAX];
};

struct fm_param {
    const char *name;
    size_t at;  // of a double in struct fm_config
    double min, max;
    bool integer;
};

extern const struct fm_param fm_params[];
extern const size_t fm_param_count;

/// Sets every number to its default: cold_day_240k.cu8, three bands of equal gain.
///
/// Context: any. Never blocks.
void fm_config_init(struct fm_config *config);

/// Gives the field that a parameter sets, or NULL where no parameter has that name.
///
/// Context: any. Never blocks.
double *fm_config_field(struct fm_config *config, const char *name);

/// Reads the gains of the bands from text: numbers with commas between them, one for each band.
///
/// Context: any. Never blocks.
/// Returns: false, with the reason in `why`, where the text is no such list.
bool fm_config_gains(struct fm_config *config, const char *text, char why[FM_WHY_BYTES]);

/// Says whether a radio can be built from these numbers.
///
/// Context: any. Never blocks.
/// Returns: false, with the reason in `why`, where it cannot. Every reason, here and of the files,
///          begins with the name of the parameter to change.
bool fm_config_check(const struct fm_config *config, char why[FM_WHY_BYTES]);

/// Gives the demodulator's sample rate in Hz, and how many of its samples make one of audio.
///
/// Context: any, after fm_config_check() agreed. Never blocks.
double fm_config_demodulated_rate(const struct fm_config *config);
uint32_t fm_config_audio_decimation(const struct fm_config *config);

#endif
