// SPDX-License-Identifier: Apache-2.0
// A message goes to a kernel of another kind and comes back; in turns with it the same two
// processors hand one cache line back and forth, which nothing can beat. What each turn took on
// average is printed, in nanoseconds: `line N`, `message N`. Both sides poll.
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { MESSAGE_BYTES = 64, LINE_BYTES = 128 };

struct shared {
    uint32_t turns, trips;
    unsigned char apart[LINE_BYTES];
    struct wb_word line;  // nobody else's
    unsigned char from_others[LINE_BYTES];
};

struct message {
    uint64_t words[MESSAGE_BYTES / 8];
};

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct shared *shared = wb_app_alloc(app, sizeof *shared);

    if (shared == NULL)
        return WB_ERR_NOMEM;
    shared->turns = (uint32_t)wb_param_number(app, "turns", 0);
    shared->trips = (uint32_t)wb_param_number(app, "trips", 0);
    wb_word_init(&shared->line, 0);
    app->state = shared;
    return WB_OK;
}

// Odd numbers go there, even ones come back. Release and acquire, as for a message.
static void await(struct wb_word *line, uint32_t number)
{
    while (wb_word_load(line, WB_ACQUIRE) != number)
        continue;
}

static void print(const char *what, uint64_t ns)
{
    char text[64];
    const int n = snprintf(text, sizeof text, "%s %lu\n", what, (unsigned long)ns);

    if (write(STDOUT_FILENO, text, (size_t)n) != n)
        _exit(1);
}

static uint64_t hand_over_line(struct shared *shared, uint32_t *number)
{
    const uint64_t from_ns = wb_now_ns();

    for (uint32_t i = 0; i < shared->trips; i++) {
        wb_word_store(&shared->line, ++*number, WB_RELEASE);
        await(&shared->line, ++*number);
    }
    return (wb_now_ns() - from_ns) / shared->trips;
}

static uint64_t pass_messages(struct wb_task *self, uint32_t trips)
{
    struct wb_port *out = wb_port_find(self, "out", 0, MESSAGE_BYTES);
    struct wb_port *in = wb_port_find(self, "in", 0, MESSAGE_BYTES);
    struct message message = { 0 };
    const uint64_t from_ns = wb_now_ns();

    for (uint32_t i = 0; i < trips; i++)
        if (wb_port_send(out, &message, WB_FOREVER) != WB_OK ||
            wb_port_receive(in, &message, WB_FOREVER) != WB_OK)
            wb_task_fail(self, "a message does not come back");
    return (wb_now_ns() - from_ns) / trips;
}

int near(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    struct wb_port *in = wb_port_find(self, "in", 0, MESSAGE_BYTES);
    struct message message;
    uint32_t number = 0;

    // The initial message. The other has begun once it answers the next one.
    if (wb_port_receive(in, &message, WB_FOREVER) != WB_OK)
        wb_task_fail(self, "the initial message is missing");
    (void)pass_messages(self, 1);
    for (uint32_t turn = 0; turn < shared->turns; turn++) {
        const uint64_t line_ns = hand_over_line(shared, &number);
        const uint64_t message_ns = pass_messages(self, shared->trips);
        print("line", line_ns);
        print("message", message_ns);
        (void)pass_messages(self, 1);
        wb_checkpoint();
    }
    return 0;
}

static void answer_messages(struct wb_task *self, uint32_t trips)
{
    struct wb_port *out = wb_port_find(self, "out", 0, MESSAGE_BYTES);
    struct wb_port *in = wb_port_find(self, "in", 0, MESSAGE_BYTES);
    struct message message;

    for (uint32_t i = 0; i < trips; i++)
        if (wb_port_receive(in, &message, WB_FOREVER) != WB_OK ||
            wb_port_send(out, &message, WB_FOREVER) != WB_OK)
            wb_task_fail(self, "a message does not come");
}

int far(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    uint32_t number = 0;

    answer_messages(self, 1);
    for (uint32_t turn = 0; turn < shared->turns; turn++) {
        for (uint32_t i = 0; i < shared->trips; i++) {
            await(&shared->line, ++number);
            wb_word_store(&shared->line, ++number, WB_RELEASE);
        }
        // One more when the near one has printed.
        answer_messages(self, shared->trips + 1);
        wb_checkpoint();
    }
    return 0;
}
