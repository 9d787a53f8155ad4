// SPDX-License-Identifier: Apache-2.0
// What lies before the data in the slots of a service's channels, and the steps of a call.
#ifndef WB_CALL_INTERNAL_H
#define WB_CALL_INTERNAL_H

#include "../channel/channel.h"
#include "wb/wb.h"

// How far a request has come, for the next life of a service whose kernel is killed: with
// CALL_ANSWERED + the index that the answer's channel had before it, it has been answered if the
// channel has another by now.
enum { CALL_SENT, CALL_BEGUN, CALL_ANSWERED };

struct call_head {
    // The sender of the slot.
    _Alignas(WB_CALL_HEAD_BYTES) uint32_t number;
    uint32_t session;  // of the caller; see struct wb_port
    int32_t size;      // of what follows, in bytes; of an answer negative: enum wb_status
    // Of a request: the caller first, then the service.
    struct wb_word state;
    struct wb_port *answers;  // of a request: through which the service answers
};

_Static_assert(sizeof(struct call_head) == WB_CALL_HEAD_BYTES, "the head of a slot");

static inline void *call_data(struct call_head *head)
{
    return head + 1;
}

/// How many bytes a slot of the port's channel has behind the head.
static inline uint32_t call_room(const struct wb_port *port)
{
    return port->channel->slot_bytes - WB_CALL_HEAD_BYTES;
}

/// What is charged for so many bytes of the port's channel: where its slots lie counts.
static inline uint32_t call_charged(const struct wb_port *port, uint32_t bytes)
{
    return bytes | (port->channel->charged & WB_INTERNAL);
}

/// What is left until `until_ns` of a wait of `timeout_ns`.
static inline uint64_t call_left(uint64_t until_ns, uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == WB_FOREVER)
        return timeout_ns;
    const uint64_t now_ns = wb_kernel_now_ns();
    return now_ns < until_ns ? until_ns - now_ns : 0;
}

/// Waits for a message until then.
static inline enum wb_status call_hold(struct wb_port *in, const void **slot, uint64_t until_ns,
                                       uint64_t timeout_ns)
{
    const enum wb_status status = wb_port_hold(in, slot, call_left(until_ns, timeout_ns));

    return status == WB_ERR_EMPTY && timeout_ns != 0 ? WB_ERR_TIMEOUT : status;
}

/// Records that a step of a call is done (enum wb_call_step), in a run that is recorded.
static inline void call_step(const struct wb_port *requests, uint32_t number, uint32_t step)
{
    const struct wb_system *system = requests->channel->system;

    if (__builtin_expect(system->config.record_events != 0, 0))
        wb_record(system->cores[wb_kernel_core()], WB_EVENT_CALL, requests->task->id,
                  requests->channel->id, number << WB_CALL_STEP_BITS | step, wb_kernel_stamp_ns());
}

#endif
