// SPDX-License-Identifier: Apache-2.0
// A port that a task asks for by its name and the size of its messages. What cannot be is the
// application's mistake, and is told where it is made: a message of another size than the slots
// would be read, or written, beyond its end at each send or receive.

#include "channel.h"

struct text {
    char bytes[WB_ERROR_BYTES];
    size_t n;
};

static void add_text(struct text *text, const char *more)
{
    while (*more != '\0' && text->n < sizeof text->bytes - 1)
        text->bytes[text->n++] = *more++;
    text->bytes[text->n] = '\0';
}

static void add_number(struct text *text, size_t number)
{
    const size_t tens = number / 10;

    if (tens != 0)
        add_number(text, tens);
    add_text(text, (char[]){ (char)('0' + number - 10 * tens), '\0' });
}

// What comes before a name ends with its backtick, and what comes after it begins with one.
static void add_name(struct text *text, const char *before, const char *name, uint32_t index)
{
    add_text(text, before);
    add_text(text, name);
    if (index != 0) {
        add_text(text, "[");
        add_number(text, index);
        add_text(text, "]");
    }
}

static __attribute__((cold, noinline)) _Noreturn void refuse_name(struct wb_task *self,
                                                                  const char *name, uint32_t index)
{
    struct text text = { .n = 0 };
    const char *before = "`; its ports are `";

    add_name(&text, "it has no port `", name, index);
    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task) {
        add_name(&text, before, port->name, port->index);
        before = "`, `";
    }
    add_text(&text, self->ports != NULL ? "`" : "`; it has none");
    wb_task_blame(self, WB_FAULT_PORT, NULL, text.bytes);
}

static __attribute__((cold, noinline)) _Noreturn void
refuse_size(const struct wb_port *port, size_t message_bytes, const char *up_to)
{
    const struct wb_channel *channel = port->channel;
    struct text text = { .n = 0 };

    add_text(&text,
             port->direction == WB_IN ? "it receives messages of " : "it sends messages of ");
    add_text(&text, up_to);
    add_number(&text, message_bytes);
    add_name(&text, " bytes by its port `", port->name, port->index);
    add_name(&text, "`, and the slots of channel `", channel->name, 0);
    add_text(&text, "` have ");
    add_number(&text, channel->slot_bytes);
    wb_task_blame(port->task, WB_FAULT_PORT, channel, text.bytes);
}

struct wb_port *wb_port_find_room(struct wb_task *self, const char *name, uint32_t index,
                                  size_t most_bytes)
{
    struct wb_port *port = wb_port_find_any(self, name, index);

    if (port == NULL)
        refuse_name(self, name, index);
    if (port->channel->slot_bytes < most_bytes)
        refuse_size(port, most_bytes, "up to ");
    return port;
}

struct wb_port *wb_port_find(struct wb_task *self, const char *name, uint32_t index,
                             size_t message_bytes)
{
    struct wb_port *port = wb_port_find_room(self, name, index, 0);

    if (port->channel->slot_bytes != message_bytes)
        refuse_size(port, message_bytes, "");
    return port;
}
