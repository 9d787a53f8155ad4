// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

enum { PERIODS = 4 };

struct card {
    snd_pcm_t *playback, *capture;
};

static int open_one(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t direction, uint32_t rate,
                    uint32_t samples)
{
    const unsigned int latency_us = (unsigned int)(UINT64_C(1000000) * PERIODS * samples / rate);
    const int error = snd_pcm_open(pcm, name, direction, SND_PCM_NONBLOCK);

    if (error < 0)
        return error;
    return snd_pcm_set_params(*pcm, SND_PCM_FORMAT_S16, SND_PCM_ACCESS_RW_INTERLEAVED, 1, rate, 1,
                              latency_us);
}

// The library would write its own reasons to the terminal, in front of ours.
__attribute__((format(printf, 5, 6))) static void
keep_quiet(const char *file, int line, const char *function, int error, const char *format, ...)
{
    (void)file;
    (void)line;
    (void)function;
    (void)error;
    (void)format;
}

struct card *card_open(const char *name, unsigned use, uint32_t rate, uint32_t samples,
                       char why[CARD_WHY_BYTES])
{
    struct card *card = calloc(1, sizeof *card);
    int error = card ? 0 : -ENOMEM;

    snd_lib_error_set_handler(keep_quiet);
    if (error == 0 && (use & CARD_PLAYS) != 0)
        error = open_one(&card->playback, name, SND_PCM_STREAM_PLAYBACK, rate, samples);
    if (error == 0 && (use & CARD_RECORDS) != 0)
        error = open_one(&card->capture, name, SND_PCM_STREAM_CAPTURE, rate, samples);
    if (error == 0 && card->capture)
        error = snd_pcm_start(card->capture);
    if (error == 0)
        return card;
    snprintf(why, CARD_WHY_BYTES,
             "card \"%.40s\" cannot be used: %s: `aplay -L` lists those that there are", name,
             snd_strerror(error));
    return NULL;
}

int64_t card_play(struct card *card, const int16_t *samples, size_t n, uint32_t *dry)
{
    snd_pcm_sframes_t played = snd_pcm_writei(card->playback, samples, n);

    if (played < 0 && played != -EAGAIN) {
        if (played == -EPIPE && dry)
            ++*dry;
        if (snd_pcm_recover(card->playback, (int)played, 1) < 0)
            return -1;
        played = snd_pcm_writei(card->playback, samples, n);
    }
    return played < 0 ? 0 : played;
}

void card_record(struct card *card, int16_t *samples, size_t n)
{
    snd_pcm_sframes_t recorded = snd_pcm_readi(card->capture, samples, n);

    if (recorded < 0) {
        if (snd_pcm_recover(card->capture, (int)recorded, 1) == 0)
            (void)snd_pcm_start(card->capture);
        recorded = 0;
    }
    memset(samples + recorded, 0, (n - (size_t)recorded) * sizeof *samples);
}

void card_close(struct card *card)
{
    if (card->playback) {
        snd_pcm_nonblock(card->playback, 0);
        snd_pcm_drain(card->playback);
        snd_pcm_close(card->playback);
    }
    if (card->capture)
        snd_pcm_close(card->capture);
    free(card);
}
