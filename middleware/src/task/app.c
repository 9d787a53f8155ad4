// SPDX-License-Identifier: Apache-2.0
// The application's parameters and memory.

#include "wb/wb.h"

#include "../word/mem.h"
#include "wb/system.h"

void *wb_app_alloc(struct wb_app *app, size_t bytes)
{
    return wb_system_alloc(app->system, bytes, WB_LINE_BYTES);
}

static const struct wb_param *find_param(const struct wb_app *app, const char *key)
{
    const struct wb_system *system = app->system;

    for (uint32_t i = 0; i < system->n_params; i++)
        if (wb_text_equal(system->params[i].key, key))
            return &system->params[i];
    return NULL;
}

const char *wb_param_text(const struct wb_app *app, const char *key, const char *fallback)
{
    const struct wb_param *param = find_param(app, key);
    return param != NULL ? param->text : fallback;
}

double wb_param_number(const struct wb_app *app, const char *key, double fallback)
{
    return wb_param_element(app, key, 0, fallback);
}

double wb_param_element(const struct wb_app *app, const char *key, uint32_t index, double fallback)
{
    const struct wb_param *param = find_param(app, key);
    return param != NULL && index < param->n_numbers ? param->numbers[index] : fallback;
}
