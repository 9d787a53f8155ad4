// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "../g711.h"
#include "check.h"

TEST(a_code_is_what_its_sample_is_encoded_as)
{
    for (int code = 0; code < 256; code++) {
        const uint8_t byte = (uint8_t)code;

        CHECK(g711_alaw_encode(g711_alaw_decode(byte)) == byte);
        // The µ-law has two zeros; the sample is the positive one.
        CHECK(g711_ulaw_encode(g711_ulaw_decode(byte)) == (byte == 0x7f ? 0xff : byte));
    }
}

// For test_g711.py, which compares them with the tables of the recommendation.
TEST(the_laws_are_written_to_the_file_that_G711_LAWS_names)
{
    const char *name = getenv("G711_LAWS");
    FILE *file = name ? fopen(name, "w") : NULL;

    if (!file) {
        wb_test_skip("G711_LAWS names none");
        return;
    }
    for (int sample = INT16_MIN; sample <= INT16_MAX; sample++)
        fprintf(file, "%d %d\n", g711_alaw_encode((int16_t)sample),
                g711_ulaw_encode((int16_t)sample));
    for (int code = 0; code < 256; code++)
        fprintf(file, "%d %d\n", g711_alaw_decode((uint8_t)code), g711_ulaw_decode((uint8_t)code));
    CHECK(fclose(file) == 0);
}
