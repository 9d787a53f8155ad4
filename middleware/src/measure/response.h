// SPDX-License-Identifier: Apache-2.0
// What wb/descriptor.h measures, for the files of the middleware where firings begin and end.
// Inline is what every message and every firing passes through, whoever else calls it.
#ifndef WB_RESPONSE_INTERNAL_H
#define WB_RESPONSE_INTERNAL_H

#include "../parts.h"
#include "wb/system.h"

/// Counts a response. The clocks of two cores may differ by a little.
static inline __attribute__((always_inline)) void response_count(struct wb_response *response,
                                                                 uint64_t from_ns, uint64_t now_ns)
{
    const uint64_t ns = now_ns > from_ns ? now_ns - from_ns : 0;

    if (__builtin_expect(ns == response->run_ns, 1))
        response->run_n++;
    else
        wb_parts.responses->begin_run(response, ns);
}

/// A firing has ended: of a task that is not periodic, or not yet, it has responded.
static inline __attribute__((always_inline)) void response_fired_at(struct wb_task *self,
                                                                    uint64_t now_ns)
{
    struct wb_response *response = self->response;

    if (response == NULL)
        return;
    if (self->job_deadline_ns == 0 && response->ready_ns != 0)
        response_count(response, response->ready_ns - 1, now_ns);
    response->fired++;
    response->ready_ns = response->is_source ? now_ns + 1 : 0;
}

static inline __attribute__((always_inline)) void response_fired(struct wb_task *self)
{
    if (self->response != NULL)
        response_fired_at(self, wb_kernel_stamp_ns());
}

#endif
