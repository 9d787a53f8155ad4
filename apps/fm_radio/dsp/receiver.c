// SPDX-License-Identifier: Apache-2.0
#include "receiver.h"

#include <stdio.h>
#include <stdlib.h>

#include "stages.h"

struct receiver {
    struct fm_lpf lpf;
    struct fm_demodulator demodulator;
    struct fm_sum sum;
    struct fm_bpf *bpf;  // one a band
    uint8_t *room;       // of fm_stage_read()
    float *re, *im, *demodulated, *audio;
    float *filtered[FM_BANDS_MAX];
};

static void *aligned(size_t count, size_t bytes)
{
    return aligned_alloc(64, (count * bytes + 63) / 64 * 64);
}

static bool build(struct receiver *radio, const struct fm_config *config,
                  const struct fm_input *input)
{
    const uint32_t bands = (uint32_t)config->bands;
    const uint32_t demodulated = (uint32_t)config->frame_samples + 1;
    bool complete = true;

    radio->bpf = aligned(bands, sizeof *radio->bpf);
    radio->room = aligned(fm_stage_room(input, config), 1);
    radio->re = aligned(demodulated, sizeof(float));
    radio->im = aligned(demodulated, sizeof(float));
    radio->demodulated = aligned(demodulated, sizeof(float));
    radio->audio = aligned(fm_frame_audio(config), sizeof(float));
    for (uint32_t i = 0; i < bands; i++) {
        radio->filtered[i] = aligned(fm_frame_audio(config), sizeof(float));
        complete = complete && radio->filtered[i];
    }
    if (!complete || !radio->bpf || !radio->room || !radio->re || !radio->im ||
        !radio->demodulated || !radio->audio)
        return false;

    fm_stage_lpf(&radio->lpf, config);
    fm_stage_demodulator(&radio->demodulator, config);
    for (uint32_t i = 0; i < bands; i++)
        fm_stage_bpf(&radio->bpf[i], config, i);
    fm_stage_sum(&radio->sum, config);
    return true;
}

static void drop(struct receiver *radio)
{
    free(radio->bpf);
    free(radio->room);
    free(radio->re);
    free(radio->im);
    free(radio->demodulated);
    free(radio->audio);
    for (uint32_t i = 0; i < FM_BANDS_MAX; i++)
        free(radio->filtered[i]);
    free(radio);
}

static uint32_t process(struct receiver *radio, uint32_t demodulated)
{
    uint32_t audio = 0;

    fm_demodulator_process(&radio->demodulator, radio->re, radio->im, demodulated,
                           radio->demodulated);
    for (uint32_t i = 0; i < radio->sum.bands; i++)
        audio = fm_bpf_process(&radio->bpf[i], radio->demodulated, demodulated, radio->filtered[i]);
    fm_sum_process(&radio->sum, (const float *const *)radio->filtered, audio, radio->audio);
    return audio;
}

static bool play(struct receiver *radio, const struct fm_config *config, struct fm_input *input,
                 struct fm_output *output, char why[FM_WHY_BYTES])
{
    int64_t n;

    while ((n = fm_stage_read(&radio->lpf, input, config, radio->room, radio->re, radio->im, why)) >
           0)
        if (!fm_output_write(output, radio->audio, process(radio, (uint32_t)n), why))
            return false;
    return n == 0 && fm_output_finish(output, why);
}

bool fm_receiver_run(const struct fm_config *config, struct fm_input *input,
                     struct fm_output *output, char why[FM_WHY_BYTES])
{
    struct receiver *radio = aligned(1, sizeof *radio);
    bool done = false;

    if (!radio) {
        snprintf(why, FM_WHY_BYTES, "not enough memory for the radio");
        return false;
    }
    *radio = (struct receiver){ 0 };
    if (build(radio, config, input))
        done = play(radio, config, input, output, why);
    else
        snprintf(why, FM_WHY_BYTES, "not enough memory for frames of %g samples",
                 config->frame_samples);
    drop(radio);
    return done;
}
