// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "check.h"
#include "common/wav.h"

struct memory {
    uint8_t bytes[512];
    size_t n;
};

static int64_t read(const void *file, void *data, size_t bytes, uint64_t place)
{
    const struct memory *memory = file;

    if (place >= memory->n)
        return 0;
    const size_t n = bytes < memory->n - place ? bytes : memory->n - place;
    memcpy(data, memory->bytes + place, n);
    return (int64_t)n;
}

static struct wav_file file_of(const struct memory *memory)
{
    return (struct wav_file){ read, memory, memory->n };
}

static bool find(struct wav *wav, const struct memory *memory, char *why)
{
    const struct wav_file file = file_of(memory);

    return wav_find(wav, &file, why);
}

static struct wav found(const struct memory *memory)
{
    char why[WAV_WHY_BYTES];
    struct wav wav;

    CHECK(find(&wav, memory, why));
    return wav;
}

static struct memory whole(void)
{
    struct memory memory = { .n = WAV_HEADER_BYTES + 20 };

    wav_header(memory.bytes, 8000, 10);
    return memory;
}

static void put(struct memory *memory, size_t at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        memory->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

static void insert(struct memory *memory, size_t at, const void *chunk, size_t bytes)
{
    memmove(memory->bytes + at + bytes, memory->bytes + at, memory->n - at);
    memcpy(memory->bytes + at, chunk, bytes);
    memory->n += bytes;
}

// The samples of `bytes` in so many channels, in place of the 10 there are.
static struct memory in_format(uint32_t kind, uint32_t channels, uint32_t bits, const void *data,
                               size_t bytes)
{
    struct memory memory = whole();

    put(&memory, 20, kind, 2);
    put(&memory, 22, channels, 2);
    put(&memory, 32, channels * bits / 8, 2);
    put(&memory, 34, bits, 2);
    put(&memory, 40, (uint32_t)bytes, 4);
    memcpy(memory.bytes + WAV_HEADER_BYTES, data, bytes);
    memory.n = WAV_HEADER_BYTES + bytes;
    return memory;
}

TEST(a_header_is_read_as_it_was_written)
{
    struct memory memory = whole();
    const struct wav wav = found(&memory);

    CHECK(wav.at == WAV_HEADER_BYTES && wav.samples == 10 && wav.rate == 8000);
    CHECK(wav.channels == 1 && wav.sample_bytes == 2 && wav.coding == SAMPLE_SIGNED && !wav.is_cut);
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

    CHECK(!find(&wav, &memory, why));
    CHECK(strstr(why, reason) && strstr(why, ": "));
}

TEST(what_cannot_be_read_is_refused_with_the_reason)
{
    struct memory memory = whole();

    put(&memory, 22, 9, 2);
    refused(memory, "9 channels: convert it to 1 or 2");
    put(&memory, 22, 0, 2);
    refused(memory, "0 channels");
    memory = whole();
    put(&memory, 34, 64, 2);
    refused(memory, "64 bits: convert it to PCM of 16 bits");
    put(&memory, 34, 0, 2);
    put(&memory, 32, 0, 2);
    refused(memory, "0 bits");
    memory = whole();
    put(&memory, 20, 0x55, 2);
    refused(memory, "it is in MP3 (format 85): convert it to PCM");
    put(&memory, 20, 0x1234, 2);
    refused(memory, "an unknown coding (format 4660)");
    memory = whole();
    put(&memory, 24, 0, 4);
    refused(memory, "0 samples in a second");
    memory = whole();
    memory.bytes[3] = 'X';
    refused(memory, "big-endian");
    memory.bytes[0] = 'X';
    refused(memory, "not a WAV file");
    memory.n = 0;
    refused(memory, "not a WAV file");
    memory = whole();
    memory.bytes[8] = 'A';
    refused(memory, "not a WAV file");
    memory = whole();
    memory.n = 30;
    refused(memory, "cut off");
    memory = whole();
    memory.n = 36;
    refused(memory, "no samples");
    memory.n = 12;
    refused(memory, "no format");
}

TEST(sizes_that_a_recorder_never_filled_in_are_read_to_the_end)
{
    static const uint32_t sizes[] = { 0, 0x7ffff000, 0x7fffffff, 0xffffffff, 0xffffffff - 36 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct memory memory = whole();

        put(&memory, 4, i % 2 ? 0 : sizes[i], 4);
        put(&memory, 40, sizes[i], 4);
        memory.n++;  // half a sample
        const struct wav wav = found(&memory);
        CHECK(wav.samples == 10 && !wav.is_cut);
    }
}

TEST(a_file_that_was_cut_off_is_read_to_there)
{
    struct memory memory = whole();

    memory.n -= 7;
    const struct wav wav = found(&memory);
    CHECK(wav.samples == 6 && wav.is_cut);
}

TEST(chunks_that_are_not_known_are_passed_over_wherever_they_are)
{
    static const char odd[] = "LIST\5\0\0\0abcde";  // of an odd length: a byte follows it
    static const char even[] = "JUNK\4\0\0\0datx";
    static const size_t places[] = { 12, 36, 64 };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const uint64_t at = places[i] < 64 ? WAV_HEADER_BYTES : 44 - sizeof odd;
        struct memory memory = whole();

        insert(&memory, places[i], odd, sizeof odd);
        CHECK(found(&memory).at == at + sizeof odd && found(&memory).samples == 10);
        insert(&memory, places[i], even, sizeof even - 1);
        CHECK(found(&memory).samples == 10);
    }
}

