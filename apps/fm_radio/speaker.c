// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "speaker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "frame.h"
#include "thread.h"

enum { PIECE_SAMPLES = 1024, PIECES_PER_S = 25, RINGS_PER_S = 4, PATIENCE_MS = 2000 };

struct fm_player {
    pthread_t thread;
    struct card *card;
};

// ---- The thread ---------------------------------------------------------------------------------

static void *play(void *state)
{
    struct fm_speaker *speaker = state;
    struct fm_ring *ring = &speaker->ring;
    int16_t piece[PIECE_SAMPLES];
    uint64_t tail = 0;
    uint32_t stuck_ms = 0;

    for (;;) {
        // Acquire: what was put in before is seen.
        const bool is_last = wb_word_load(&speaker->is_stopped, WB_ACQUIRE);
        const uint64_t there = wb_counter_get(&ring->head) - tail;
        const size_t n = there < PIECE_SAMPLES ? (size_t)there : PIECE_SAMPLES;
        int64_t played = 0;

        if (is_last && (n == 0 || stuck_ms > PATIENCE_MS))
            break;
        fm_ring_read(ring, piece, n, tail);
        if (n > 0)
            played = card_play(speaker->player->card, piece, n, &speaker->dry);
        if (played < 0) {
            snprintf(speaker->why, sizeof speaker->why,
                     "card stopped: connect it again, and start again");
            break;
        }
        tail += (uint64_t)played;
        wb_counter_set(&ring->tail, tail);
        stuck_ms = played > 0 || !is_last ? 0 : stuck_ms + FM_THREAD_PAUSE_MS;
        if (played == 0)
            fm_thread_pause();
    }
    // Release: who sees it sees the reason.
    wb_word_store(&speaker->is_over, true, WB_RELEASE);
    return NULL;
}

// ---- The launcher -------------------------------------------------------------------------------

bool fm_speaker_open(struct wb_app *app, struct fm_radio *radio)
{
    const char *name = wb_param_text(app, "card", "");
    const uint32_t rate = (uint32_t)radio->config.audio_rate;
    struct fm_speaker *speaker = wb_app_alloc(app, sizeof *speaker);
    struct fm_player *player = calloc(1, sizeof *player);
    char why[CARD_WHY_BYTES];

    if (!speaker || !player) {
        snprintf(app->error, sizeof app->error, "[app] memory is too small for a sound card");
        free(player);
        return false;
    }
    player->card = card_open(name, CARD_PLAYS, rate, rate / PIECES_PER_S, why);
    if (!player->card) {
        snprintf(app->error, sizeof app->error, "%s", why);
        free(player);
        return false;
    }
    speaker->player = player;
    if (fm_ring_make(&speaker->ring, sizeof(int16_t), rate / RINGS_PER_S + PIECE_SAMPLES) &&
        fm_thread_start(&player->thread, play, speaker)) {
        radio->speaker = speaker;
        return true;
    }
    snprintf(app->error, sizeof app->error, "card \"%.80s\" cannot be used: %s", name,
             strerror(errno));
    card_close(player->card);
    free(player);
    return false;
}

bool fm_speaker_finish(struct wb_app *app, struct fm_radio *radio)
{
    struct fm_speaker *speaker = radio->speaker;

    wb_word_store(&speaker->is_stopped, true, WB_RELEASE);
    pthread_join(speaker->player->thread, NULL);
    card_close(speaker->player->card);
    fprintf(stderr, "fm_radio: card \"%.80s\": %.2f s played, ran dry %u times\n",
            wb_param_text(app, "card", ""),
            (double)wb_counter_get(&speaker->ring.tail) / radio->config.audio_rate,
            (unsigned)speaker->dry);
    free(speaker->player);
    if (speaker->why[0] != '\0')
        snprintf(app->error, sizeof app->error, "%s", speaker->why);
    return speaker->why[0] == '\0';
}
