// SPDX-License-Identifier: Apache-2.0
// A GPP that calls a DSP: `calls` times with `bytes` each way, one after the other; or, if it has
// periods, one call at the beginning of each, before its own work. The DSP answers
// with as many bytes, and works `works_us` before: in a simulation, its cycles. At its end the GPP
// prints the mean time of a call, and that of all.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { BYTES_MOST = 32768 };

static void work(struct wb_task *self, uint32_t us)
{
    const uint64_t until_ns = wb_now_ns() + us * UINT64_C(1000);

    if (us == 0 || !wb_compute(self))
        return;
    while (wb_now_ns() < until_ns)
        continue;
}

int dsp(struct wb_task *self)
{
    const uint32_t works_us = (uint32_t)wb_param_number(wb_task_app(self), "works_us", 0);
    struct wb_service service;
    struct wb_request request;

    if (wb_service_open(self, "dsp", &service) != WB_OK)
        return 1;
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        work(self, works_us);
        if (wb_service_answer(&service, (int32_t)request.bytes) != WB_OK)
            return 1;
        wb_checkpoint();
    }
    return 0;
}

static void tell(const char *what, uint64_t ns)
{
    // Small C libraries print no 64 bits.
    const unsigned long us = (unsigned long)(ns / 1000), rest = (unsigned long)(ns % 1000);
    char text[64];
    const int n = snprintf(text, sizeof text, "%s %lu.%03lu us\n", what, us, rest);

    if (write(STDOUT_FILENO, text, (size_t)n) != n)
        _exit(1);
}

static unsigned char request[BYTES_MOST], answer[BYTES_MOST];

int gpp(struct wb_task *self)
{
    const struct wb_app *app = wb_task_app(self);
    const uint32_t bytes = (uint32_t)wb_param_number(app, "bytes", 0);
    const uint32_t calls = (uint32_t)wb_param_number(app, "calls", 0);
    const bool paced = wb_task_is_periodic(self);
    struct wb_caller caller;
    uint64_t in_calls_ns = 0;

    if (wb_caller_open(self, "dsp", &caller) != WB_OK)
        return 1;
    const uint64_t from_ns = wb_now_ns();
    for (uint32_t i = 0; i < calls; i++) {
        const uint64_t call_ns = wb_now_ns();
        if (wb_call(&caller, request, bytes, answer, bytes, WB_FOREVER) != (int32_t)bytes)
            wb_task_fail(self, "a call was not answered");
        in_calls_ns += wb_now_ns() - call_ns;
        if (paced) {
            (void)wb_compute(self);
            (void)wb_period_wait(self);
        }
        wb_checkpoint();
    }
    tell("all", wb_now_ns() - from_ns);
    tell("call", in_calls_ns / calls);
    return 0;
}
