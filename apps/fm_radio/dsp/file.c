// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/create.h"
#include "common/wav.h"

enum { PAIR_BYTES = 2, PIECE_SAMPLES = 2048 };

static bool refuse_input(char why[FM_WHY_BYTES], const char *path, const char *reason)
{
    snprintf(why, FM_WHY_BYTES, "input \"%.140s\" cannot be played: %s", path, reason);
    return false;
}

static bool refuse_output(char why[FM_WHY_BYTES], const char *path, const char *reason)
{
    snprintf(why, FM_WHY_BYTES, "output \"%.140s\" cannot be created: %s", path, reason);
    return false;
}

bool fm_input_open(struct fm_input *input, const char *path, uint64_t plays, char why[FM_WHY_BYTES])
{
    struct stat about;

    if (strcmp(path, "-") == 0)
        return refuse_input(why, path, "give the name of a file; standard input has no places");
    input->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0 || fstat(input->fd, &about) != 0)
        return refuse_input(why, path, strerror(errno));

    const char *fault = NULL;
    if (!S_ISREG(about.st_mode))
        fault = "it is not a regular file";
    else if (about.st_size == 0)
        fault = "it is empty";
    else if (about.st_size % PAIR_BYTES != 0)
        fault = "it has an odd number of bytes, so it was cut off inside a sample (I, Q)";
    if (fault) {
        close(input->fd);
        return refuse_input(why, path, fault);
    }
    input->samples = (uint64_t)about.st_size / PAIR_BYTES;
    input->at = 0;
    input->end = input->samples * plays;
    return true;
}

int64_t fm_input_read(struct fm_input *input, uint8_t *iq, uint32_t samples, char why[FM_WHY_BYTES])
{
    const uint64_t left = input->end - input->at;
    const size_t wanted = (size_t)PAIR_BYTES * (left < samples ? left : samples);
    const size_t play_bytes = (size_t)PAIR_BYTES * input->samples;
    size_t place = (size_t)PAIR_BYTES * (input->at % input->samples);

    for (size_t got = 0; got < wanted;) {
        const size_t room = wanted - got, rest = play_bytes - place;
        const ssize_t n = pread(input->fd, iq + got, room < rest ? room : rest, (off_t)place);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            snprintf(why, FM_WHY_BYTES, "cannot read the input at byte %lu: %s",
                     (unsigned long)place,
                     n == 0 ? "the file became shorter while it was played" : strerror(errno));
            return -1;
        }
        got += (size_t)n;
        place = (place + (size_t)n) % play_bytes;
    }
    input->at += wanted / PAIR_BYTES;
    return (int64_t)(wanted / PAIR_BYTES);
}

void fm_input_seek(struct fm_input *input, uint64_t sample)
{
    input->at = sample < input->end ? sample : input->end;
}

void fm_input_close(struct fm_input *input)
{
    close(input->fd);
    input->fd = -1;
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
