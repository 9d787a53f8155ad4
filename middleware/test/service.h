// SPDX-License-Identifier: Apache-2.0
// Adding services and their callers, for tests. What cannot be added fails the test.
#ifndef WB_TEST_SERVICE_H
#define WB_TEST_SERVICE_H

#include "check.h"
#include "wb/launcher.h"
#include "wb/system.h"
#include "wb/wb.h"

static inline struct wb_channel *service_channel(struct wb_system *system, const char *name,
                                                 uint32_t slots, uint32_t bytes, bool mailbox)
{
    struct wb_channel *channel;

    CHECK(wb_channel_add(system,
                         &(struct wb_channel_config){ .name = name,
                                                      .slots = slots,
                                                      .slot_bytes = WB_CALL_HEAD_BYTES + bytes,
                                                      .mailbox = mailbox,
                                                      .answers = !mailbox },
                         &channel) == WB_OK);
    return channel;
}

/// The mailbox of a service's requests, with room for `slots` of them.
static inline struct wb_channel *service_build(struct wb_task *server, const char *name,
                                               uint32_t request_bytes, uint32_t slots)
{
    struct wb_channel *requests = service_channel(server->system, name, slots, request_bytes, true);

    CHECK(wb_port_add(server, requests, WB_IN, name, 0) == WB_OK);
    return requests;
}

/// One more caller, with so many calls outstanding at most.
static inline void service_caller(struct wb_channel *requests, struct wb_task *caller,
                                  uint32_t answer_bytes, uint32_t calls)
{
    const char *service = requests->name;
    const char name[] = { service[0], (char)('0' + requests->n_senders), '\0' };
    struct wb_channel *answers =
        service_channel(caller->system, name, calls + 1, answer_bytes, false);

    CHECK(wb_port_add(caller, requests, WB_OUT, service, 0) == WB_OK);
    CHECK(wb_port_add(caller, answers, WB_IN, service, 1) == WB_OK);
    CHECK(wb_port_add(requests->receiver->task, answers, WB_OUT, service, requests->n_senders) ==
          WB_OK);
}

#endif
