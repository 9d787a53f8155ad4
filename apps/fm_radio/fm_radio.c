// SPDX-License-Identifier: Apache-2.0
// The FM radio as tasks (acquaviva2008, figure 8): lpf -> demodulator -> bpf, several -> sum.
//
// Each task takes a frame, filters it, gives it on, and passes one checkpoint. Where computing is
// modelled, frames have their places and sizes but no content, and no file is touched. See frame.h
// for how they survive the death of a core.
#include <assert.h>

#include "common/tasks.h"
#include "dsp/stages.h"
#include "frame.h"

enum { POLL_NS = 2000000 };  // how often a live source is looked at

static struct fm_radio *radio_of(struct wb_task *self)
{
    return wb_task_app(self)->state;
}

// ---- Low-pass filter: the producer --------------------------------------------------------------

struct lpf_state {
    uint64_t next;          // place of the first sample that was not given out
    struct fm_input input;  // its own, so that a checkpoint image knows how far it has read
    struct fm_lpf filter;
    _Alignas(16) uint8_t room[];  // of fm_stage_read()
};

static void lpf_filter(struct wb_task *self, struct lpf_state *state, struct fm_frame *frame)
{
    const struct fm_config *config = &radio_of(self)->config;
    char why[FM_WHY_BYTES];

    const int64_t n = fm_stage_read(&state->filter, &state->input, config, state->room, frame->data,
                                    fm_frame_im(frame, config), why);
    if (n < 0)
        wb_task_fail(self, why);
    frame->samples = (uint32_t)n;
}

// Reads and filters one frame; it is empty at the end of the recording.
static void lpf_fill(struct wb_task *self, struct lpf_state *state, struct fm_frame *frame)
{
    const uint32_t decimation = state->filter.fir.decimation;
    struct fm_input *input = &state->input;

    frame->first = input->at / decimation;
    frame->samples = 0;
    if (input->at == input->end)
        return;
    if (wb_compute(self)) {
        lpf_filter(self, state, frame);
    } else {
        fm_input_seek(input, input->at + fm_frame_input(&radio_of(self)->config));
        frame->samples = (uint32_t)(input->at / decimation - frame->first);
    }
}

// Waits for the samples of a live source; false when the run is to end.
static bool lpf_await(struct wb_task *self, struct lpf_state *state, const struct fm_outlet *out)
{
    const struct fm_radio *radio = radio_of(self);

    while (!wb_stopping(self)) {
        if (!radio->live || fm_live_has(radio->live, &state->input, fm_frame_input(&radio->config)))
            return true;
        wb_sleep_until(wb_now_ns() + POLL_NS);
        if (!out->slot[0])
            wb_checkpoint();
    }
    return false;
}

// A live source has its own time. After a restart the frame before the current one is read again.
static void lpf_end_frame(struct wb_task *self, const struct lpf_state *state)
{
    const struct fm_radio *radio = radio_of(self);
    const uint32_t frame_input = fm_frame_input(&radio->config);

    if (!radio->live)
        wb_period_wait(self);
    else if (state->input.at > frame_input)
        fm_live_pass(radio->live, state->input.at - frame_input);
}

// After a restart it reads the frame before the next one again.
static void lpf_seek(const struct fm_radio *radio, struct lpf_state *state)
{
    const uint64_t frame_samples = (uint64_t)radio->config.frame_samples;
    const uint64_t place = state->next > frame_samples ? state->next - frame_samples : 0;

    fm_stage_lpf(&state->filter, &radio->config);
    fm_lpf_seek(&state->filter, place * state->filter.fir.decimation);
    state->input = radio->input;
    fm_input_seek(&state->input, place * state->filter.fir.decimation);
}

int lpf(struct wb_task *self)
{
    const struct fm_radio *radio = radio_of(self);
    struct lpf_state *state =
        task_keep(self, sizeof *state + fm_stage_room(&radio->input, &radio->config));
    struct fm_outlet out = fm_outlet_open(self, fm_frame_complex_bytes(&radio->config));
    struct fm_frame *frame;

    lpf_seek(radio, state);
    while (lpf_await(self, state, &out) && (frame = fm_outlet_claim(&out))) {
        lpf_fill(self, state, frame);
        if (frame->samples == 0)
            break;
        if (!fm_outlet_give(&out, frame->first, frame->samples, &state->next))
            continue;
        lpf_end_frame(self, state);
        wb_checkpoint();
    }
    return 0;
}

// ---- Demodulator: also the split ----------------------------------------------------------------

struct demodulator_state {
    uint64_t next;
    struct fm_demodulator filter;
};

int demodulator(struct wb_task *self)
{
    const struct fm_config *config = &radio_of(self)->config;
    struct demodulator_state *state = task_keep(self, sizeof *state);
    struct fm_intake in = fm_intake_open(self, 0, fm_frame_complex_bytes(config));
    struct fm_outlet out = fm_outlet_open(self, fm_frame_bytes(config));
    const struct fm_frame *frame;
    struct fm_frame *made;

    fm_stage_demodulator(&state->filter, config);
    while ((frame = fm_intake_next(&in)) && (made = fm_outlet_claim(&out))) {
        made->first = frame->first;
        made->samples = frame->samples;
        if (wb_compute(self))
            fm_demodulator_process(&state->filter, frame->data, fm_frame_im_of(frame, config),
                                   frame->samples, made->data);
        if (fm_outlet_give(&out, frame->first, frame->samples, &state->next))
            wb_checkpoint();
    }
    fm_intake_end(&in);
    return 0;
}