TEST(a_chunk_that_is_odd_without_padding_is_passed_over_too)
{
    static const char odd[] = "LIST\5\0\0\0abcde";
    struct memory memory = whole();

    insert(&memory, 36, odd, sizeof odd - 1);
    CHECK(found(&memory).at == WAV_HEADER_BYTES + sizeof odd - 1);
    CHECK(found(&memory).samples == 10);
}

TEST(no_samples_in_front_of_another_chunk_are_no_stream)
{
    struct memory memory = whole();

    memory.n = WAV_HEADER_BYTES;
    put(&memory, 40, 0, 4);
    insert(&memory, memory.n, "LIST\4\0\0\0abcd", 12);
    refused(memory, "no samples");
}

TEST(the_size_of_more_than_32_bits_is_taken_from_where_it_is)
{
    struct memory memory = whole();
    char sizes[36] = "ds64\x1c\0\0\0";

    memcpy(memory.bytes, "RF64\xff\xff\xff\xff", 8);
    put(&memory, 40, 0xffffffff, 4);
    sizes[16] = 12;
    insert(&memory, 12, sizes, sizeof sizes);
    CHECK(found(&memory).samples == 6);
    memcpy(memory.bytes, "BW64", 4);
    CHECK(found(&memory).samples == 6);
}

TEST(a_radio_programs_frequency_is_found_and_text_is_none)
{
    struct memory memory = whole();
    uint8_t tuned[8 + 68] = "auxi\x44";

    tuned[8] = 2026 & 0xff;
    tuned[9] = 2026 >> 8;
    tuned[10] = 11;
    tuned[40] = 0x40;  // 100000064 Hz
    tuned[41] = 0xe1;
    tuned[42] = 0xf5;
    tuned[43] = 0x05;
    insert(&memory, 36, tuned, sizeof tuned);
    CHECK(found(&memory).centre_hz == 0x05f5e140);
    memcpy(memory.bytes + 44, "<\0S\0D\0R\0", 8);
    CHECK(found(&memory).centre_hz == 0 && found(&memory).samples == 10);
}

// A whole file that needs more than 4 GiB and has only its header: the rest is zeros.
static int64_t read_large(const void *file, void *data, size_t bytes, uint64_t place)
{
    memset(data, 0, bytes);
    if (place < ((const struct memory *)file)->n)
        read(file, data, bytes, place);
    return (int64_t)bytes;
}

TEST(a_file_above_4_GiB_whose_size_has_gone_round_is_read_to_the_end)
{
    const uint64_t bytes = (UINT64_C(5) << 30) + 8;
    struct memory memory = whole();
    const struct wav_file file = { read_large, &memory, WAV_HEADER_BYTES + bytes };
    char why[WAV_WHY_BYTES];
    struct wav wav;

    put(&memory, 40, (uint32_t)bytes, 4);
    CHECK(wav_find(&wav, &file, why) && wav.samples == bytes / 2);
}

static void reads(const struct memory *memory, int16_t first, int16_t second)
{
    const struct wav_file file = file_of(memory);
    const struct wav wav = found(memory);
    int16_t samples[4];

    CHECK(wav_read(&wav, &file, 0, samples, 4) == 2);
    CHECK(samples[0] == first && samples[1] == second);
    CHECK(wav_read(&wav, &file, 1, samples, 4) == 1 && samples[0] == second);
    CHECK(wav_read(&wav, &file, 2, samples, 4) == 0);
}

TEST(samples_of_any_width_are_one_channel_of_16_bits)
{
    const float floats[] = { 0.5f, -2 };
    const double doubles[] = { 0.5, -2 };
    struct memory memory = in_format(1, 1, 8, "\x80\xc0", 2);

    reads(&memory, 0, 0x4000);
    memory = in_format(1, 1, 16, "\xff\x7f\0\x80", 4);
    reads(&memory, 0x7fff, -0x8000);
    memory = in_format(1, 1, 24, "\0\0\x40\0\0\xc0", 6);
    reads(&memory, 0x4000, -0x4000);
    memory = in_format(1, 1, 32, "\0\0\0\x40\0\0\0\xc0", 8);
    reads(&memory, 0x4000, -0x4000);
    memory = in_format(3, 1, 32, floats, sizeof floats);
    reads(&memory, 0x4000, -0x8000);
    memory = in_format(3, 1, 64, doubles, sizeof doubles);
    reads(&memory, 0x4000, -0x8000);
    memory = in_format(1, 2, 16, "\2\0\4\0\xff\xff\xfd\xff", 8);
    reads(&memory, 3, -2);
    memory = in_format(1, 1, 24, "\0\0\0\x40\0\0\0\xc0", 8);  // 24 of 32 bits
    put(&memory, 32, 4, 2);
    reads(&memory, 0x4000, -0x4000);
}

TEST(an_extensible_format_is_what_it_extends)
{
    static const uint8_t rest[24] = { 22, 0, 16, 0, 4,   0, 0, 0,   3, 0,  0,   0,
                                      0,  0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113 };
    const float floats[] = { 0.5f, -2 };
    struct memory memory = in_format(0xfffe, 1, 32, floats, sizeof floats);
    struct memory other;

    put(&memory, 16, 40, 4);
    insert(&memory, 36, rest, sizeof rest);
    reads(&memory, 0x4000, -0x8000);
    other = memory;
    other.bytes[59] = 1;
    refused(other, "an unknown coding");
}
