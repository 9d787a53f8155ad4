// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices.h"
#include "source.h"
#include "speaker.h"
#include "thread.h"

enum { PIECE_SAMPLES = 1024, POLL_MS = 100, RING_S = 2, SAMPLE_BYTES_MAX = 16 };

static const char rtl_tcp[] = "rtl_tcp://", soapy[] = "soapy://";

struct fm_device {
    const char *input;  // as it was given
    pthread_t thread;
    struct fm_soapy *soapy;  // NULL: a descriptor
    int fd;
    bool waits;  // standard input: it is read when there is room
    uint32_t silent_ms;
    uint32_t over;  // bytes of a sample that is not whole yet
    _Alignas(16) uint8_t piece[PIECE_SAMPLES * SAMPLE_BYTES_MAX];
};

// ---- The thread ---------------------------------------------------------------------------------

// Puts samples in, or counts them as lost.
static void put(struct fm_live *live, const uint8_t *samples, uint64_t n)
{
    struct fm_ring *ring = &live->ring;
    const uint64_t head = wb_counter_own(&ring->head);
    uint64_t room;

    for (;;) {
        room = ring->capacity - (head - wb_counter_get(&ring->tail));
        if (room >= n || !live->device->waits || wb_word_load(&live->is_stopped, WB_ACQUIRE))
            break;
        fm_thread_pause();
    }
    const uint64_t taken = room < n ? room : n;
    fm_ring_write(ring, samples, taken, head);
    wb_counter_set(&ring->head, head + taken);
    if (taken < n && !live->device->waits) {
        wb_counter_add(&live->lost, n - taken);
        wb_counter_add(&live->overruns, 1);
    }
}

static void fail(struct fm_live *live, const char *reason)
{
    snprintf(live->why, sizeof live->why, "input \"%.80s\" failed: %.100s", live->device->input,
             reason);
}

// A file with a head is no bare samples.
static bool is_container(const struct fm_live *live, const uint8_t *data, size_t n)
{
    return wb_counter_get(&live->ring.head) == 0 && n >= 12 && memcmp(data + 8, "WAVE", 4) == 0;
}

static void end_of_input(struct fm_live *live)
{
    if (!live->device->waits)
        fail(live, "the server closed the connection");
    else if (wb_counter_get(&live->ring.head) == 0)
        fail(live, "there are no samples on standard input: pipe some into it");
}

// False at the end.
static bool receive_bytes(struct fm_live *live)
{
    struct fm_device *device = live->device;
    struct pollfd one = { .fd = device->fd, .events = POLLIN };
    const uint32_t bytes = live->ring.sample_bytes;

    if (poll(&one, 1, POLL_MS) <= 0) {
        device->silent_ms += POLL_MS;
        if (device->waits || device->silent_ms < FM_STALL_MS)
            return true;
        fail(live, "nothing came for 5 s");
        return false;
    }
    const ssize_t n =
        read(device->fd, device->piece + device->over, PIECE_SAMPLES * bytes - device->over);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n < 0)
        fail(live, strerror(errno));
    else if (n == 0)
        end_of_input(live);
    else if (is_container(live, device->piece, (size_t)n))
        fail(live, "it is a WAV file: give the name of the file");
    if (n <= 0 || live->why[0] != '\0')
        return false;
    device->silent_ms = 0;
    const uint32_t there = device->over + (uint32_t)n, whole = there / bytes;
    put(live, device->piece, whole);
    device->over = there % bytes;
    memmove(device->piece, device->piece + whole * bytes, device->over);
    return true;
}

static bool receive_samples(struct fm_live *live)
{
    struct fm_device *device = live->device;
    uint32_t overruns = 0;
    char why[FM_WHY_BYTES];
    const int64_t n = fm_soapy_read(device->soapy, device->piece, PIECE_SAMPLES, &overruns, why);

    wb_counter_add(&live->overruns, overruns);
    device->silent_ms = n == 0 && overruns == 0 ? device->silent_ms + POLL_MS : 0;
    if (n < 0)
        fail(live, why);
    else if (device->silent_ms >= FM_STALL_MS)
        fail(live, "nothing came for 5 s");
    else
        put(live, device->piece, (uint64_t)n);
    return live->why[0] == '\0';
}

static void *receive(void *state)
{
    struct fm_live *live = state;

    while (!wb_word_load(&live->is_stopped, WB_ACQUIRE))
        if (!(live->device->soapy ? receive_samples(live) : receive_bytes(live)))
            break;
    // Release: who sees it sees the last samples and the reason.
    wb_word_store(&live->is_over, true, WB_RELEASE);
    return NULL;
}

// ---- The launcher -------------------------------------------------------------------------------

static bool read_tuning(struct wb_app *app, const struct fm_config *config,
                        struct fm_tuning *tuning)
{
    const char *gain = wb_param_text(app, "gain_db", "");
    char *end;

    tuning->rate = config->sample_rate;
    tuning->centre_hz = config->station_hz > 0 ? config->station_hz - config->offset_hz : 0;
    tuning->gain_db = gain[0] == '\0' ? (double)NAN : strtod(gain, &end);
    if (gain[0] == '\0' || (*end == '\0' && tuning->gain_db >= 0 && tuning->gain_db <= 200))
        return true;
    snprintf(app->error, sizeof app->error,
             "gain_db is \"%.40s\": give a number from 0 to 200, or \"\" for the receiver's choice",
             gain);
    return false;
}

