// SPDX-License-Identifier: Apache-2.0
// The plan, as a helper reads it, and what its layout takes.
#include <string.h>

#include "layout.h"
#include "parse.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static _Alignas(4096) unsigned char scratch[1 << 20];
    yyjson_alc *memory = yyjson_alc_dyn_new();
    struct parse_error error = { 0 };
    struct plan plan = { 0 };
    struct plan_error refused = { 0 };
    size_t arena_bytes;

    MUST(memory != NULL);
    if (parse_plan(memory, (const char *)data, bytes, &plan, &error)) {
        MUST(plan.n_cores > 0 && plan.n_tasks > 0);
        memset(scratch, 0, sizeof scratch);
        MUST(layout_count(scratch, sizeof scratch, &plan, 64, &arena_bytes, &refused) ||
             refused.text != NULL);
    } else {
        MUST(error.text[0] != '\0');
    }
    yyjson_alc_dyn_free(memory);
    return 0;
}
