// SPDX-License-Identifier: Apache-2.0
#include "count.h"

bool count_memory(const struct plan *plan, size_t *bytes, struct plan_error *error)
{
    (void)error;
    *bytes = plan->memory_bytes;
    return true;
}
