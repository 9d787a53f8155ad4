// SPDX-License-Identifier: Apache-2.0
// What a launcher asks of FreeRTOS kernels (launcher/board).

#include <stdio.h>

#include "freertos_board.h"
#include "freertos_modules.h"
#include "internal.h"

_Noreturn void wb_board_run(struct wb_core *core)
{
    wb_freertos_run(core);
}

void wb_board_killed(void) {}

void wb_board_in_supervisor(bool in_supervisor)
{
    wb_freertos_in_supervisor(in_supervisor);
}

bool wb_board_waits_for_ever(struct wb_task *task)
{
    return wb_tcb_waits_for_ever(&of(task)->tcb);
}

// The image's only module, if it has any.
static const struct wb_module_file *program(void)
{
    const struct wb_module_file *begin = wb_modules_begin, *end = wb_modules_end;

    return begin != end ? begin : NULL;
}

bool wb_board_has_program(void)
{
    return program() != NULL;
}

enum wb_status wb_board_recreates(struct wb_task *task, const char *entry, char *why,
                                  size_t why_bytes)
{
    char text[WB_MODULE_WHY_BYTES] = "the image has no module: link one by whimbrel_modules()";

    const enum wb_status status =
        program() == NULL ? WB_ERR_INVAL
                          : wb_freertos_recreation.recreates(task, program()->name, entry, text);
    if (status != WB_OK)
        snprintf(why, why_bytes, "%s", text);
    return status;
}
