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

// The first frames are decoded, the rest is only walked over.
static void play(const struct film *film, uint32_t seen[3])
{
    struct picture_decoder *decoder = malloc(picture_decoder_bytes(FILM_WIDTH));
    uint8_t *planes = malloc(picture_bytes(FILM_WIDTH, FILM_HEIGHT));
    struct avi_frame frame;
    struct avi avi;

    if (avi_open(&avi, film->file, film->bytes) == NULL) {
        size_t at = avi.begin;

        for (int n = 0; avi_next(&avi, &at, &frame); n++)
            if (n < DECODED)
                seen[picture_decode(decoder, frame.data, frame.bytes, FILM_WIDTH, FILM_HEIGHT,
                                    planes)]++;
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
    struct film whole = film_read();
    uint32_t seen[3] = { 0 };

    for (uint32_t i = 0; i < tries(); i++) {
        struct film film = { malloc(whole.bytes), whole.bytes };

        CHECK(film.file);
        memcpy(film.file, whole.file, whole.bytes);
        change(&film);
        // Moved to memory of its size, so that what is read behind it is seen.
        film.file = realloc(film.file, film.bytes ? film.bytes : 1);
        play(&film, seen);
        free(film.file);
    }
    free(whole.file);
    printf("# %u damaged films: %u pictures whole, %u damaged, %u of another kind\n", tries(),
           seen[PICTURE_WHOLE], seen[PICTURE_DAMAGED], seen[PICTURE_OTHER]);
    CHECK(seen[PICTURE_WHOLE] > 0 && seen[PICTURE_DAMAGED] > 0);
}
