// SPDX-License-Identifier: Apache-2.0
// Plays a film of which some bytes are others, again and again, each time others. Built with the
// sanitizers, which end it where anything outside of the film or of the decoder is touched.
// VIDEO_FUZZ says how often.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/fuzz.h"
#include "../avi.h"
#include "../picture.h"
#include "check.h"
#include "film.h"

enum { TRIES = 400, MOST_CHANGES = 12, DECODED = 3 };

// Half of them in the header and the first frames.
static size_t place(const struct film *film)
{
    return random_below(random_below(2) ? 16384 : (uint32_t)film->bytes);
}

static void change(struct film *film)
{
    for (uint32_t n = 1 + random_below(MOST_CHANGES); n > 0; n--)
        film->file[place(film)] = random_below(3) ? (uint8_t)random_below(256) : 0xff;
    if (random_below(4) == 0)
        film->bytes = random_below((uint32_t)film->bytes);
}

// The film whose frames from the second on are in a second RIFF (OpenDML), after an empty one.
static struct film with_second_riff(const struct film *film)
{
    static const uint8_t riff[] = "00dc\0\0\0\0RIFF\0\0\0\0AVIXLIST\0\0\0\0movi";
    enum { MORE = sizeof riff - 1 };
    const size_t first = film_find(film, "00dc", film_find(film, "movi", 0));
    const size_t at = film_find(film, "00dc", first + 4);
    struct film made = { malloc(film->bytes + MORE), film->bytes + MORE };

    CHECK(made.file);
    memcpy(made.file, film->file, at);
    memcpy(made.file + at, riff, MORE);
    memcpy(made.file + at + MORE, film->file + at, film->bytes - at);
    return made;
}

// Two frames as if they were the fields of one that is twice as high.
static void weave(struct picture_decoder *decoder, const struct avi *avi,
                  const struct avi_frame *frame, uint8_t *planes)
{
    const size_t left = (size_t)(avi->file + avi->end - frame->data);

    (void)picture_decode(decoder, frame->data, left / 2 < frame->bytes ? left : 2 * frame->bytes,
                         FILM_WIDTH, 2 * FILM_HEIGHT, planes);
}

// The first frames are decoded, the rest is only walked over.
static void play(const struct film *film, uint32_t seen[PICTURE_STATUSES])
{
    struct picture_decoder *decoder = malloc(picture_decoder_bytes(FILM_WIDTH));
    uint8_t *planes = malloc(picture_bytes(FILM_WIDTH, 2 * FILM_HEIGHT));
    struct avi_frame frame;
    char why[AVI_WHY_BYTES];
    struct avi avi;

    if (avi_open(&avi, film->file, film->bytes, why)) {
        size_t at = avi.begin;

        for (int n = 0; avi_next(&avi, &at, &frame); n++) {
            if (n >= DECODED)
                continue;
            seen[picture_decode(decoder, frame.data, frame.bytes, FILM_WIDTH, FILM_HEIGHT,
                                planes)]++;
            weave(decoder, &avi, &frame, planes);
        }
    }
    free(planes);
    free(decoder);
}

static uint32_t tries(void)
{
    return fuzz_tries("VIDEO_FUZZ", TRIES);
}

TEST(no_damage_of_a_film_has_anything_else_touched)
{
    struct film whole[2] = { film_read() };
    uint32_t seen[PICTURE_STATUSES] = { 0 };

    whole[1] = with_second_riff(&whole[0]);
    for (uint32_t i = 0; i < tries(); i++) {
        const struct film *from = &whole[i % 2];
        struct film film = { malloc(from->bytes), from->bytes };

        CHECK(film.file);
        memcpy(film.file, from->file, from->bytes);
        change(&film);
        // Moved to memory of its size, so that what is read behind it is seen.
        film.file = realloc(film.file, film.bytes ? film.bytes : 1);
        play(&film, seen);
        free(film.file);
    }
    free(whole[0].file);
    free(whole[1].file);
    printf("# %u damaged films: %u pictures whole, %u damaged, %u of another kind\n", tries(),
           seen[PICTURE_WHOLE], seen[PICTURE_DAMAGED], seen[PICTURE_OTHER] + seen[PICTURE_RESIZED]);
    CHECK(seen[PICTURE_WHOLE] > 0 && seen[PICTURE_DAMAGED] > 0);
}
