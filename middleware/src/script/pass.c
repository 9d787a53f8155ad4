// SPDX-License-Identifier: Apache-2.0
// Events of messages: so many through each end of a port, one end after the other.

#include "run.h"

static enum wb_status receive_one(struct run *run, struct wb_port *in, uint64_t position)
{
    void *slot;
    const enum wb_status status = passing_hold(&run->passing, in, &slot);

    if (status != WB_OK)
        return status;
    port_look(in, slot);
    passing_read(run->self, &run->passing, in, slot, position);
    port_release(in);
    return WB_OK;
}

static enum wb_status pass_at(struct run *run, struct wb_port *port, uint64_t count)
{
    struct progress *progress = &run->progress;
    uint64_t position = wb_port_position(port);

    if (progress->until_of != progress->at + 1) {
        progress->until = position + count;
        wb_word_order();
        progress->until_of = progress->at + 1;
    }
    for (const uint64_t until = progress->until; position < until; position++) {
        const enum wb_status status = port->direction == WB_IN
                                          ? receive_one(run, port, position)
                                          : passing_put(&run->passing, port, position);
        if (status != WB_OK) {
            run->passing.late = port_must_wait(status);
            return status;
        }
    }
    return WB_OK;
}

// Each end of the port in turn.
enum stop run_pass(struct run *run, const struct wb_script_event *event)
{
    const struct reach *reach = &run->reach[event->object];
    struct progress *progress = run_progress(run);

    if (run->passing.late)
        port_end_wait(reach->ends[progress->at]);
    while (progress->at < reach->n) {
        struct wb_port *port = reach->ends[progress->at];
        const enum wb_status status = pass_at(run, port, event->amount);
        if (port_must_wait(status))
            return TO_WAIT;
        if (status != WB_OK)
            return run_exit(run);  // nothing more will come, or go
        wb_word_order();
        progress->at++;
    }
    return run_done(run);
}
