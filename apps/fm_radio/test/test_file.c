// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/file.h and dsp/receiver.h, on files in a folder of their own.
#define _XOPEN_SOURCE 700
#include "../dsp/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../dsp/input.h"
#include "../dsp/receiver.h"
#include "check.h"
#include "signals.h"

static char folder[] = "/tmp/fm_radio_test_XXXXXX";
static char why[FM_WHY_BYTES];

static void leave(void)
{
    if (chdir("/") == 0 && rmdir(folder) != 0)
        perror(folder);
}

__attribute__((constructor)) static void enter(void)
{
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    atexit(leave);
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

static size_t read_file(const char *path, void *data, size_t room)
{
    FILE *file = fopen(path, "rb");

    CHECK(file);
    const size_t bytes = fread(data, 1, room, file);
    CHECK(fclose(file) == 0 && unlink(path) == 0);
    return bytes;
}

static bool refused(const char *path, const char *reason)
{
    struct fm_input input;

    return !fm_input_open(&input, path, "", 1, why) && strstr(why, path) && strstr(why, reason);
}

TEST(what_is_no_recording_is_refused_with_the_reason)
{
    struct fm_input input;

    CHECK(refused("-", "give a file"));
    CHECK(refused("rtl_tcp://127.0.0.1", "give a file"));
    CHECK(refused("missing.cu8", "No such file"));
    CHECK(refused("/dev", "not a regular file"));
    write_file("empty.cu8", "", 0);
    CHECK(refused("empty.cu8", "it is empty"));
    write_file("short.cu8", "a", 1);
    CHECK(refused("short.cu8", "less than a sample"));
    write_file("noise", "abc", 3);
    CHECK(refused("noise", "set format to cu8"));
    CHECK(!fm_input_open(&input, "noise", "cu9", 1, why) && strstr(why, "format is \"cu9\": give"));
    CHECK(unlink("empty.cu8") == 0 && unlink("short.cu8") == 0 && unlink("noise") == 0);
}

TEST(a_recording_that_was_cut_off_inside_a_sample_is_played_to_there)
{
    struct fm_input input;

    write_file("odd.cu8", "abc", 3);
    CHECK(fm_input_open(&input, "odd.cu8", "", 1, why));
    CHECK(input.samples == 1 && input.is_cut);
    fm_input_close(&input);
    CHECK(unlink("odd.cu8") == 0);
}

TEST(a_format_has_the_names_that_programs_give_it)
{
    static const struct {
        const char *name;
        struct fm_format format;
    } names[] = {
        { "cu8", { 1, SAMPLE_UNSIGNED, false } },    { "CU8", { 1, SAMPLE_UNSIGNED, false } },
        { "cs8", { 1, SAMPLE_SIGNED, false } },      { "ci8", { 1, SAMPLE_SIGNED, false } },
        { "c16", { 2, SAMPLE_SIGNED, false } },      { "sc16", { 2, SAMPLE_SIGNED, false } },
        { "ci16_le", { 2, SAMPLE_SIGNED, false } },  { "ci16_be", { 2, SAMPLE_SIGNED, true } },
        { "cu16_be", { 2, SAMPLE_UNSIGNED, true } }, { "cs24", { 3, SAMPLE_SIGNED, false } },
        { "ci32_le", { 4, SAMPLE_SIGNED, false } },  { "cf32", { 4, SAMPLE_FLOAT, false } },
        { "fc32", { 4, SAMPLE_FLOAT, false } },      { "cf64_be", { 8, SAMPLE_FLOAT, true } },
    };
    static const char *const no_names[] = { "",      "c",     "cu",   "cu9",
                                            "cf16",  "cs64",  "rf32", "cs16_xe",
                                            "cs16x", "cs-16", "16",   "cu8cu8cu8cu8cu8cu8" };
    struct fm_format format;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(fm_format_named(&format, names[i].name));
        CHECK(format.bytes == names[i].format.bytes && format.coding == names[i].format.coding &&
              format.is_big_endian == names[i].format.is_big_endian);
    }
    for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++)
        CHECK(!fm_format_named(&format, no_names[i]));
    CHECK(fm_format_of_file(&format, "a.b/c.cs16") && format.bytes == 2);
    CHECK(fm_format_of_file(&format, "c.cfile") && format.coding == SAMPLE_FLOAT);
    CHECK(!fm_format_of_file(&format, "_fc.raw") && !fm_format_of_file(&format, "cs16"));
}

