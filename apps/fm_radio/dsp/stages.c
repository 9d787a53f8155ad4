// SPDX-License-Identifier: Apache-2.0
#include "stages.h"

// What is not filtered as it comes is converted in pieces, of whole blocks of the filter.
enum { PIECE_SAMPLES = FM_BLOCK * FM_DECIMATION_MAX };

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

size_t fm_stage_room(const struct fm_input *input, const struct fm_config *config)
{
    if (fm_format_is_cu8(&input->format))
        return (size_t)2 * fm_frame_input(config);
    return PIECE_SAMPLES * 2 * (sizeof(float) + input->format.bytes);
}

int64_t fm_stage_read(struct fm_lpf *lpf, struct fm_input *input, const struct fm_config *config,
                      uint8_t *room, float *re, float *im, char why[FM_WHY_BYTES])
{
    const uint32_t block = FM_BLOCK * lpf->fir.decimation, most = PIECE_SAMPLES / block * block;
    float *pairs = (float *)(void *)room;
    uint8_t *raw = (uint8_t *)(pairs + (size_t)2 * PIECE_SAMPLES);
    uint32_t left = fm_frame_input(config), made = 0;

    if (fm_format_is_cu8(&input->format)) {
        const int64_t n = fm_input_read(input, room, left, why);

        return n < 0 ? n : fm_lpf_process(lpf, room, (uint32_t)n, re, im);
    }
    while (left > 0) {
        const uint32_t wanted = left < most ? left : most;
        const int64_t n = fm_input_read(input, raw, wanted, why);

        if (n < 0)
            return n;
        fm_format_convert(&input->format, raw, (uint32_t)n, pairs);
        made += fm_lpf_process_floats(lpf, pairs, (uint32_t)n, re + made, im + made);
        left = n < wanted ? 0 : left - wanted;
    }
    return made;
}

uint32_t fm_frame_input(const struct fm_config *config)
{
    return (uint32_t)config->frame_samples * (uint32_t)config->decimation;
}

uint32_t fm_frame_audio(const struct fm_config *config)
{
    return (uint32_t)config->frame_samples / fm_config_audio_decimation(config) + 1;
}
