// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "check.h"
#include "common/wav.h"

struct memory {
    uint8_t bytes[256];
    size_t n;
};

static int64_t read(void *file, void *data, size_t bytes, uint64_t place)
{
    const struct memory *memory = file;

    if (place >= memory->n)
        return 0;
    const size_t n = bytes < memory->n - place ? bytes : memory->n - place;
    memcpy(data, memory->bytes + place, n);
    return (int64_t)n;
}

static struct memory whole(void)
{
    struct memory memory = { .n = WAV_HEADER_BYTES + 20 };

    wav_header(memory.bytes, 8000, 10);
    return memory;
}

TEST(a_header_is_read_as_it_was_written)
{
    char why[WAV_WHY_BYTES];
    struct memory memory = whole();
    struct wav wav;

    CHECK(wav_find(&wav, read, &memory, why));
    CHECK(wav.at == WAV_HEADER_BYTES && wav.samples == 10 && wav.rate == 8000);
}

TEST(a_header_of_more_samples_than_it_can_count_has_whole_ones)
{
    uint8_t header[WAV_HEADER_BYTES];
    uint32_t bytes;

    wav_header(header, 8000, UINT64_C(1) << 33);
    memcpy(&bytes, header + 40, sizeof bytes);
    CHECK(bytes % 2 == 0 && bytes >= UINT32_MAX - WAV_HEADER_BYTES - 1);
}

static void refused(struct memory memory, const char *reason)
{
    char why[WAV_WHY_BYTES];
    struct wav wav;

    CHECK(!wav_find(&wav, read, &memory, why));
    CHECK(strstr(why, reason));
}

TEST(what_is_no_sound_of_one_channel_is_refused_with_the_reason)
{
    struct memory memory = whole();

    memory.bytes[22] = 2;
    refused(memory, "2 channels of 16 bits");
    memory = whole();
    memory.bytes[34] = 8;
    refused(memory, "1 channels of 8 bits");
    memory = whole();
    memory.bytes[0] = 'X';
    refused(memory, "not a WAV file");
    memory = whole();
    memory.n = 30;
    refused(memory, "cut off");
    memory = whole();
    memory.n = 36;
    refused(memory, "no samples");
}

TEST(chunks_that_are_not_known_are_passed_over)
{
    static const char other[] = "LIST\5\0\0\0abcde";  // of an odd length: a byte follows it
    struct memory memory = whole();
    char why[WAV_WHY_BYTES];
    struct wav wav;

    memmove(memory.bytes + 12 + sizeof other, memory.bytes + 12, memory.n - 12);
    memcpy(memory.bytes + 12, other, sizeof other);
    memory.n += sizeof other;
    CHECK(wav_find(&wav, read, &memory, why));
    CHECK(wav.at == WAV_HEADER_BYTES + sizeof other && wav.samples == 10);
}
