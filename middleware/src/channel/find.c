// SPDX-License-Identifier: Apache-2.0
// A port that a task asks for by its name and the size of its messages. What cannot be is the
// application's mistake, and is told where it is made: a message of another size than the slots
// would be read, or written, beyond its end at each send or receive.

#include "../internal.h"
#include "../word/mem.h"

struct text {
    char bytes[WB_ERROR_BYTES];
    size_t n;
};

static void add(struct text *text, const char *more)
{
    wb_text_copy(text->bytes + text->n, more, sizeof text->bytes - text->n);
    text->n += wb_text_bytes(text->bytes + text->n) - 1;
}

static void add_number(struct text *text, size_t number)
{
    char digits[24], *at = &digits[sizeof digits - 1];

    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    add(text, at);
}

static void add_name(struct text *text, const char *name, uint32_t index)
{
    add(text, "`");
    add(text, name);
    if (index != 0) {
        add(text, "[");
        add_number(text, index);
        add(text, "]");
    }
    add(text, "`");
}

static __attribute__((cold, noinline)) _Noreturn void refuse_name(struct wb_task *self,
                                                                  const char *name, uint32_t index)
{
    struct text text = { .n = 0 };
    const char *between = "; its ports are ";

    add(&text, "it has no port ");
    add_name(&text, name, index);
    if (self->ports == NULL)
        add(&text, "; it has none");
    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task) {
        add(&text, between);
        add_name(&text, port->name, port->index);
        between = ", ";
    }
    wb_task_blame(self, WB_FAULT_PORT, NULL, text.bytes);
}

static __attribute__((cold, noinline)) _Noreturn void
refuse_size(const struct wb_port *port, size_t message_bytes, const char *up_to)
{
    const struct wb_channel *channel = port->channel;
    struct text text = { .n = 0 };

    add(&text, port->direction == WB_IN ? "it receives messages of " : "it sends messages of ");
    add(&text, up_to);
    add_number(&text, message_bytes);
    add(&text, " bytes by its port ");
    add_name(&text, port->name, port->index);
    add(&text, ", and the slots of channel `");
    add(&text, channel->name);
    add(&text, "` have ");
    add_number(&text, channel->slot_bytes);
    wb_task_blame(port->task, WB_FAULT_PORT, channel, text.bytes);
}

static struct wb_port *find(struct wb_task *self, const char *name, uint32_t index)
{
    struct wb_port *port = wb_port_find_any(self, name, index);

    if (port == NULL)
        refuse_name(self, name, index);
    return port;
}

struct wb_port *wb_port_find(struct wb_task *self, const char *name, uint32_t index,
                             size_t message_bytes)
{
    struct wb_port *port = find(self, name, index);

    if (port->channel->slot_bytes != message_bytes)
        refuse_size(port, message_bytes, "");
    return port;
}

struct wb_port *wb_port_find_room(struct wb_task *self, const char *name, uint32_t index,
                                  size_t most_bytes)
{
    struct wb_port *port = find(self, name, index);

    if (port->channel->slot_bytes < most_bytes)
        refuse_size(port, most_bytes, "up to ");
    return port;
}
