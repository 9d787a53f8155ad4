// SPDX-License-Identifier: Apache-2.0
// What ends a run: the first fault of the system is noted, and all cores stop. A launcher tells it;
// where there is none, the board does.

#include <string.h>

#include "freertos_board.h"
#include "internal.h"

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

enum { DIGITS = 5, NAME_BYTES = 64, TENTH = 52429, TENTH_SHIFT = 19 };

// Who is to blame comes first; what is one of the middleware's is named anyway.
static void begin_text(char *text)
{
    *text = '\0';
    if (wb_kernel_self() != NULL || *wb_tcb_running() == '\0')
        return;
    strncat(text, wb_tcb_running(), NAME_BYTES);
    strcat(text, ": ");
}

// Divides by ten without the compiler's function, which is right for as many digits as there are.
static void add_number(char *text, uint32_t number)
{
    char digits[DIGITS + 1] = "";
    char *first = digits + DIGITS;

    do {
        const uint32_t tenth = number * TENTH >> TENTH_SHIFT;
        *--first = (char)('0' + number - 10 * tenth);
        number = tenth;
    } while (number != 0 && first != digits);
    strcat(text, first);
}

// configASSERT() of FreeRTOSConfig.h.
_Noreturn void wb_freertos_asserted(const char *file, int line);
void wb_freertos_asserted(const char *file, int line)
{
    const char *slash = strrchr(file, '/');
    char text[WB_ERROR_BYTES];

    begin_text(text);
    strcat(text, "configASSERT fails in line ");
    add_number(text, (uint32_t)line);
    strcat(text, " of ");
    strncat(text, slash != NULL ? slash + 1 : file, NAME_BYTES);
    wb_freertos_fault(WB_FAULT_KERNEL, text);
}

void wb_freertos_misused(const char *call, const struct wb_task *task, uint32_t owner_state)
{
    const bool is_offered = wb_task_state_of(owner_state) == WB_TASK_OFFERED;
    char text[WB_ERROR_BYTES];

    begin_text(text);
    strcat(text, call);
    strcat(text, task != NULL ? "() for task " : "() for a deleted task");
    if (task != NULL) {
        strcat(text, task->name);
        strcat(text, " of core ");
        add_number(text, is_offered ? wb_target_of(owner_state) : wb_owner_of(owner_state));
        strcat(text, ": call it there, or wb_freertos_*()");
    }
    wb_freertos_fault(WB_FAULT_KERNEL, text);
}
