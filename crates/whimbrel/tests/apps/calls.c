// SPDX-License-Identifier: Apache-2.0
// A caller that asks a service for sums, and prints how many of its calls ended how.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { WORDS = 40, PATIENCE_NS = 2000000000 };

int adder(struct wb_task *self)
{
    struct wb_service service;
    struct wb_request request;

    if (wb_service_open(self, "sums", &service) != WB_OK)
        return 1;
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const uint32_t *words = request.data;
        uint32_t *sum = request.answer;
        *sum = 0;
        for (uint32_t i = 0; i < request.bytes / 4; i++)
            *sum += words[i];
        (void)wb_compute(self);
        if (wb_service_answer(&service, sizeof *sum) != WB_OK)
            return 1;
        wb_checkpoint();
    }
    return 0;
}

int asker(struct wb_task *self)
{
    const uint32_t calls = (uint32_t)wb_param_number(wb_task_app(self), "calls", 0);
    struct wb_caller caller;
    uint32_t words[WORDS] = { 0 }, sum = 0, right = 0, gone = 0;

    if (wb_caller_open(self, "sums", &caller) != WB_OK)
        return 1;
    for (uint32_t i = 0; !wb_stopping(self) && (calls == 0 || i < calls); i++) {
        words[i % WORDS] = i;
        const int32_t n = wb_call(&caller, words, sizeof words, &sum, sizeof sum, PATIENCE_NS);
        uint32_t expected = 0;
        for (uint32_t j = 0; j < WORDS; j++)
            expected += words[j];
        if (n != (int32_t)sizeof sum && n != WB_ERR_GONE)
            wb_task_fail(self, wb_status_text((enum wb_status)n));
        right += n > 0 && sum == expected;
        gone += n == WB_ERR_GONE;
        wb_checkpoint();
        (void)wb_period_wait(self);
    }
    dprintf(STDOUT_FILENO, "%u right, %u gone, of %u in %u moves\n", right, gone, right + gone,
            (unsigned int)wb_task_migrations(self));
    return 0;
}
