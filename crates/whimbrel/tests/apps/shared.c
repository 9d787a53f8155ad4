// SPDX-License-Identifier: Apache-2.0
// An application whose hooks share memory with its task.
#include <stdio.h>

#include "wb/wb.h"

static int *from_setup, *from_task;

enum wb_status wb_app_setup(struct wb_app *app)
{
    from_setup = wb_shared_malloc(sizeof *from_setup);
    if (from_setup != NULL)
        from_setup = wb_shared_realloc(from_setup, 1000);
    if (from_setup == NULL) {
        snprintf(app->error, sizeof app->error, "no shared memory");
        return WB_ERR_NOMEM;
    }
    *from_setup = 7;
    return WB_OK;
}

int worker(struct wb_task *self)
{
    if (*from_setup != 7)
        wb_task_fail(self, "it does not see what the setup shared");
    wb_shared_free(from_setup);
    from_task = wb_shared_malloc(100000);
    if (from_task == NULL)
        wb_task_fail(self, "no shared memory");
    *from_task = 8;
    return 0;
}

int twice(struct wb_task *self)
{
    int *block = wb_shared_malloc(sizeof *block);

    (void)self;
    wb_shared_free(block);
    wb_shared_free(block);
    return 0;
}

int forgetful(struct wb_task *self)
{
    (void)self;
    return wb_shared_malloc(1000) == NULL;
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    if (from_task != NULL && *from_task != 8) {
        snprintf(app->error, sizeof app->error, "it does not see what the task shared");
        return WB_ERR_INVAL;
    }
    wb_shared_free(from_task);
    return WB_OK;
}
