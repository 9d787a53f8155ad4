// SPDX-License-Identifier: Apache-2.0
// The hooks around a run: reads the parameters, opens the recordings, and tells in the end what
// became of the calls.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/tasks.h"
#include "pcap.h"

// ---- The parameters -----------------------------------------------------------------------------

static bool refuse_codec(struct wb_app *app, const char *name, size_t length, const char *reason)
{
    snprintf(app->error, sizeof app->error, "codecs: \"%.*s\" %s", (int)length, name, reason);
    return false;
}

static bool offer(struct wb_app *app, struct voip *voip, const char *name, size_t length)
{
    const int codec = codec_find(name, length);
    char reason[64];

    if (codec < 0 && length == 4 && strncasecmp(name, "G722", length) == 0)
        return refuse_codec(app, name, length, "needs SpanDSP: make setup, then make build");
    if (codec < 0)
        return refuse_codec(app, name, length, "is none: give some of PCMU, PCMA, opus and G722");
    if (codecs[codec]->only_rate > 0 && codecs[codec]->only_rate != voip->format.rate) {
        snprintf(reason, sizeof reason, "has %u samples in a second: set rate to that",
                 (unsigned)codecs[codec]->only_rate);
        return refuse_codec(app, name, length, reason);
    }
    if (memchr(voip->order, codec, voip->offered))
        return refuse_codec(app, name, length, "is there twice");
    voip->order[voip->offered++] = (uint8_t)codec;
    return true;
}

static bool read_codecs(struct wb_app *app, struct voip *voip)
{
    static const char *const between = " ,";
    const char *name = wb_param_text(app, "codecs", "PCMU PCMA");

    name += strspn(name, between);
    while (*name != '\0') {
        const size_t length = strcspn(name, between);

        if (!offer(app, voip, name, length))
            return false;
        name += length;
        name += strspn(name, between);
    }
    return voip->offered > 0 || refuse_codec(app, "", 0, "is none: give some of PCMU and PCMA");
}

// Opus has frames of these lengths only, and takes these rates.
static bool read_format(struct wb_app *app, struct voip *voip)
{
    struct codec_format *format = &voip->format;

    if (!app_integer(app, "rate", 8000, 48000, &format->rate) ||
        !app_integer(app, "ptime", 10, 60, &voip->ptime_ms) ||
        !app_integer(app, "opus_effort", 0, 10, &format->effort) ||
        !app_integer(app, "opus_bits", 6000, 510000, &format->bits_rate))
        return false;
    format->samples = format->rate / 1000 * voip->ptime_ms;
    if ((format->rate == 8000 || format->rate == 16000 || format->rate == 48000) &&
        (voip->ptime_ms == 10 || voip->ptime_ms % 20 == 0) && format->samples <= CODEC_SAMPLES)
        return true;
    snprintf(app->error, sizeof app->error,
             "rate and ptime: give 8000, 16000 or 48000 Hz, and 10, 20, 40 or 60 ms that have no "
             "more than %d samples",
             CODEC_SAMPLES);
    return false;
}

static bool read_times(struct wb_app *app, struct voip *voip)
{
    uint32_t jitter_ms;

    if (!app_integer(app, "calls", 0, 1e6, &voip->wanted_calls) ||
        !app_integer(app, "poll_us", 0, 1e6, &voip->poll_us) ||
        !app_integer(app, "answers_us", 0, 1e6, &voip->answers_us) ||
        !app_integer(app, "jitter_ms", 0, 300, &jitter_ms) ||
        !app_integer(app, "hang_up_ms", 0, 1e9, &voip->hang_up_ms) ||
        !app_integer(app, "ring_ms", 0, 60000, &voip->ring_ms) ||
        !app_integer(app, "silence_ms", 0, 1e9, &voip->silence_ms))
        return false;
    voip->jitter_frames = (jitter_ms + voip->ptime_ms - 1) / voip->ptime_ms;
    return true;
}

static bool read_room(struct wb_app *app, struct voip *voip)
{
    uint32_t echo_ms, tail_ms, cancels, suppresses, blocks;

    if (!app_integer(app, "echo_ms", 0, 100, &echo_ms) ||
        !app_integer(app, "echo_permille", 0, 1000, &voip->echo_permille) ||
        !app_integer(app, "tail_ms", 10, 500, &tail_ms) ||
        !app_integer(app, "cancel", 0, 1, &cancels) ||
        !app_integer(app, "suppress", 0, 1, &suppresses) ||
        !app_integer(app, "blocking", 0, 1, &blocks))
        return false;
    voip->echo_samples = voip->format.rate / 1000 * echo_ms;
    voip->tail_samples = voip->format.rate / 1000 * tail_ms;
    voip->cancels = cancels;
    voip->suppresses = suppresses;
    voip->blocks = blocks;
    return true;
}

static bool read_srtp(struct wb_app *app, struct voip *voip)
{
    static const char *const names[] = { "", "offer", "require" };
    const char *name = wb_param_text(app, "srtp", "");

    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            voip->srtp = (enum voip_srtp)i;
            return true;
        }
    return file_refuse(app, "srtp", "write offer or require, or leave it empty");
}

// ---- The recordings -----------------------------------------------------------------------------

static int64_t read_input(const void *file, void *data, size_t bytes, uint64_t place)
{
    return file_read_at(file, data, bytes, place);
}

struct wav_file voip_input(const struct voip *voip)
{
    return (struct wav_file){ read_input, &voip->input, voip->input.bytes };
}

