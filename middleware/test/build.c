// SPDX-License-Identifier: Apache-2.0
#include "build.h"

#include "check.h"

enum { STACK_BYTES = 64, HEAP_BYTES = 4096 };

struct wb_task *build_task(struct wb_system *system, const char *name, uint32_t core,
                           uint32_t priority, wb_task_entry *entry)
{
    static unsigned char stack[STACK_BYTES];
    struct wb_task *task;

    CHECK(wb_task_add(system,
                      &(struct wb_task_config){ .name = name,
                                                .core = core,
                                                .priority = priority,
                                                .entry = entry,
                                                .migratable = true,
                                                .stack = stack,
                                                .stack_bytes = sizeof stack,
                                                .heap_bytes = HEAP_BYTES },
                      &task) == WB_OK);
    return task;
}

struct wb_channel *build_channel(struct wb_system *system, const char *name, uint32_t slots,
                                 uint32_t slot_bytes, bool mailbox)
{
    struct wb_channel *channel;

    CHECK(wb_channel_add(
              system,
              &(struct wb_channel_config){
                  .name = name, .slots = slots, .slot_bytes = slot_bytes, .mailbox = mailbox },
              &channel) == WB_OK);
    return channel;
}

struct wb_port *build_port(struct wb_task *task, struct wb_channel *channel,
                           enum wb_direction direction)
{
    const char *name = direction == WB_IN ? "in" : "out";
    const uint32_t index = wb_port_count(task, name);

    CHECK(wb_port_add(task, channel, direction, name, index) == WB_OK);
    return wb_port_find_any(task, name, index);
}