static bool open_stdin(struct fm_device *device, struct fm_format *format, const char *name,
                       char *why)
{
    device->fd = STDIN_FILENO;
    device->waits = true;
    if (isatty(device->fd)) {
        snprintf(why, FM_WHY_BYTES,
                 "input \"-\" is a terminal: pipe samples into it, for example from `rtl_sdr -`");
        return false;
    }
    if (fm_format_named(format, name[0] == '\0' ? "cu8" : name))
        return true;
    snprintf(why, FM_WHY_BYTES, "format is \"%.40s\": give cu8, cs8, cs16, cf32 or \"\"", name);
    return false;
}

static bool open_device(struct wb_app *app, struct fm_device *device,
                        const struct fm_config *config, struct fm_format *format)
{
    const char *input = device->input;
    struct fm_tuning tuning;

    if (!read_tuning(app, config, &tuning))
        return false;
    if (strcmp(input, "-") == 0)
        return open_stdin(device, format, wb_param_text(app, "format", ""), app->error);
    if (strncmp(input, rtl_tcp, strlen(rtl_tcp)) == 0) {
        (void)fm_format_named(format, "cu8");
        device->fd = fm_rtl_tcp_open(input + strlen(rtl_tcp), &tuning, app->error);
        return device->fd >= 0;
    }
    if (strncmp(input, soapy, strlen(soapy)) != 0) {
        snprintf(app->error, sizeof app->error,
                 "input \"%.60s\" is unknown: give a file, -, rtl_tcp://HOST:PORT or "
                 "soapy://driver=NAME",
                 input);
        return false;
    }
    if (config->station_hz <= 0) {
        snprintf(app->error, sizeof app->error,
                 "station_hz is 0: give the frequency of a station, for example 100.3e6");
        return false;
    }
    (void)fm_format_named(format, "cf32");
    device->soapy = fm_soapy_open(input + strlen(soapy), &tuning, app->error);
    return device->soapy;
}

static void close_device(struct fm_device *device)
{
    if (device->soapy)
        fm_soapy_close(device->soapy);
    else if (device->fd > STDIN_FILENO)
        close(device->fd);
    free(device);
}

static bool start(struct fm_live *live, const struct fm_config *config, struct fm_input *input,
                  double seconds)
{
    const uint64_t frames = 8 * (uint64_t)(config->frame_samples * config->decimation);
    const uint64_t time = (uint64_t)(RING_S * config->sample_rate);
    const uint32_t bytes = 2 * input->format.bytes;

    if (!fm_ring_make(&live->ring, bytes, time > frames ? time : frames))
        return false;
    input->fd = live->ring.fd;
    input->samples = live->ring.capacity;
    input->end = seconds > 0 ? (uint64_t)(seconds * config->sample_rate) : UINT64_MAX;
    if (fm_thread_start(&live->device->thread, receive, live))
        return true;
    close(input->fd);
    return false;
}

static bool live_open(struct wb_app *app, struct fm_radio *radio)
{
    struct fm_live *live = wb_app_alloc(app, sizeof *live);
    struct fm_device *device = calloc(1, sizeof *device);
    const double seconds = wb_param_number(app, "seconds", 0);

    radio->input = (struct fm_input){ .fd = -1 };
    if (!live || !device)
        snprintf(app->error, sizeof app->error, "[app] memory is too small for a live source");
    else if (!(seconds >= 0 && seconds <= 1e9))
        snprintf(app->error, sizeof app->error, "seconds is %g: give a number from 0 to 1e9",
                 seconds);
    if (app->error[0] != '\0') {
        free(device);
        return false;
    }
    device->input = wb_param_text(app, "input", "");
    device->fd = -1;
    live->device = device;
    if (!open_device(app, device, &radio->config, &radio->input.format)) {
        free(device);
        return false;
    }
    radio->live = live;
    if (start(live, &radio->config, &radio->input, seconds))
        return true;
    snprintf(app->error, sizeof app->error, "input \"%.80s\" cannot be played: %s", device->input,
             strerror(errno));
    close_device(device);
    return false;
}

static bool live_finish(struct wb_app *app, struct fm_radio *radio)
{
    struct fm_live *live = radio->live;

    wb_word_store(&live->is_stopped, true, WB_RELEASE);
    pthread_join(live->device->thread, NULL);
    const double seconds = (double)wb_counter_get(&live->ring.head) / radio->config.sample_rate;
    if (app->state)  // a run has begun
        fprintf(stderr, "fm_radio: input \"%.80s\": %.2f s received, %u overruns, %.3f s lost\n",
                live->device->input, seconds, (unsigned)wb_counter_get(&live->overruns),
                (double)wb_counter_get(&live->lost) / radio->config.sample_rate);
    close_device(live->device);
    if (live->why[0] == '\0')
        return true;
    snprintf(app->error, sizeof app->error, "%.220s (after %.2f s)", live->why, seconds);
    return false;
}

const struct fm_devices fm_devices = {
    .live_open = live_open,
    .live_finish = live_finish,
    .speaker_open = fm_speaker_open,
    .speaker_finish = fm_speaker_finish,
};
