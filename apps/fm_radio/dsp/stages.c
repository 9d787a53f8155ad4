// SPDX-License-Identifier: Apache-2.0
#include "stages.h"

void fm_stage_lpf(struct fm_lpf *lpf, const struct fm_config *config)
{
    fm_lpf_init(lpf, config->offset_hz / config->sample_rate,
                config->lpf_cutoff_hz / config->sample_rate, (uint32_t)config->lpf_taps,
                (uint32_t)config->decimation);
}

void fm_stage_demodulator(struct fm_demodulator *demodulator, const struct fm_config *config)
{
    fm_demodulator_init(demodulator, FM_DEVIATION_HZ / fm_config_demodulated_rate(config));
}

void fm_stage_bpf(struct fm_bpf *bpf, const struct fm_config *config, uint32_t band)
{
    fm_bpf_init(bpf, band, (uint32_t)config->bands,
                config->audio_cutoff_hz / fm_config_demodulated_rate(config),
                (uint32_t)config->bpf_taps, fm_config_audio_decimation(config));
}

void fm_stage_sum(struct fm_sum *sum, const struct fm_config *config)
{
    const uint32_t bands = (uint32_t)config->bands;
    double gain[FM_BANDS_MAX];

    for (uint32_t i = 0; i < bands; i++)
        gain[i] = config->volume * config->gain[i];
    fm_sum_init(sum, gain, bands, config->deemphasis_us * 1e-6 * config->audio_rate);
}

uint32_t fm_frame_input(const struct fm_config *config)
{
    return (uint32_t)config->frame_samples * (uint32_t)config->decimation;
}

uint32_t fm_frame_audio(const struct fm_config *config)
{
    return (uint32_t)config->frame_samples / fm_config_audio_decimation(config) + 1;
}
