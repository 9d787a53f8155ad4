// SPDX-License-Identifier: Apache-2.0
#include "tasks.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 128 };

void *task_keep(struct wb_task *self, size_t bytes)
{
    void *state = wb_task_state(self);

    if (state)
        return state;
    state = wb_memalign(64, bytes);
    if (!state)
        wb_task_fail(self, "its heap is too small: raise heap in app.toml");
    memset(state, 0, bytes);
    wb_task_set_state(self, state);
    return state;
}

struct wb_port *task_port(struct wb_task *self, const char *name, uint32_t index, size_t bytes)
{
    struct wb_port *port = wb_port_find(self, name, index);
    char text[TEXT_BYTES];

    if (port && wb_port_slot_bytes(port) >= bytes)
        return port;
    if (port)
        snprintf(text, sizeof text, "its port %s needs slot_bytes of %lu or more", name,
                 (unsigned long)bytes);
    else
        snprintf(text, sizeof text, "its port %s is bound to no channel", name);
    wb_task_fail(self, text);
}

bool app_integer(struct wb_app *app, const char *key, double least, double most, uint32_t *value)
{
    const double number = wb_param_number(app, key, least);

    *value = number >= least && number <= most ? (uint32_t)number : 0;
    if (number >= least && number <= most && *value == number)
        return true;
    snprintf(app->error, sizeof app->error, "%s is %g: give a whole number from %.0f to %.0f", key,
             number, least, most);
    return false;
}
