// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

void wb_channel_recover(struct wb_port *port)
{
    struct wb_channel *channel = port->channel;
    const uint32_t head = atomic_load_explicit(&channel->head, memory_order_acquire);
    const uint32_t tail = atomic_load_explicit(&channel->tail, memory_order_acquire);

    // Claims that were not committed are given up; messages that were not released come again.
    port->edge = port->cursor = port->direction == WB_IN ? head : tail;
    port->seen = port->direction == WB_IN ? tail : head;
}

uint32_t wb_channel_depth(const struct wb_channel *channel)
{
    if (channel->tickets != NULL)
        return wb_mailbox_depth(channel);
    const uint32_t head = atomic_load_explicit(&channel->head, memory_order_acquire);
    const uint32_t tail = atomic_load_explicit(&channel->tail, memory_order_acquire);
    // Two loads at two instants: between them the depth may seem to pass the number of slots.
    const uint32_t depth = ring_distance(head, tail, channel->slots);
    return depth <= channel->slots ? depth : channel->slots;
}
