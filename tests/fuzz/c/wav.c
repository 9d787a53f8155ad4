// SPDX-License-Identifier: Apache-2.0
// Where the samples of a file are, and the last of them.
#include "common/wav.h"
#include "target.h"

struct memory {
    const uint8_t *data;
    size_t bytes;
};

static int64_t read_at(const void *file, void *to, size_t bytes, uint64_t place)
{
    const struct memory *memory = file;
    const size_t there = place < memory->bytes ? memory->bytes - (size_t)place : 0;
    const size_t n = bytes < there ? bytes : there;

    if (n > 0)
        memcpy(to, memory->data + place, n);
    return (int64_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct memory memory = { data, bytes };
    const struct wav_file file = { read_at, &memory, bytes };
    char why[WAV_WHY_BYTES];
    int16_t samples[64];
    struct wav wav;

    if (!wav_find(&wav, &file, why)) {
        MUST(why[0] != '\0' && memchr(why, '\0', sizeof why) != NULL);
        return 0;
    }
    MUST(wav.rate > 0 && wav.samples > 0 && wav.channels > 0 && wav.channels <= WAV_CHANNELS_MAX);
    MUST(wav.at + wav.samples * wav.channels * wav.sample_bytes <= bytes);
    MUST(wav_read(&wav, &file, wav.samples - 1, samples, 64) == 1);
    return 0;
}
