// SPDX-License-Identifier: Apache-2.0
#include "tasks.h"

#include <stdio.h>
#include <string.h>

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
