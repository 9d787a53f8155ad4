// SPDX-License-Identifier: Apache-2.0
// Tests of coding.c, beside the decoder of teletext, of medium.c and of the CRC, which
// test_packets.py compares with zlib.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../coding.h"
#include "../medium.h"
#include "check.h"
#include "common/crc32.h"

TEST(every_single_wrong_bit_is_corrected_and_every_two_are_noticed)
{
    struct coding coding;

    coding_init(&coding);
    for (int value = 0; value < 256; value++) {
        uint8_t data = (uint8_t)value, coded[2], decoded;

        coding_encode(&data, 1, coded);
        CHECK(coding_decode(&coding, coded, 1, &decoded) == 0 && decoded == value);
        for (int a = 0; a < 8; a++) {
            const uint8_t one[2] = { coded[0], (uint8_t)(coded[1] ^ 1 << a) };

            CHECK(coding_decode(&coding, one, 1, &decoded) == 1 && decoded == value);
            for (int b = 0; b < a; b++) {
                const uint8_t two[2] = { coded[0], (uint8_t)(one[1] ^ 1 << b) };

                CHECK(coding_decode(&coding, two, 1, &decoded) == 0);
                CHECK(decoded == (value & 15));
            }
        }
    }
}

TEST(the_code_is_that_of_teletext_as_libzvbi_has_it)
{
    void *zvbi = dlopen("libzvbi.so.0", RTLD_NOW);
    const uint8_t *codes = zvbi ? dlsym(zvbi, "_vbi_hamm8_fwd") : NULL;
    const int8_t *bits = zvbi ? dlsym(zvbi, "_vbi_hamm8_inv") : NULL;
    struct coding coding;

    if (!codes || !bits) {
        printf("# libzvbi is not installed: make setup\n");
        return;
    }
    coding_init(&coding);
    for (int byte = 0; byte < 256; byte++) {
        const uint8_t low = (uint8_t)(byte & 15);
        uint8_t coded[2];

        coding_encode(&low, 1, coded);
        CHECK(coded[0] == codes[low]);
        if (coding.wrong[byte] < 2)
            CHECK(coding.bits[byte] == bits[byte]);
        else
            CHECK(bits[byte] == -1);
    }
}

TEST(a_crc_in_pieces_is_that_of_the_whole)
{
    CHECK(crc32_of(0, "123456789", 9) == 0xcbf43926);
    CHECK(crc32_of(crc32_of(0, "1234", 4), "56789", 5) == 0xcbf43926);
    CHECK(crc32_of(0, "", 0) == 0);
}

static uint32_t inverted(const struct medium *medium, uint32_t number)
{
    uint8_t data[1000] = { 0 };
    uint32_t bits = 0;

    medium_pass(medium, number, data, sizeof data);
    for (size_t i = 0; i < sizeof data; i++)
        bits += (uint32_t)__builtin_popcount(data[i]);
    return bits;
}

TEST(the_medium_inverts_as_many_bits_as_is_said_on_average)
{
    const struct medium medium = { .seed = 3, .errors = 2000 }, none = { .seed = 3 };
    uint64_t sum = 0;

    for (uint32_t i = 0; i < 2000; i++) {
        sum += inverted(&medium, i);
        CHECK(inverted(&none, i) == 0 && inverted(&medium, i) <= 33);
    }
    CHECK(sum > 2000 * 15 && sum < 2000 * 17);
}

TEST(the_same_packet_is_damaged_alike_and_another_is_not)
{
    const struct medium medium = { .seed = 3, .errors = 5000 };
    uint8_t a[100] = { 0 }, b[100] = { 0 }, c[100] = { 0 };

    medium_pass(&medium, 4, a, sizeof a);
    medium_pass(&medium, 4, b, sizeof b);
    medium_pass(&medium, 5, c, sizeof c);
    CHECK(memcmp(a, b, sizeof a) == 0 && memcmp(a, c, sizeof a) != 0);
}
