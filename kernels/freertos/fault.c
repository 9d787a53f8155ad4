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

// Without a division, which would be a function of the compiler's.
static char *put_number(char *at, uint32_t number)
{
    static const uint16_t units[] = { 10000, 1000, 100, 10, 1 };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char digit = '0';
        for (; number >= units[i]; number -= units[i])
            digit++;
        *at = digit;
        at += digit != '0' || at[-1] != ' ';
    }
    return at;
}

// configASSERT() of FreeRTOSConfig.h.
_Noreturn void wb_freertos_asserted(const char *file, int line);
void wb_freertos_asserted(const char *file, int line)
{
    enum { DIGITS = 5, NAME_BYTES = 64 };
    static const char begin[] = "configASSERT fails in line ", of[] = " of ";
    char text[sizeof begin + DIGITS + sizeof of + NAME_BYTES], *at = text + sizeof begin - 1;
    const char *slash = strrchr(file, '/');

    memcpy(text, begin, sizeof begin);
    at = put_number(at, (uint32_t)line);
    memcpy(at, of, sizeof of);
    strncat(at, slash != NULL ? slash + 1 : file, NAME_BYTES);
    wb_freertos_fault(WB_FAULT_KERNEL, text);
}