// ---- Band-pass filter: one task a band ----------------------------------------------------------

struct bpf_state {
    uint64_t next;  // a place in the input
    struct fm_bpf filter;
};

static void bpf_fill(struct wb_task *self, struct bpf_state *state, const struct fm_intake *in,
                     const struct fm_frame *frame, struct fm_frame *made)
{
    const uint32_t decimation = state->filter.fir.decimation;
    const uint64_t end = frame->first + frame->samples;

    made->first = frame->first / decimation;
    if (!wb_compute(self)) {
        made->samples = (uint32_t)(end / decimation - made->first);
        return;
    }
    if (in->jumped)
        fm_bpf_seek(&state->filter, frame->first);
    made->samples = fm_bpf_process(&state->filter, frame->data, frame->samples, made->data);
}

int bpf(struct wb_task *self)
{
    const struct fm_config *config = &radio_of(self)->config;
    struct bpf_state *state = task_keep(self, sizeof *state);
    struct fm_intake in = fm_intake_open(self, 0, fm_frame_bytes(config));
    struct fm_outlet out = fm_outlet_open(self, fm_frame_bytes(config));
    const struct fm_frame *frame;
    struct fm_frame *made;

    fm_stage_bpf(&state->filter, config, wb_task_index(self));
    while ((frame = fm_intake_next(&in)) && (made = fm_outlet_claim(&out))) {
        bpf_fill(self, state, &in, frame, made);
        if (fm_outlet_give(&out, frame->first, frame->samples, &state->next))
            wb_checkpoint();
    }
    fm_intake_end(&in);
    return 0;
}

// ---- Weighted sum: the consumer, also the join --------------------------------------------------

// The de-emphasis never forgets, so no frame refills its memory: it is kept here, twice, and `now`
// says which of the two holds after the frame that was given out last.
struct sum_state {
    struct sum_past {
        uint64_t next;
        float x, y;
    } past[2];
    struct wb_word now;
    struct fm_sum filter;
    float audio[];
};

// Takes the next frame of each band; false at the end of the stream. They are taken in order, so
// after a restart the first band may be ahead of another, never behind.
static bool sum_take(struct fm_intake *in, uint32_t bands, const float **band, uint64_t *first,
                     uint32_t *samples)
{
    for (uint32_t i = 0; i < bands; i++) {
        const struct fm_frame *frame;

        do {
            frame = fm_intake_next(&in[i]);
            if (!frame)
                return false;
        } while (i > 0 && frame->first < *first);
        assert(i == 0 || (frame->first == *first && frame->samples == *samples));
        *first = frame->first;
        *samples = frame->samples;
        band[i] = frame->data;
    }
    return true;
}

// A frame's place is also its place in the file, so that writing it twice does no harm.
static void sum_write(struct wb_task *self, struct sum_state *state, uint64_t first,
                      uint32_t samples)
{
    struct fm_output *output = &radio_of(self)->output;
    struct fm_speaker *speaker = radio_of(self)->speaker;
    char why[FM_WHY_BYTES];

    if (speaker)
        fm_speaker_play(speaker, first, state->audio, samples);
    output->samples = first;
    if (!fm_output_write(output, state->audio, samples, why))
        wb_task_fail(self, why);
}

// Relaxed: only this task writes it.
static uint32_t now_of(const struct sum_state *state)
{
    return wb_word_load(&state->now, WB_RELAXED);
}

static void sum_note(struct sum_state *state, uint64_t next)
{
    const uint32_t other = 1 - now_of(state);

    state->past[other] = (struct sum_past){ next, state->filter.x, state->filter.y };
    // Release: complete before it holds.
    wb_word_store(&state->now, other, WB_RELEASE);
}

int sum(struct wb_task *self)
{
    const struct fm_config *config = &radio_of(self)->config;
    const uint32_t bands = (uint32_t)config->bands;
    struct sum_state *state =
        task_keep(self, sizeof *state + fm_frame_audio(config) * sizeof(float));
    struct fm_intake in[FM_BANDS_MAX];
    const float *band[FM_BANDS_MAX];
    uint64_t first = 0;
    uint32_t samples = 0;

    for (uint32_t i = 0; i < bands; i++)
        in[i] = fm_intake_open(self, i, fm_frame_bytes(config));
    fm_stage_sum(&state->filter, config);
    state->filter.x = state->past[now_of(state)].x;
    state->filter.y = state->past[now_of(state)].y;
    while (sum_take(in, bands, band, &first, &samples)) {
        if (first >= state->past[now_of(state)].next) {
            if (wb_compute(self)) {
                fm_sum_process(&state->filter, band, samples, state->audio);
                sum_write(self, state, first, samples);
            }
            sum_note(state, first + samples);
            if (!radio_of(self)->live)
                wb_period_wait(self);
        }
        wb_checkpoint();
    }
    for (uint32_t i = 0; i < bands; i++)
        fm_intake_end(&in[i]);
    return 0;
}
