// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/create.h"
#include "common/wav.h"

enum { PIECE_SAMPLES = 2048 };

static bool refuse_output(char why[FM_WHY_BYTES], const char *path, const char *reason)
{
    snprintf(why, FM_WHY_BYTES, "output \"%.140s\" cannot be created: %s", path, reason);
    return false;
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);

    return length > end && strcmp(path + length - end, suffix) == 0;
}

static bool write_at(int fd, const void *data, size_t bytes, uint64_t place, char why[FM_WHY_BYTES])
{
    const char *at = data;

    while (bytes > 0) {
        const ssize_t n = pwrite(fd, at, bytes, (off_t)place);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            snprintf(why, FM_WHY_BYTES, "cannot write the output: %s", strerror(errno));
            return false;
        }
        at += n;
        place += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

bool fm_output_open(struct fm_output *output, const char *path, double rate, char why[FM_WHY_BYTES])
{
    const char *reason;

    *output = (struct fm_output){ .fd = -1, .wav = true, .rate = (uint32_t)lround(rate) };
    if (path[0] == '\0')
        return true;
    output->wav = ends_in(path, ".wav");
    if (!output->wav && !ends_in(path, ".f32"))
        return refuse_output(why, path, "its name must end in .wav or .f32");
    output->fd = create_file(path, &reason);
    if (output->fd < 0)
        return refuse_output(why, path, reason);
    return true;
}

bool fm_output_write(struct fm_output *output, const float *audio, uint32_t samples,
                     char why[FM_WHY_BYTES])
{
    int16_t pcm[PIECE_SAMPLES];
    uint32_t n;

    for (uint32_t done = 0; done < samples; done += n, output->samples += n) {
        n = samples - done < PIECE_SAMPLES ? samples - done : PIECE_SAMPLES;
        if (output->fd < 0)
            continue;
        if (!output->wav) {
            if (!write_at(output->fd, audio + done, n * sizeof *audio,
                          output->samples * sizeof *audio, why))
                return false;
            continue;
        }
        fm_pcm16(audio + done, n, pcm);
        if (!write_at(output->fd, pcm, n * sizeof *pcm,
                      WAV_HEADER_BYTES + output->samples * sizeof *pcm, why))
            return false;
    }
    return true;
}

bool fm_output_finish(struct fm_output *output, char why[FM_WHY_BYTES])
{
    uint8_t header[WAV_HEADER_BYTES];

    if (output->fd < 0 || !output->wav)
        return true;
    wav_header(header, output->rate, output->samples);
    return write_at(output->fd, header, sizeof header, 0, why);
}

void fm_output_close(struct fm_output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}