static bool open_input(struct wb_app *app, struct voip *voip)
{
    char why[WAV_WHY_BYTES];

    voip->input.fd = -1;
    if (*wb_param_text(app, "input", "") == '\0')
        return true;  // silence
    if (!file_open(app, &voip->input, "input"))
        return false;
    const struct wav_file file = voip_input(voip);
    if (!wav_find(&voip->wav, &file, why))
        return file_refuse(app, "input", why);
    if (voip->wav.is_cut)
        file_warn(app, "input", "it is cut off: it is spoken to its end");
    if (voip->wav.rate >= INPUT_RATE_LEAST && voip->wav.rate <= INPUT_RATE_MOST)
        return true;
    snprintf(why, sizeof why, "it has %lu samples in a second: convert it to between %d and %d",
             (unsigned long)voip->wav.rate, INPUT_RATE_LEAST, INPUT_RATE_MOST);
    return file_refuse(app, "input", why);
}

static bool write_header(const struct voip *voip)
{
    uint8_t header[WAV_HEADER_BYTES];
    const uint64_t periods = (uint64_t)voip->tally.sound.played + voip->tally.sound.silent;

    wav_header(header, voip->format.rate, periods * voip->format.samples);
    return file_write_at(&voip->output, header, sizeof header, 0);
}

static bool open_output(struct wb_app *app, struct voip *voip)
{
    return file_create(app, &voip->output, "output", ".wav") &&
           (write_header(voip) || file_refuse(app, "output", strerror(errno)));
}

static bool open_capture(struct wb_app *app, struct voip *voip)
{
    if (*wb_param_text(app, "capture", "") && strcmp(voip->peer, "loop") == 0)
        return file_refuse(app, "capture", "peer=loop sends nothing to a network: leave out one");
    return file_create(app, &voip->capture, "capture", ".pcap") &&
           (pcap_begin(voip) || file_refuse(app, "capture", strerror(errno)));
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct voip *voip = wb_app_alloc(app, sizeof *voip);

    if (!voip) {
        snprintf(app->error, sizeof app->error,
                 "[app] memory is too small for the phone: raise it in app.toml");
        return WB_ERR_NOMEM;
    }
    voip->peer = wb_param_text(app, "peer", "");
    voip->listen = wb_param_text(app, "listen", "127.0.0.1:5060");
    voip->user = wb_param_text(app, "user", "whimbrel");
    voip->card = wb_param_text(app, "card", "");
    if (!read_format(app, voip) || !read_codecs(app, voip) || !read_times(app, voip) ||
        !read_room(app, voip) || !read_srtp(app, voip) ||
        !server_read(app, &voip->server, voip->user) || !open_input(app, voip) ||
        !open_output(app, voip) || !open_capture(app, voip))
        return WB_ERR_INVAL;
    app->state = voip;
    return WB_OK;
}

// ---- What became of them ------------------------------------------------------------------------

static void tell(const struct voip *voip)
{
    const struct voip_agent_tally *agent = &voip->tally.agent;
    const struct voip_sound_tally *sound = &voip->tally.sound;

    fprintf(stderr,
            "voip: %u calls, %u failed; %u packets sent, at most %.1f ms apart; %u received, %u "
            "lost, %u late, %u damaged, %u unwanted, %u dropped\n",
            (unsigned)agent->calls, (unsigned)agent->failed, (unsigned)agent->sent,
            agent->longest_us / 1e3, (unsigned)agent->received, (unsigned)agent->lost,
            (unsigned)agent->late, (unsigned)agent->damaged, (unsigned)agent->unwanted,
            (unsigned)agent->dropped);
    if (voip->tally.mixed > 0)
        fprintf(stderr, "voip: %u frames mixed\n", (unsigned)voip->tally.mixed);
    else
        fprintf(
            stderr,
            "voip: %u frames encoded, %u decoded, %u concealed, %u played, %u skipped, %u missed; "
            "the longest gap in the sound %u ms\n",
            (unsigned)voip->tally.encoder.encoded, (unsigned)voip->tally.decoder.decoded,
            (unsigned)voip->tally.decoder.concealed, (unsigned)sound->played,
            (unsigned)sound->skipped, (unsigned)sound->missed,
            (unsigned)(sound->gap * voip->ptime_ms));
    if (agent->answers > 0)
        fprintf(stderr, "voip: services answered after %.3f ms on average, %.3f ms at most",
                (double)agent->answers_us / 1e3 / agent->answers, agent->slowest_us / 1e3);
    if (agent->decoded > 0)
        fprintf(stderr, "; the decoder after %.3f ms",
                (double)agent->decoded_us / 1e3 / agent->decoded);
    if (agent->answers > 0)
        fputc('\n', stderr);
}

// A kernel that was killed may have left a part of a packet.
static bool end_capture(const struct voip *voip)
{
    return voip->capture.fd < 0 || ftruncate(voip->capture.fd, (off_t)voip->capture.bytes) == 0;
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    struct voip *voip = app->state;

    if (!voip)
        return WB_OK;
    tell(voip);
    const bool is_written = (write_header(voip) || file_refuse(app, "output", strerror(errno))) &&
                            (end_capture(voip) || file_refuse(app, "capture", strerror(errno)));
    file_close(&voip->input);
    file_close(&voip->output);
    file_close(&voip->capture);
    return is_written ? WB_OK : WB_ERR_INVAL;
}
