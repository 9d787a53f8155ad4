// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read_at.h"
#include "common/wav.h"
#include "sigmf.h"

enum { PATH_BYTES = 1024 };

static const char meta_end[] = ".sigmf-meta", data_end[] = ".sigmf-data";

static bool refuse(char why[FM_WHY_BYTES], const char *path, const char *reason)
{
    snprintf(why, FM_WHY_BYTES, "input \"%.100s\" cannot be played: %s", path, reason);
    return false;
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);

    return length > end && strcmp(path + length - end, suffix) == 0;
}

// ---- Files --------------------------------------------------------------------------------------

static int64_t read_wav(const void *file, void *data, size_t bytes, uint64_t place)
{
    return read_at(*(const int *)file, data, bytes, place);
}

// Returns the descriptor, with the size of the file; -1 with the reason.
static int open_file(const char *path, uint64_t *bytes, char why[FM_WHY_BYTES])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *fault = NULL;
    struct stat about;

    if (fd < 0 || fstat(fd, &about) != 0)
        fault = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        fault = "it is not a regular file";
    else if (about.st_size == 0)
        fault = "it is empty";
    if (!fault) {
        *bytes = (uint64_t)about.st_size;
        return fd;
    }
    refuse(why, path, fault);
    if (fd >= 0)
        close(fd);
    return -1;
}

// ---- What is in them ----------------------------------------------------------------------------

// The samples of a file are in these bytes of it.
static bool take_samples(struct fm_input *input, uint64_t first, uint64_t end)
{
    const uint64_t pair = (uint64_t)2 * input->format.bytes;
    const uint64_t bytes = end > first ? end - first : 0;

    input->first = first;
    input->samples = bytes / pair;
    input->is_cut |= bytes % pair != 0;
    return input->samples > 0;
}

static bool is_wav(int fd)
{
    char head[12];

    return read_at(fd, head, sizeof head, 0) == sizeof head && memcmp(head + 8, "WAVE", 4) == 0 &&
           (memcmp(head, "RIF", 3) == 0 || memcmp(head + 1, "W64", 3) == 0 ||
            memcmp(head, "RF64", 4) == 0);
}

static bool open_wav(struct fm_input *input, uint64_t bytes, char *reason, size_t room)
{
    const struct wav_file file = { read_wav, &input->fd, bytes };
    char why[WAV_WHY_BYTES];
    struct wav wav;

    if (!wav_find(&wav, &file, why)) {
        snprintf(reason, room, "%s", why);
        return false;
    }
    if (wav.channels != 2) {
        snprintf(reason, room,
                 "it has %u channel%s: give an IQ recording, which has I and Q in two",
                 (unsigned)wav.channels, wav.channels == 1 ? "" : "s");
        return false;
    }
    input->format = (struct fm_format){ .bytes = wav.sample_bytes, .coding = wav.coding };
    input->rate = wav.rate;
    input->centre_hz = (double)wav.centre_hz;
    input->is_cut = wav.is_cut;
    const uint64_t pair = (uint64_t)2 * wav.sample_bytes;
    return take_samples(input, wav.at, wav.at + wav.samples * pair);
}

// The number at `*at` and behind it, where `_` is in front of it.
static double take_number(const char **at)
{
    char *end;

    if (!*at || !isdigit((unsigned char)(*at)[1]))
        return 0;
    const double value = (double)strtoull(*at + 1, &end, 10);
    *at = end;
    return value;
}

// In its name GQRX says date, time, frequency and rate, and others the frequency with its unit.
static void take_name(struct fm_input *input, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *at = strchr(name, '_');

    if (strncmp(name, "gqrx_", 5) == 0 && ends_in(name, "_fc.raw") && take_number(&at) > 0 &&
        *at == '_') {
        (void)take_number(&at);
        input->centre_hz = take_number(&at);
        input->rate = take_number(&at);
    }
    for (at = strchr(name, '_'); at && input->centre_hz == 0; at = strchr(at, '_')) {
        const char *unit = at;
        const double value = take_number(&unit), scale = *unit == 'k'   ? 1e3
                                                         : *unit == 'M' ? 1e6
                                                                        : 1;

        unit += scale > 1;
        if (value > 0 && strncmp(unit, "Hz", 2) == 0 && !isalnum((unsigned char)unit[2]))
            input->centre_hz = value * scale;
        at++;
    }
}

