// SPDX-License-Identifier: Apache-2.0
// Every part but the index of waiters: the memory of the SoC has room for few tasks.

#include "wb/parts.h"

const struct wb_parts wb_parts = {
    .replicate = &wb_replicate,
    .recreate = &wb_recreate,
    .channels = &wb_part_channels,
    .mailboxes = &wb_part_mailboxes,
    .notify = &wb_part_notify,
    .locks = &wb_part_locks,
    .pool = &wb_part_pool,
    .images = &wb_part_images,
    .deaths = &wb_part_deaths,
    .agents = &wb_part_agents,
    .arrivals = &wb_part_arrivals,
    .records = &wb_part_records,
    .latency = &wb_part_latency,
    .responses = &wb_part_responses,
};
