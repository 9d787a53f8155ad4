// SPDX-License-Identifier: Apache-2.0
// Channels of two messages. Small messages travel in the ports themselves, large ones lie in slots
// whose numbers travel. The sender waits for a free slot; for small messages only where the system
// does not itself let who sends wait for room.
#include <stddef.h>
#include <string.h>

#include "app.h"

enum { SMALL_BYTES = sizeof(((struct wb_port *)NULL)->message) };

// Written by the launcher, but for `last`, which the sender writes.
struct app_link {
    uint32_t full, free;  // ports
    uint32_t slot_bytes, words;
    bool small;
    volatile uint32_t
        last;  // the number of the message that only says that it is the last; 0: none
    uint8_t *slots;
};

static bool is_bounded(const struct app_link *link)
{
    return !(link->small && RTOS_SEND_WAITS);
}

struct app_link *app_link(const struct app_channel *channel)
{
    struct app_link *link = app_shared(sizeof *link);
    const uint32_t zeros[SMALL_BYTES / 4] = { 0 };

    link->slot_bytes = (channel->slot_bytes + 3) & ~3U;
    link->small = link->slot_bytes <= SMALL_BYTES;
    link->words = link->small ? link->slot_bytes / 4 : 1;
    link->full = rtos_port(link->words);
    if (!link->small)
        link->slots = app_shared(RTOS_PORT_MESSAGES * link->slot_bytes);
    if (is_bounded(link)) {
        link->free = rtos_port(1);
        for (uint32_t i = channel->initial; i < RTOS_PORT_MESSAGES; i++)
            rtos_send(link->free, &i, 1);
    }
    for (uint32_t i = 0; i < channel->initial; i++)
        rtos_send(link->full, link->small ? zeros : &i, link->words);
    return link;
}

void port_open(struct wb_port *port, struct app_link *link)
{
    port->link = link;
    if (link->small)
        port->slot = port->message;
}

// ---- Sending ------------------------------------------------------------------------------------

static void wait_for_room(struct wb_port *out)
{
    const struct app_link *link = out->link;
    uint32_t free;

    if (!is_bounded(link))
        return;
    rtos_receive(link->free, &free, 1);
    if (!link->small)
        out->slot = link->slots + free * link->slot_bytes;
}

enum wb_status wb_port_claim(struct wb_port *out, void **slot, uint64_t timeout_ns)
{
    (void)timeout_ns;
    wait_for_room(out);
    *slot = out->slot;
    return WB_OK;
}

enum wb_status wb_port_commit(struct wb_port *out)
{
    const struct app_link *link = out->link;

    out->count++;
    if (link->small) {
        rtos_send(link->full, out->message, link->words);
    } else {
        const uint32_t number = out->slot != link->slots;

        rtos_send(link->full, &number, 1);
    }
    return WB_OK;
}

enum wb_status wb_port_send(struct wb_port *out, const void *msg, uint64_t timeout_ns)
{
    (void)timeout_ns;
    wait_for_room(out);
    memcpy(out->slot, msg, out->link->slot_bytes);
    return wb_port_commit(out);
}

void wb_port_close(struct wb_port *port)
{
    if (port->is_input || port->link->last != 0)
        return;
    wait_for_room(port);
    port->link->last = port->count + 1;
    wb_port_commit(port);
}

// ---- Receiving ----------------------------------------------------------------------------------

enum wb_status wb_port_hold(struct wb_port *in, const void **slot, uint64_t timeout_ns)
{
    const struct app_link *link = in->link;

    (void)timeout_ns;
    if (link->small) {
        rtos_receive(link->full, in->message, link->words);
    } else {
        uint32_t number;

        rtos_receive(link->full, &number, 1);
        in->slot = link->slots + number * link->slot_bytes;
    }
    *slot = in->slot;
    return ++in->count == link->last ? WB_ERR_GONE : WB_OK;
}

enum wb_status wb_port_release(struct wb_port *in)
{
    const struct app_link *link = in->link;

    if (is_bounded(link)) {
        const uint32_t number = !link->small && in->slot != link->slots;

        rtos_send(link->free, &number, 1);
    }
    return WB_OK;
}

enum wb_status wb_port_receive(struct wb_port *in, void *msg, uint64_t timeout_ns)
{
    const void *slot;
    const enum wb_status status = wb_port_hold(in, &slot, timeout_ns);

    if (status != WB_OK)
        return status;
    memcpy(msg, slot, in->link->slot_bytes);
    return wb_port_release(in);
}

// ---- Of a task ----------------------------------------------------------------------------------

struct wb_port *wb_port_find_any(const struct wb_task *self, const char *name, uint32_t index)
{
    for (uint32_t i = 0; i < self->n_ports; i++) {
        // The ports lie in the task here; who looks for one does not change the task.
        struct wb_port *port = (struct wb_port *)&self->ports[i];

        if (port->index == index && strcmp(port->name, name) == 0)
            return port;
    }
    return NULL;
}

struct wb_port *wb_port_find_room(struct wb_task *self, const char *name, uint32_t index,
                                  size_t most_bytes)
{
    struct wb_port *port = wb_port_find_any(self, name, index);

    if (port == NULL || port->link->slot_bytes < most_bytes)
        wb_task_fail(self, "a port is missing, or its slots are too small");
    return port;
}

struct wb_port *wb_port_find(struct wb_task *self, const char *name, uint32_t index,
                             size_t message_bytes)
{
    struct wb_port *port = wb_port_find_room(self, name, index, message_bytes);

    // A link's slots are whole words.
    if (port->link->slot_bytes != ((message_bytes + 3) & ~(size_t)3))
        wb_task_fail(self, "the slots of a port have another size than its messages");
    return port;
}

uint32_t wb_port_count(const struct wb_task *self, const char *name)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < self->n_ports; i++)
        n += strcmp(self->ports[i].name, name) == 0;
    return n;
}

uint32_t wb_port_slot_bytes(const struct wb_port *port)
{
    return port->link->slot_bytes;
}
