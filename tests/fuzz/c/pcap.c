// SPDX-License-Identifier: Apache-2.0
// Rules up to the first zero, then a capture whose packets they classify.
#include "packets/capture.h"
#include "packets/rules.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char why[CAPTURE_WHY_BYTES + RULES_WHY_BYTES] = "";
    const uint8_t *begin;
    const size_t n = part(&data, &bytes, 0, &begin);
    char *text = text_of(begin, n);
    struct capture_record record;
    struct capture capture;
    struct rules rules;

    const bool has_rules = rules_read(&rules, text, why);
    free(text);
    if (!capture_open(&capture, data, bytes < CAPTURE_HEADER_BYTES ? bytes : CAPTURE_HEADER_BYTES,
                      why))
        return 0;
    for (size_t at = CAPTURE_HEADER_BYTES, i = 0;
         at < bytes && capture_next(&capture, data + at, bytes - at, (uint32_t)i, &record, why);
         at += CAPTURE_RECORD_BYTES + record.bytes, i++) {
        MUST(record.bytes <= bytes - at - CAPTURE_RECORD_BYTES);
        if (has_rules)
            MUST(rules_apply(&rules, data + at + CAPTURE_RECORD_BYTES, record.bytes) < ACTIONS);
    }
    return 0;
}
