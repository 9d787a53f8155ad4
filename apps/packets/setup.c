// SPDX-License-Identifier: Apache-2.0
// The hooks around a run: walks over the capture, reads the rules, opens the outputs, and tells in
// the end what became of the packets.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/tasks.h"
#include "packets.h"

static const char *const names[ACTIONS] = { "forward", "store", "discard" };

// ---- The capture --------------------------------------------------------------------------------

static bool fits(const struct packets *packets, const struct capture_record *record, char *why)
{
    if (record->bytes < FRAME_BYTES_MIN)
        snprintf(why, CAPTURE_WHY_BYTES, "packet %lu has %lu bytes: Ethernet has 14 or more",
                 (unsigned long)packets->captured + 1, (unsigned long)record->bytes);
    else if (record->bytes > packets->frame_bytes)
        snprintf(why, CAPTURE_WHY_BYTES,
                 "packet %lu has %lu bytes, more than frame_bytes: --set frame_bytes=%lu",
                 (unsigned long)packets->captured + 1, (unsigned long)record->bytes,
                 (unsigned long)record->bytes);
    else
        return true;
    return false;
}

static bool walk(struct packets *packets, char *why)
{
    const struct file *input = &packets->input;
    uint8_t header[CAPTURE_RECORD_BYTES] = { 0 };
    struct capture_record record;

    for (uint64_t at = CAPTURE_HEADER_BYTES; at < input->bytes;
         at += sizeof header + record.bytes, packets->captured++) {
        if (file_read_at(input, header, sizeof header, at) < 0)
            return snprintf(why, CAPTURE_WHY_BYTES, "%s", strerror(errno)) < 0;
        if (!capture_next(&packets->capture, header, input->bytes - at, packets->captured + 1,
                          &record, why) ||
            !fits(packets, &record, why))
            return false;
    }
    if (packets->captured > 0)
        return true;
    snprintf(why, CAPTURE_WHY_BYTES, "it has no packets: capture some (tcpdump -w NAME.pcap)");
    return false;
}

static bool open_input(struct wb_app *app, struct packets *packets)
{
    uint8_t header[CAPTURE_HEADER_BYTES];
    char why[CAPTURE_WHY_BYTES];

    if (!file_open(app, &packets->input, "input"))
        return false;
    const int64_t n = file_read_at(&packets->input, header, sizeof header, 0);
    if (n < 0)
        return file_refuse(app, "input", strerror(errno));
    return (capture_open(&packets->capture, header, (size_t)n, why) && walk(packets, why)) ||
           file_refuse(app, "input", why);
}

// ---- The parameters -----------------------------------------------------------------------------

static bool read_numbers(struct wb_app *app, struct packets *packets)
{
    return app_integer(app, "frame_bytes", FRAME_BYTES_MIN, FRAME_BYTES_MAX,
                       &packets->frame_bytes) &&
           app_integer(app, "plays", 1, 1e6, &packets->plays) &&
           app_integer(app, "bit_errors", 0, 1e6, &packets->medium.errors) &&
           app_integer(app, "seed", 0, UINT32_MAX, &packets->medium.seed) &&
           app_integer(app, "store_bytes", 0, 1e9, &packets->store_bytes);
}

static bool read_rules(struct wb_app *app, struct packets *packets)
{
    const char *otherwise = wb_param_text(app, "otherwise", "discard");

    if (!rules_read(&packets->rules, wb_param_text(app, "rules", ""), app->error))
        return false;
    if (rules_action(otherwise, strlen(otherwise), &packets->rules.otherwise))
        return true;
    snprintf(app->error, sizeof app->error,
             "otherwise is \"%.80s\": give forward, store or discard", otherwise);
    return false;
}

static bool count_packets(struct wb_app *app, const struct packets *packets)
{
    if ((uint64_t)packets->captured * packets->plays < UINT32_MAX)
        return true;
    snprintf(app->error, sizeof app->error,
             "plays is too large for this input: at most 2^32 packets are processed in a run");
    return false;
}

static bool reserve_store(struct wb_app *app, struct packets *packets)
{
    if (packets->store_bytes > 0)
        packets->stored = wb_app_alloc(app, packets->store_bytes);
    if (packets->stored || packets->store_bytes == 0)
        return true;
    snprintf(app->error, sizeof app->error,
             "store_bytes is %lu: memory of [app] is too small for it, raise that in app.toml",
             (unsigned long)packets->store_bytes);
    return false;
}

static bool open_outputs(struct wb_app *app, struct packets *packets)
{
    uint8_t header[CAPTURE_HEADER_BYTES];

    capture_put_header(&packets->capture, header);
    for (int i = 0; i < ACTIONS; i++) {
        if (!file_create(app, &packets->output[i], names[i], ".pcap"))
            return false;
        if (!file_write_at(&packets->output[i], header, sizeof header, 0))
            return file_refuse(app, names[i], strerror(errno));
    }
    return true;
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct packets *packets = wb_app_alloc(app, sizeof *packets);

    if (!packets) {
        snprintf(app->error, sizeof app->error,
                 "[app] memory is too small for the packets: raise it in app.toml");
        return WB_ERR_NOMEM;
    }
    coding_init(&packets->coding);
    if (!read_numbers(app, packets) || !read_rules(app, packets) || !open_input(app, packets) ||
        !count_packets(app, packets) || !reserve_store(app, packets) || !open_outputs(app, packets))
        return WB_ERR_INVAL;
    app->state = packets;
    return WB_OK;
}

// ---- What became of them ------------------------------------------------------------------------

static void tell(const struct packets *packets)
{
    const struct tally *tally = packets->tally;
    uint64_t all = 0, corrected = 0;

    for (int i = 0; i < ACTIONS; i++) {
        all += tally[i].packets;
        corrected += tally[i].corrected;
    }
    fprintf(stderr, "packets: %llu received, %llu bits corrected\n", (unsigned long long)all,
            (unsigned long long)corrected);
    for (int i = FORWARD; i < DISCARD; i++)
        fprintf(stderr, "packets: %llu to %s, %llu bytes, CRC-32 %08lx\n",
                (unsigned long long)(tally[i].packets - tally[i].cause[NO_ROOM]), names[i],
                (unsigned long long)tally[i].bytes, (unsigned long)tally[i].crc);
    fprintf(stderr,
            "packets: %llu discarded: %llu by a rule, %llu damaged, %llu for lack of room\n",
            (unsigned long long)(tally[DISCARD].packets + tally[STORE].cause[NO_ROOM]),
            (unsigned long long)tally[DISCARD].cause[BY_RULE],
            (unsigned long long)tally[DISCARD].cause[DAMAGED],
            (unsigned long long)tally[STORE].cause[NO_ROOM]);
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    struct packets *packets = app->state;

    if (!packets)
        return WB_OK;
    tell(packets);
    const bool written = file_write_at(&packets->output[STORE], packets->stored,
                                       packets->stored_bytes, CAPTURE_HEADER_BYTES) ||
                         file_refuse(app, names[STORE], strerror(errno));
    for (int i = 0; i < ACTIONS; i++)
        file_close(&packets->output[i]);
    file_close(&packets->input);
    return written ? WB_OK : WB_ERR_INVAL;
}
