// SPDX-License-Identifier: Apache-2.0
// What the command asks of a run, and the answers (docs/kernels-linux-protocol.md).
#ifndef WB_COMMANDS_H
#define WB_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "build.h"
#include "lines.h"

struct commands {
    FILE *out;
    struct build *build;
    struct asked *asked;  // migrations whose outcome the command waits for
};

/// Does what one line says. An unknown one is passed over.
void commands_obey(struct commands *commands, const struct words *words);

/// Answers for the migrations that are over; `end`: for all of them.
void commands_tell_outcomes(struct commands *commands, bool end);

#endif
