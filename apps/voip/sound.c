// SPDX-License-Identifier: Apache-2.0
// The microphone and the loudspeaker, frame by frame: recordings, or a sound card (`card`).
//
// What is played comes back into the microphone after `echo_ms`, as in a room. A period without a
// frame to play is silent. Frames that come much later than their period are skipped, so that a
// gap does not delay all that follows.
#include <errno.h>
#include <string.h>

#include "common/card.h"
#include "common/tasks.h"
#include "resample.h"
#include "voip.h"

enum {
    LATE_PERIODS = 2,
    ROOM_SAMPLES = 4800,                                      // the longest echo
    MOST_PTIME_MS = 60,                                       // of a frame
    LEAST_RATE = 8000,                                        // of a run
    INPUT_SAMPLES = INPUT_RATE_MOST / 1000 * MOST_PTIME_MS +  // of the input, that make a frame
                    2 * RESAMPLE_CROSSINGS * INPUT_RATE_MOST / LEAST_RATE + 1
};

struct sound {
    uint32_t call;
    uint32_t periods;  // of this call
    uint32_t first;    // number of the first frame that was played, at period `from`
    uint32_t from;
    uint32_t next;      // no frame before this one is played again
    uint32_t silent;    // periods in a row
    uint64_t recorded;  // samples of the output, in all calls
    bool is_heard;      // a frame was played in this call
    bool is_over;
    struct card *card;  // NULL: recordings
    int16_t room[ROOM_SAMPLES + CODEC_SAMPLES];
    int16_t input[INPUT_SAMPLES];
};

static void begin(struct sound *sound)
{
    sound->periods = sound->first = sound->from = sound->next = sound->silent = 0;
    sound->is_heard = false;
    memset(sound->room, 0, sizeof sound->room);
}

// ---- The loudspeaker ----------------------------------------------------------------------------

static bool is_wanted(struct sound *sound, const struct voip_frame *frame,
                      struct voip_sound_tally *tally)
{
    // The codec of a call may change in its midst.
    if (frame->head.call == 0 || frame->head.call >> 8 != sound->call >> 8 ||
        frame->head.number < sound->next)
        return false;
    if (!sound->is_heard)
        return true;
    const uint32_t due = sound->from + (frame->head.number - sound->first);
    const bool is_late = sound->periods > due + LATE_PERIODS;
    tally->skipped += is_late;
    return !is_late;
}

static void note_played(struct sound *sound, const struct voip_frame *frame)
{
    if (!sound->is_heard) {
        sound->first = frame->head.number;
        sound->from = sound->periods;
    }
    sound->is_heard = true;
    sound->next = frame->head.number + 1;
    sound->silent = 0;
}

// The next frame that is in time: a copy of its samples; false when there is none.
static bool take(struct sound *sound, const struct voip *voip, struct voip_sound_tally *tally,
                 struct wb_port *in, int16_t *played)
{
    const void *slot;
    enum wb_status status;

    while ((status = wb_port_hold(in, &slot, 0)) == WB_OK) {
        const struct voip_frame *frame = slot;
        const bool wanted = is_wanted(sound, frame, tally);

        if (wanted) {
            memcpy(played, frame->samples, voip->format.samples * sizeof *played);
            note_played(sound, frame);
        }
        wb_port_release(in);
        if (wanted)
            return true;
    }
    sound->is_over = status == WB_ERR_GONE;
    return false;
}

static void play(struct wb_task *self, struct sound *sound, struct wb_port *in, int16_t *played)
{
    struct voip *voip = voip_of(self);
    struct voip_sound_tally *tally = &voip->tally.sound;
    const size_t bytes = voip->format.samples * sizeof *played;
    const bool is_there = take(sound, voip, tally, in, played);

    if (!is_there)
        memset(played, 0, bytes);
    if (sound->call == 0)
        return;
    tally->played += is_there;
    tally->silent += !is_there;
    // Relaxed: it comes with nothing else.
    if (!is_there && sound->is_heard && !wb_word_load(&voip->quiet, WB_RELAXED) &&
        ++sound->silent > tally->gap)
        tally->gap = sound->silent;
    if (sound->card)
        (void)card_play(sound->card, played, voip->format.samples, NULL);
    if (!file_write_at(&voip->output, played, bytes, WAV_HEADER_BYTES + 2 * sound->recorded))
        wb_task_fail(self, strerror(errno));
    sound->recorded += voip->format.samples;
}

// ---- The microphone -----------------------------------------------------------------------------

