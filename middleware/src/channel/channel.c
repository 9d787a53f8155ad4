// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

void wb_channel_recover(struct wb_port *port)
{
    struct wb_channel *channel = port->channel;

    if (channel->tickets != NULL) {
        wb_parts.mailboxes->recover(port);
        return;
    }
    const uint32_t head = wb_word_load(&channel->head, WB_ACQUIRE);
    const uint32_t tail = wb_word_load(&channel->tail, WB_ACQUIRE);
    const uint32_t committed = port->direction == WB_IN ? head : tail;
    const uint64_t before = port->direction == WB_IN ? 0 : channel->initial;

    // The last message may have passed without being counted. (Of messages that are kept for an
    // image, those that come again stay counted; where there is one, that has the count.)
    if (!port->defer_release &&
        (before + wb_counter_get(&port->messages)) % (2 * channel->slots) != committed)
        wb_counter_add(&port->messages, 1);
    // Claims that were not committed are given up; messages that were not released come again.
    port->committed = port->claimed = committed;
    port->cached_peer = port->direction == WB_IN ? tail : head;
}

uint32_t wb_channel_depth(const struct wb_channel *channel)
{
    const uint32_t head = wb_word_load(&channel->head, WB_ACQUIRE);
    const uint32_t tail = wb_word_load(&channel->tail, WB_ACQUIRE);
    // Two loads at two instants: between them the depth may seem to pass the number of slots.
    const uint32_t depth = channel_distance(channel, head, tail);
    return depth <= channel->slots ? depth : channel->slots;
}
