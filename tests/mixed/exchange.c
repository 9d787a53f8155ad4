// SPDX-License-Identifier: Apache-2.0
// What runs on a guest's cores in test_guest.py. The launcher reads the states of these tasks.

#include "exchange.h"

#include "wb/wb.h"

wb_task_entry source, sink, echo, walker;

static uint32_t overflow(uint32_t depth)
{
    volatile unsigned char room[1024];

    room[0] = (unsigned char)depth;
    return depth == UINT32_MAX ? 0 : overflow(depth + 1) + room[0];
}

static void go_astray(enum fault fault)
{
    if (fault == FAULT_NOWHERE)
        *(volatile uint32_t *)NOWHERE = 1;
    if (fault == FAULT_OVERFLOW)
        (void)overflow(0);
}

int source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint32_t));

    go_astray((enum fault)wb_param_number(wb_task_app(self), "fault", 0));
    for (uint32_t i = 0; i < EXCHANGED; i++)
        if (wb_port_send(out, &i, WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

int sink(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint32_t));
    struct exchanged *state = wb_calloc(1, sizeof *state);
    uint32_t got;

    if (state == NULL)
        return 1;
    wb_task_set_state(self, state);
    while (wb_port_receive(in, &got, WB_FOREVER) == WB_OK)
        state->in_order += got == state->in_order;
    return 0;
}

int echo(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct call));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct call));
    struct call call;

    while (wb_port_receive(in, &call, WB_FOREVER) == WB_OK) {
        call.guest_ns = wb_now_ns();
        if (wb_port_send(out, &call, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;
}

// It is asked to move again and again, and begins here each time.
int walker(struct wb_task *self)
{
    struct walked *state = wb_task_state(self);

    if (state == NULL) {
        state = wb_calloc(1, sizeof *state);
        if (state == NULL)
            return 1;
        wb_task_set_state(self, state);
    }
    state->lives++;
    while (!wb_stopping(self)) {
        state->steps++;
        wb_sleep_until(wb_now_ns() + 100000);
        wb_checkpoint();
    }
    return 0;
}