static int16_t limited(int32_t sample)
{
    return (int16_t)(sample > INT16_MAX ? INT16_MAX : sample < INT16_MIN ? INT16_MIN : sample);
}

// What was played `echo_samples` ago.
static void echo(struct sound *sound, const struct voip *voip, const int16_t *played, int16_t *mic)
{
    const uint32_t n = voip->format.samples, delay = voip->echo_samples;

    memcpy(sound->room + delay, played, n * sizeof *played);
    for (uint32_t i = 0; i < n; i++)
        mic[i] = limited(mic[i] + sound->room[i] * (int32_t)voip->echo_permille / 1000);
    memmove(sound->room, sound->room + n, delay * sizeof *played);
}

// `n` samples of the input, from `from` on: where it has none, silence.
static void read_input(struct wb_task *self, const struct voip *voip, int64_t from,
                       int16_t *samples, size_t n)
{
    const struct wav_file file = voip_input(voip);
    const size_t before = from >= 0 ? 0 : (size_t)-from < n ? (size_t)-from : n;
    const int64_t got = wav_read(&voip->wav, &file, (uint64_t)(from + (int64_t)before),
                                 samples + before, n - before);

    if (got < 0)
        wb_task_fail(self, strerror(errno));
    memset(samples, 0, 2 * before);
    memset(samples + before + got, 0, 2 * (n - before - (size_t)got));
}

// The recording is spoken once in each call; then there is silence.
static void speak(struct wb_task *self, struct sound *sound, int16_t *mic)
{
    const struct voip *voip = voip_of(self);
    const uint32_t n = voip->format.samples, from = voip->wav.rate, to = voip->format.rate;
    const uint64_t first = (uint64_t)sound->periods * n;

    if (from == to || voip->input.fd < 0) {
        read_input(self, voip, (int64_t)first, mic, n);
        return;
    }
    const uint32_t margin = resample_margin(from, to);
    const uint64_t start = first * from / to, end = (first + n - 1) * from / to + 1;
    read_input(self, voip, (int64_t)start - margin, sound->input, end - start + 2 * margin);
    resample(sound->input, from, to, first, mic, n);
}

static void capture(struct wb_task *self, struct sound *sound, struct wb_port *out,
                    const int16_t *played)
{
    struct voip *voip = voip_of(self);
    const size_t n = voip->format.samples;
    void *slot;

    if (wb_port_claim(out, &slot, 0) != WB_OK) {
        voip->tally.sound.missed++;
        return;
    }
    struct voip_frame *frame = slot;
    frame->head = (struct voip_head){ .call = sound->call, .number = sound->periods };
    if (wb_compute(self)) {
        if (sound->card)
            card_record(sound->card, frame->samples, n);
        else
            speak(self, sound, frame->samples);
        echo(sound, voip, played, frame->samples);
        memcpy(frame->samples + n, played, n * sizeof *played);
    }
    wb_port_commit(out);
}

// ---- Both ---------------------------------------------------------------------------------------

// A card is opened in each life: it belongs to the process of this kernel.
static void open_card(struct wb_task *self, struct sound *sound)
{
    const struct voip *voip = voip_of(self);
    char why[CARD_WHY_BYTES];

    sound->card = NULL;
    if (voip->card[0] == '\0')
        return;
    sound->card = card_open(voip->card, CARD_PLAYS + CARD_RECORDS, voip->format.rate,
                            voip->format.samples, why);
    if (!sound->card)
        wb_task_fail(self, why);
}

int sound(struct wb_task *self)
{
    struct voip *voip = voip_of(self);
    struct sound *sound = task_keep(self, sizeof *sound);
    struct wb_port *in = wb_port_find(self, "in", 0, voip_frame_bytes(voip));
    struct wb_port *out = wb_port_find(self, "out", 0, voip_captured_bytes(voip));
    int16_t played[CODEC_SAMPLES];

    if (!wb_task_is_periodic(self))
        wb_task_fail(self, "it has no period: a call takes its time, so leave out --fast");
    open_card(self, sound);
    while (!sound->is_over) {
        // Acquire: pairs with the agent's release, so that nothing of the call before is seen.
        const uint32_t call = wb_word_load(&voip->call, WB_ACQUIRE);

        if (call >> 8 != sound->call >> 8)
            begin(sound);
        sound->call = call;
        play(self, sound, in, played);
        if (call != 0) {
            capture(self, sound, out, played);
            sound->periods++;
        }
        wb_period_wait(self);
        if (!sound->card)
            wb_checkpoint();
    }
    return 0;
}
