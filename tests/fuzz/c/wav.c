// SPDX-License-Identifier: Apache-2.0
// Where the sound of a file is.
#include "common/wav.h"
#include "target.h"

struct memory {
    const uint8_t *data;
    size_t bytes;
};

static int64_t read_at(void *file, void *to, size_t bytes, uint64_t place)
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
    char why[WAV_WHY_BYTES];
    struct wav wav;

    if (wav_find(&wav, read_at, &memory, why))
        MUST(wav.rate > 0 && wav.samples > 0 && wav.at <= bytes);
    else
        MUST(why[0] != '\0' && memchr(why, '\0', sizeof why) != NULL);
    return 0;
}
