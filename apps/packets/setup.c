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
    const unsigned long number = packets->captured + 1, bytes = record->bytes;

    if ((int)record->bytes < link_bytes(record->link))
        snprintf(why, CAPTURE_WHY_BYTES, "packet %lu has %lu bytes: %s has %d or more", number,
                 bytes, link_name(record->link), link_bytes(record->link));
    else if (record->bytes > FRAME_BYTES_MAX)
        snprintf(why, CAPTURE_WHY_BYTES,
                 "packet %lu has %lu bytes, more than %d: editcap -s %d FILE NAME.pcap cuts it",
                 number, bytes, FRAME_BYTES_MAX, FRAME_BYTES_MAX);
    else if (record->bytes > packets->frame_bytes)
        snprintf(why, CAPTURE_WHY_BYTES,
                 "packet %lu has %lu bytes, more than frame_bytes: --set frame_bytes=%lu", number,
                 bytes, bytes);
    else
        return true;
    return false;
}

// Outputs have each link type that a packet has. There is room for all that the rules understand.
static void add_link(struct capture_output *form, uint16_t link)
{
    for (uint32_t i = 0; i < form->links; i++)
        if (form->link[i] == link)
            return;
    form->link[form->links++] = link;
}

static bool walk(struct packets *packets, enum capture_status *end, char *why)
{
    const struct capture_file input = packets_input(packets);
    struct capture capture = packets->capture;
    struct capture_record record;

    for (;; packets->captured++) {
        *end = capture_next(&capture, &input, packets->captured + 1, &record, why);
        if (*end == CAPTURE_BAD || (*end == CAPTURE_PACKET && !fits(packets, &record, why)))
            return false;
        if (*end != CAPTURE_PACKET)
            break;
        packets->truncated += record.bytes < record.original;
        add_link(&packets->form, record.link);
    }
    packets->capture.nanoseconds = packets->form.nanoseconds = capture.nanoseconds;
    if (packets->captured > 0)
        return true;
    snprintf(why, CAPTURE_WHY_BYTES, "it has no packets: capture some (tcpdump -w NAME.pcap)");
    return false;
}

static void warn(struct wb_app *app, const struct packets *packets, enum capture_status end)
{
    char text[CAPTURE_WHY_BYTES];

    if (end == CAPTURE_CUT) {
        snprintf(text, sizeof text, "it is cut off in packet %lu: it is read to there",
                 (unsigned long)packets->captured + 1);
        file_warn(app, "input", text);
    }
    if (packets->truncated > 0) {
        snprintf(text, sizeof text,
                 "%lu of its %lu packets are truncated: capture whole packets (tcpdump -s 0)",
                 (unsigned long)packets->truncated, (unsigned long)packets->captured);
        file_warn(app, "input", text);
    }
    if (packets->form.links > 1)
        file_warn(app, "input",
                  "its packets have unlike link types: outputs are pcapng, which tshark reads");
}

static bool open_input(struct wb_app *app, struct packets *packets)
{
    enum capture_status end;
    char why[CAPTURE_WHY_BYTES];

    if (!file_open(app, &packets->input, "input"))
        return false;
    const struct capture_file input = packets_input(packets);
    if (!capture_open(&packets->capture, &input, why) || !walk(packets, &end, why))
        return file_refuse(app, "input", why);
    warn(app, packets, end);
    return true;
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

    packets->header_bytes = (uint32_t)capture_put_header(&packets->form, header);
    for (int i = 0; i < ACTIONS; i++) {
        if (!file_create(app, &packets->output[i], names[i], ".pcap"))
            return false;
        if (!file_write_at(&packets->output[i], header, packets->header_bytes, 0))
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
                                       packets->stored_bytes, packets->header_bytes) ||
                         file_refuse(app, names[STORE], strerror(errno));
    for (int i = 0; i < ACTIONS; i++)
        file_close(&packets->output[i]);
    file_close(&packets->input);
    return written ? WB_OK : WB_ERR_INVAL;
}