static bool open_bare(struct fm_input *input, const char *path, uint64_t bytes, char *reason,
                      size_t room)
{
    if (input->format.bytes == 0 && !fm_format_of_file(&input->format, path)) {
        snprintf(reason, room,
                 "its name does not say what it has: set format to cu8, cs8, cs16 or cf32");
        return false;
    }
    if (take_samples(input, 0, bytes))
        return true;
    snprintf(reason, room, "it has less than a sample (I, Q): record it again");
    return false;
}

// ---- SigMF --------------------------------------------------------------------------------------

// Reads the description beside a file, given either name.
static bool read_meta(struct fm_sigmf *sigmf, const char *path, char *why)
{
    char meta[PATH_BYTES], reason[FM_SIGMF_WHY_BYTES];
    uint64_t bytes;

    snprintf(meta, sizeof meta, "%.*s%s", (int)(strlen(path) - strlen(meta_end)), path, meta_end);
    const int fd = open_file(meta, &bytes, why);
    if (fd < 0)
        return false;
    const bool done = fm_sigmf_load(sigmf, fd, bytes, reason);
    close(fd);
    return done || refuse(why, meta, reason);
}

static bool name_data(char data[PATH_BYTES], const char *path, const struct fm_sigmf *sigmf)
{
    const char *slash = strrchr(path, '/');
    const int stem = (int)(strlen(path) - strlen(data_end));
    const int folder = slash ? (int)(slash + 1 - path) : 0;

    if (sigmf->dataset[0] != '\0')
        return snprintf(data, PATH_BYTES, "%.*s%s", folder, path, sigmf->dataset) < PATH_BYTES;
    return snprintf(data, PATH_BYTES, "%.*s%s", stem, path, data_end) < PATH_BYTES;
}

static bool open_sigmf(struct fm_input *input, const char *path, char why[FM_WHY_BYTES])
{
    struct fm_sigmf sigmf;
    char data[PATH_BYTES];
    uint64_t bytes;

    if (strlen(path) >= PATH_BYTES || !read_meta(&sigmf, path, why))
        return strlen(path) < PATH_BYTES ? false : refuse(why, path, "its name is too long");
    if (!name_data(data, path, &sigmf))
        return refuse(why, path, "the name of its data is too long");
    input->fd = open_file(data, &bytes, why);
    if (input->fd < 0)
        return false;
    input->format = sigmf.format;
    input->rate = sigmf.rate;
    input->centre_hz = sigmf.centre_hz;
    if (!take_samples(input, sigmf.header_bytes,
                      bytes > sigmf.trailing_bytes ? bytes - sigmf.trailing_bytes : 0)) {
        close(input->fd);
        return refuse(why, data, "it has less than a sample (I, Q): record it again");
    }
    if (sigmf.samples > 0 && sigmf.samples < input->samples) {
        input->samples = sigmf.samples;
        input->is_cut = true;
    }
    return true;
}

// ---- Any of them --------------------------------------------------------------------------------

static bool open_other(struct fm_input *input, const char *path, const char *format, char *why)
{
    char reason[FM_WHY_BYTES / 2] = "";
    uint64_t bytes;

    input->fd = open_file(path, &bytes, why);
    if (input->fd < 0)
        return false;
    const bool has_head = is_wav(input->fd) || (format[0] == '\0' && ends_in(path, ".wav"));
    if (has_head ? open_wav(input, bytes, reason, sizeof reason)
                 : open_bare(input, path, bytes, reason, sizeof reason)) {
        take_name(input, path);
        return true;
    }
    close(input->fd);
    return refuse(why, path, reason);
}

bool fm_input_open(struct fm_input *input, const char *path, const char *format, uint64_t plays,
                   char why[FM_WHY_BYTES])
{
    const bool is_sigmf = ends_in(path, meta_end) || ends_in(path, data_end);

    *input = (struct fm_input){ .fd = -1 };
    if (strcmp(path, "-") == 0 || strstr(path, "://"))
        return refuse(why, path, "only a run on this machine has a live source: give a file");
    if (ends_in(path, ".sigmf"))
        return refuse(why, path, "it is an archive: unpack it by tar, and give its .sigmf-meta");
    if (format[0] != '\0' && !fm_format_named(&input->format, format)) {
        snprintf(why, FM_WHY_BYTES, "format is \"%.40s\": give cu8, cs8, cs16, cf32 or \"\"",
                 format);
        return false;
    }
    if (!(is_sigmf ? open_sigmf(input, path, why) : open_other(input, path, format, why)))
        return false;
    input->end = input->samples * plays;
    return true;
}

