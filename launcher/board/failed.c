// SPDX-License-Identifier: Apache-2.0
// For a program that has no launcher.

#include <stdio.h>
#include <stdlib.h>

#include "board.h"
#include "wb/wb.h"

__attribute__((weak)) void board_failed(uint32_t core, const char *task, const char *text)
{
    if (core != WB_CORE_NONE)
        fprintf(stderr, "core %u: ", (unsigned int)core);
    fprintf(stderr, "%s%s%s\n", task, *task != '\0' ? ": " : "", text);
    _Exit(2);
}
