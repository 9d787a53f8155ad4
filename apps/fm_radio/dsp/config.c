// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) #name, offsetof(struct fm_config, name)

const struct fm_param fm_params[] = {
    { FIELD(sample_rate), 1, 1e9, false },     { FIELD(decimation), 1, FM_DECIMATION_MAX, true },
    { FIELD(audio_rate), 1, 1e9, false },      { FIELD(offset_hz), -1e9, 1e9, false },
    { FIELD(deemphasis_us), 0, 1e6, false },   { FIELD(lpf_taps), 1, FM_TAPS_MAX, true },
    { FIELD(lpf_cutoff_hz), 1, 1e9, false },   { FIELD(bpf_taps), 1, FM_TAPS_MAX, true },
    { FIELD(audio_cutoff_hz), 1, 1e9, false }, { FIELD(volume), 0, 1e6, false },
    { FIELD(bands), 1, FM_BANDS_MAX, true },   { FIELD(frame_samples), 1, 1 << 20, true },
    { FIELD(station_hz), 0, 1e12, false },
};
const size_t fm_param_count = sizeof fm_params / sizeof *fm_params;

void fm_config_init(struct fm_config *config)
{
    *config = (struct fm_config){
        .sample_rate = 240000,
        .decimation = 1,
        .audio_rate = 48000,
        .offset_hz = 4000,
        .deemphasis_us = 75,
        .lpf_taps = 64,
        .lpf_cutoff_hz = 90000,
        .bpf_taps = 128,
        .audio_cutoff_hz = 16000,
        .volume = 1,
        .bands = 3,
        .frame_samples = 4800,
    };
    for (uint32_t i = 0; i < FM_BANDS_MAX; i++)
        config->gain[i] = 1;
}

static double *field(const struct fm_config *config, const struct fm_param *param)
{
    return (double *)((char *)config + param->at);
}

double *fm_config_field(struct fm_config *config, const char *name)
{
    for (size_t i = 0; i < fm_param_count; i++)
        if (strcmp(fm_params[i].name, name) == 0)
            return field(config, &fm_params[i]);
    return NULL;
}

bool fm_config_gains(struct fm_config *config, const char *text, char why[FM_WHY_BYTES])
{
    const uint32_t bands = (uint32_t)config->bands;
    const char *at = text;
    char *end = NULL;

    for (uint32_t i = 0; i < bands; i++, at = end + 1) {
        config->gain[i] = strtod(at, &end);
        if (end == at || *end != (i + 1 < bands ? ',' : '\0')) {
            snprintf(why, FM_WHY_BYTES,
                     "band_gains is \"%.100s\": give one number for each of the %u bands, with "
                     "commas between them",
                     text, bands);
            return false;
        }
    }
    return true;
}

static bool in_range(const struct fm_config *config, const struct fm_param *param, char *why)
{
    const double value = *field(config, param);

    // Negated, so that NaN is refused too.
    if (!(value >= param->min && value <= param->max)) {
        snprintf(why, FM_WHY_BYTES, "%s is %g: give a number from %g to %g", param->name, value,
                 param->min, param->max);
        return false;
    }
    if (param->integer && value != floor(value)) {
        snprintf(why, FM_WHY_BYTES, "%s is %g: give a whole number", param->name, value);
        return false;
    }
    return true;
}

static bool rates_fit(const struct fm_config *config, char *why)
{
    const double rate = fm_config_demodulated_rate(config);
    const double ratio = rate / config->audio_rate;

    if (rate < 2 * FM_DEVIATION_HZ) {
        snprintf(why, FM_WHY_BYTES,
                 "%s is %g: sample_rate / decimation is %g Hz, but broadcast FM swings by %d Hz to "
                 "either side and needs at least %d Hz",
                 config->decimation > 1 ? "decimation" : "sample_rate",
                 config->decimation > 1 ? config->decimation : config->sample_rate, rate,
                 FM_DEVIATION_HZ, 2 * FM_DEVIATION_HZ);
        return false;
    }
    if (ratio != floor(ratio) || ratio < 1 || ratio > FM_DECIMATION_MAX) {
        snprintf(why, FM_WHY_BYTES,
                 "audio_rate is %g: sample_rate / decimation / audio_rate is %g, choose rates that "
                 "make it a whole number from 1 to %d",
                 config->audio_rate, ratio, FM_DECIMATION_MAX);
        return false;
    }
    return true;
}

static bool below_half(const char *name, double cutoff, const char *rate_name, double rate,
                       char *why)
{
    if (cutoff <= rate / 2)
        return true;
    snprintf(why, FM_WHY_BYTES, "%s is %g Hz: it must not be above half of %s, %g Hz", name, cutoff,
             rate_name, rate / 2);
    return false;
}

bool fm_config_check(const struct fm_config *config, char why[FM_WHY_BYTES])
{
    for (size_t i = 0; i < fm_param_count; i++)
        if (!in_range(config, &fm_params[i], why))
            return false;
    return rates_fit(config, why) &&
           below_half("lpf_cutoff_hz", config->lpf_cutoff_hz, "sample_rate", config->sample_rate,
                      why) &&
           below_half("audio_cutoff_hz", config->audio_cutoff_hz, "audio_rate", config->audio_rate,
                      why);
}

double fm_config_demodulated_rate(const struct fm_config *config)
{
    return config->sample_rate / config->decimation;
}

uint32_t fm_config_audio_decimation(const struct fm_config *config)
{
    return (uint32_t)(fm_config_demodulated_rate(config) / config->audio_rate);
}
