// SPDX-License-Identifier: Apache-2.0
// What ends a run: the first fault of the system is noted, and all cores stop. A launcher tells it;
// where there is none, the board does.

#include <string.h>

#include "freertos_board.h"
#include "own.h"

static _Noreturn void tell(const struct wb_system *system)
{
    const struct wb_fault *fault = &system->fault;

    // Acquire: all of it is written, by whichever core was the first.
    while (wb_word_load(&fault->complete, WB_ACQUIRE) == 0)
        board_relax();
    const bool has_task = fault->task < system->n_tasks;
    board_failed(fault->core, has_task ? system->tasks[fault->task].name : "", fault->text);
}

void wb_kernel_halt(void)
{
    const struct wb_core *core = wb_freertos_core();

    // Nobody supervises kernels that wb_freertos_init() has laid out.
    if (core != NULL && core->system->endless)
        tell(core->system);
    board_halt();
}

void wb_freertos_fault(enum wb_fault_kind kind, const char *text)
{
    struct wb_core *core = wb_freertos_core();

    if (core == NULL)
        board_failed(WB_CORE_NONE, "", text);
    wb_system_fault(core->system, kind, wb_kernel_self(), text);
    wb_kernel_halt();
}

// configASSERT() of FreeRTOSConfig.h. Lines are divided by ten without the compiler's function,
// which is right as far as any file goes.
_Noreturn void wb_freertos_asserted(const char *file, int line);
void wb_freertos_asserted(const char *file, int line)
{
    enum { DIGITS = 5, NAME_BYTES = 64, TENTH = 52429, TENTH_SHIFT = 19 };
    const char *slash = strrchr(file, '/');
    char text[128] = "configASSERT fails in line ", digits[DIGITS + 1] = "";
    char *first = digits + DIGITS;

    for (uint32_t rest = (uint32_t)line, tenth; rest != 0 && first != digits; rest = tenth) {
        tenth = rest * TENTH >> TENTH_SHIFT;
        *--first = (char)('0' + rest - 10 * tenth);
    }
    strcat(text, first);
    strcat(text, " of ");
    strncat(text, slash != NULL ? slash + 1 : file, NAME_BYTES);
    wb_freertos_fault(WB_FAULT_KERNEL, text);
}