// ---- What the radio is to be set to -------------------------------------------------------------

// The settings for a rate that come closest to 48000 samples of sound in a second.
static bool find_rates(double rate, int *decimation, int *audio)
{
    double nearest = 16000;

    *audio = 0;
    for (int by = 1; by <= FM_DECIMATION_MAX; by++)
        for (int again = 1; again <= FM_DECIMATION_MAX; again++) {
            const double demodulated = rate / by, sound = demodulated / again;

            if (demodulated < 2 * FM_DEVIATION_HZ || demodulated > 4 * FM_DEVIATION_HZ + 20000 ||
                sound != floor(sound) || fabs(sound - 48000) >= nearest)
                continue;
            nearest = fabs(sound - 48000);
            *decimation = by;
            *audio = (int)sound;
        }
    return *audio > 0;
}

static bool refuse_rate(double wanted, double rate, const char *path, char why[FM_WHY_BYTES])
{
    int decimation, audio, n;

    n = snprintf(why, FM_WHY_BYTES,
                 "sample_rate is %.0f, but input \"%.60s\" has %.0f samples in a second: ", wanted,
                 path, rate);
    if (rate < 2 * FM_DEVIATION_HZ)
        snprintf(why + n, (size_t)(FM_WHY_BYTES - n),
                 "too few for broadcast FM, give an IQ recording of %d or more",
                 2 * FM_DEVIATION_HZ);
    else if (find_rates(rate, &decimation, &audio))
        snprintf(why + n, (size_t)(FM_WHY_BYTES - n),
                 "set sample_rate=%.0f, decimation=%d and audio_rate=%d", rate, decimation, audio);
    else
        snprintf(why + n, (size_t)(FM_WHY_BYTES - n), "resample it to %.0f", wanted);
    return false;
}

bool fm_input_tune(const struct fm_input *input, const char *path, struct fm_config *config,
                   char why[FM_WHY_BYTES])
{
    const double half = config->sample_rate / 2;

    if (input->rate > 0 && fabs(input->rate - config->sample_rate) > 0.5)
        return refuse_rate(config->sample_rate, input->rate, path, why);
    if (config->station_hz > 0 && input->centre_hz == 0) {
        snprintf(why, FM_WHY_BYTES,
                 "station_hz is %.0f, but input \"%.100s\" does not say what it is tuned to: set "
                 "offset_hz, and station_hz to 0",
                 config->station_hz, path);
        return false;
    }
    if (config->station_hz > 0 && fabs(config->station_hz - input->centre_hz) > half) {
        snprintf(
            why, FM_WHY_BYTES,
            "station_hz is %.0f: give a frequency from %.0f to %.0f, which input \"%.60s\" has",
            config->station_hz, input->centre_hz - half, input->centre_hz + half, path);
        return false;
    }
    if (config->station_hz > 0)
        config->offset_hz = config->station_hz - input->centre_hz;
    return true;
}

// ---- Reading ------------------------------------------------------------------------------------

int64_t fm_input_read(struct fm_input *input, uint8_t *iq, uint32_t samples, char why[FM_WHY_BYTES])
{
    const size_t pair = (size_t)2 * input->format.bytes;
    const uint64_t left = input->end - input->at;
    const uint64_t wanted = left < samples ? left : samples;

    for (uint64_t got = 0; got < wanted;) {
        const uint64_t place = input->at % input->samples, rest = input->samples - place;
        const uint64_t n = wanted - got < rest ? wanted - got : rest;
        const uint64_t from = input->first + place * pair;
        const int64_t bytes = read_at(input->fd, iq + got * pair, (size_t)n * pair, from);

        if (bytes != (int64_t)(n * pair)) {
            snprintf(why, FM_WHY_BYTES, "cannot read the input at byte %llu: %s",
                     (unsigned long long)from,
                     bytes >= 0 ? "the file became shorter while it was played" : strerror(errno));
            return -1;
        }
        got += n;
        input->at += n;
    }
    return (int64_t)wanted;
}

void fm_input_seek(struct fm_input *input, uint64_t sample)
{
    input->at = sample < input->end ? sample : input->end;
}

void fm_input_close(struct fm_input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
}
