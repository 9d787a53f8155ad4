// SPDX-License-Identifier: Apache-2.0
// Rules up to the first zero, then a capture whose packets they classify.
#include "packets/capture.h"
#include "packets/rules.h"
#include "target.h"

static size_t size;

static int64_t read_memory(const void *from, void *to, size_t bytes, uint64_t place)
{
    const size_t left = place < size ? size - (size_t)place : 0;
    const size_t n = bytes < left ? bytes : left;

    if (n > 0)
        memcpy(to, (const uint8_t *)from + place, n);
    return (int64_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char why[CAPTURE_WHY_BYTES + RULES_WHY_BYTES] = "";
    const uint8_t *begin;
    const size_t n = part(&data, &bytes, 0, &begin);
    char *text = text_of(begin, n);
    const struct capture_file file = { read_memory, data, bytes };
    struct capture_record record;
    struct capture capture;
    struct rules rules;

    const bool has_rules = rules_read(&rules, text, why);
    free(text);
    size = bytes;
    if (!capture_open(&capture, &file, why))
        return 0;
    for (uint64_t before = capture.at, i = 0;
         capture_next(&capture, &file, (uint32_t)i, &record, why) == CAPTURE_PACKET; i++) {
        const struct rules_frame frame = { record.link, data + record.place, record.bytes,
                                           record.original };
        MUST(capture.at > before && capture.at <= bytes);
        MUST(record.place <= bytes && record.bytes <= bytes - record.place);
        MUST(record.bytes <= record.original && link_bytes(record.link) >= 0);
        if (has_rules)
            MUST(rules_apply(&rules, &frame) < ACTIONS);
        before = capture.at;
    }
    return 0;
}
