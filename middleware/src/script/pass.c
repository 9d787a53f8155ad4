// SPDX-License-Identifier: Apache-2.0
// Events of messages: so many through each end of a port, one end after the other.

#include "run.h"

static enum wb_status receive_one(struct wb_task *self, struct run *run, struct wb_port *in,
                                  uint64_t position)
{
    void *slot;
    const enum wb_status status = passing_hold(&run->passing, in, &slot);

    if (status != WB_OK)
        return status;
    passing_read(self, &run->passing, in, slot, position);
    port_release(in);
    return WB_OK;
}

static enum wb_status pass_at(struct wb_task *self, struct run *run, struct wb_port *port,
                              uint64_t count)
{
    enum wb_status status = WB_OK;
    uint64_t position = wb_port_position(port);

    if (run->until_of != run->at + 1) {
        run->until = position + count;
        wb_word_order();
        run->until_of = run->at + 1;
    }
    for (; status == WB_OK && position < run->until; position++)
        status = port->direction == WB_IN ? receive_one(self, run, port, position)
                                          : passing_put(&run->passing, port, position);
    run->passing.late = port_must_wait(status);
    return status;
}

// Each end of the port in turn.
enum stop run_pass(struct wb_task *self, struct run *run, const struct wb_script_event *event)
{
    const uint32_t n = run->reach[event->object].n;

    if (run->passing.late)
        port_end_wait(run_port(run));
    while (run->at < n) {
        const enum wb_status status = pass_at(self, run, run_port(run), event->amount);
        if (port_must_wait(status))
            return TO_WAIT;
        if (status != WB_OK)
            return to_exit(run);  // nothing more will come, or go
        wb_word_order();
        run->at++;
    }
    return done(run);
}