TEST(a_recording_is_read_as_often_as_it_is_played)
{
    struct fm_input input;
    uint8_t iq[16] = "";

    write_file("in.cu8", "abcdef", 6);
    CHECK(fm_input_open(&input, "in.cu8", "", 3, why));
    CHECK(fm_input_read(&input, iq, 5, why) == 5 && memcmp(iq, "abcdefabcd", 10) == 0);
    CHECK(fm_input_read(&input, iq, 8, why) == 4 && memcmp(iq, "efabcdef", 8) == 0);
    CHECK(fm_input_read(&input, iq, 8, why) == 0);
    fm_input_close(&input);
    CHECK(unlink("in.cu8") == 0);
}

TEST(a_recording_that_shrinks_while_it_is_played_is_an_error)
{
    struct fm_input input;
    uint8_t iq[16];

    write_file("in.cu8", "abcdef", 6);
    CHECK(fm_input_open(&input, "in.cu8", "", 1, why));
    CHECK(truncate("in.cu8", 2) == 0);
    CHECK(fm_input_read(&input, iq, 3, why) == -1 && strstr(why, "became shorter"));
    fm_input_close(&input);
    CHECK(unlink("in.cu8") == 0);
}

TEST(an_output_is_wav_or_f32_and_nothing_else)
{
    struct fm_output output;

    CHECK(!fm_output_open(&output, "out.mp3", 48000, why) &&
          strstr(why, "must end in .wav or .f32"));
    CHECK(!fm_output_open(&output, ".wav", 48000, why));
    CHECK(!fm_output_open(&output, "no/such/folder.wav", 48000, why) &&
          strstr(why, "No such file"));
}

TEST(a_wav_file_says_its_rate_and_length)
{
    const float audio[] = { 0.5f, -1 };
    const uint8_t expected[] =
        "RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\xbb\0\0\0\x77\1\0\2\0\x10\0"
        "data\4\0\0\0\0\x40\1\x80";
    struct fm_output output;
    uint8_t got[64];

    CHECK(fm_output_open(&output, "out.wav", 48000, why));
    CHECK(fm_output_write(&output, audio, 1, why) && fm_output_write(&output, audio + 1, 1, why));
    CHECK(fm_output_finish(&output, why) && fm_output_finish(&output, why));
    fm_output_close(&output);
    CHECK(read_file("out.wav", got, sizeof got) == sizeof expected - 1);
    CHECK(memcmp(got, expected, sizeof expected - 1) == 0);
}

TEST(an_f32_file_is_the_samples_and_an_empty_name_drops_them)
{
    const float audio[] = { 0.5f, -1, 2.5f };
    struct fm_output output;
    float got[4];

    CHECK(fm_output_open(&output, "out.f32", 48000, why));
    CHECK(fm_output_write(&output, audio, 3, why) && fm_output_finish(&output, why));
    fm_output_close(&output);
    CHECK(read_file("out.f32", got, sizeof got) == sizeof audio);
    CHECK(memcmp(got, audio, sizeof audio) == 0);
    CHECK(fm_output_open(&output, "", 48000, why));
    CHECK(fm_output_write(&output, audio, 3, why) && output.samples == 3);
    CHECK(fm_output_finish(&output, why));
}

enum { SAMPLES = 50000, AUDIO = SAMPLES / 5 };

static void receive(double frame_samples, float *audio)
{
    struct fm_config config;
    struct fm_input input;
    struct fm_output output;

    fm_config_init(&config);
    config.frame_samples = frame_samples;
    CHECK(fm_config_check(&config, why));
    CHECK(fm_input_open(&input, "in.cu8", "", 1, why));
    CHECK(fm_output_open(&output, "out.f32", config.audio_rate, why));
    CHECK(fm_receiver_run(&config, &input, &output, why));
    fm_input_close(&input);
    fm_output_close(&output);
    CHECK(read_file("out.f32", audio, AUDIO * sizeof *audio) == AUDIO * sizeof *audio);
}

TEST(the_radio_gives_the_same_bits_for_every_length_of_frame)
{
    const double lengths[] = { 1, 63, 64, 777, 1024, 65536 };
    static uint8_t iq[2 * SAMPLES];
    static float audio[AUDIO], other[AUDIO];
    uint32_t seed = 11;

    for (size_t i = 0; i < sizeof iq; i++)
        iq[i] = (uint8_t)random_next(&seed);
    write_file("in.cu8", iq, sizeof iq);
    receive(4800, audio);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        receive(lengths[i], other);
        CHECK(memcmp(audio, other, sizeof audio) == 0);
    }
    CHECK(unlink("in.cu8") == 0);
}
