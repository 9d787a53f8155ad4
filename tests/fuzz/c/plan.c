// SPDX-License-Identifier: Apache-2.0
// The plan, as a helper reads it, and how much memory it asks for.
#include "layout.h"
#include "parse.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    yyjson_alc *memory = yyjson_alc_dyn_new();
    struct parse_error error = { 0 };
    struct plan plan = { 0 };

    MUST(memory != NULL);
    if (parse_plan(memory, (const char *)data, bytes, &plan, &error))
        MUST(plan.n_cores > 0 && plan.n_tasks > 0 && plan_memory_bytes(&plan) > 0);
    else
        MUST(error.text[0] != '\0');
    yyjson_alc_dyn_free(memory);
    return 0;
}
