// SPDX-License-Identifier: Apache-2.0
// What the command asks of a run, and the answers (docs/kernels-linux-protocol.md).
#ifndef WB_COMMANDS_H
#define WB_COMMANDS_H

#include <stdbool.h>

#include "build.h"
#include "emit.h"

struct commands {
    struct teller *teller;
    struct build *build;
    struct request *requests;  // migrations and kernels that the command waits for
    bool killed;               // the run was ended by a command
    // Takes the answers to `decide`, `why`: what is wrong with one. NULL: nobody asks.
    void (*decided)(const struct command *decision, const char *why);
};

/// Does what the command asks.
void commands_obey(struct commands *commands, const struct command *command);

/// Answers one that is not right in itself, if it is one that is answered.
void commands_refuse(struct commands *commands, const struct command *command, const char *why);

/// Answers for the migrations that are over; `end`: for all of them.
void commands_emit_outcomes(struct commands *commands, bool end);

/// Answers for the kernels that are there again, or will not be.
void commands_take_event(struct commands *commands, const struct wb_host_event *event);

#endif
