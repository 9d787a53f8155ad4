// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "line.h"

#include <stdio.h>
#include <unistd.h>

enum { TEXT_BYTES = 256 };

void line_say(const char *what, const char *detail)
{
    char plain[TEXT_BYTES];

    snprintf(plain, sizeof plain, "%s", detail);
    for (char *at = plain; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    dprintf(STDERR_FILENO, "voip: %s%s%s\n", what, *plain ? ": " : "", plain);
}
