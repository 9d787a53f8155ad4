// SPDX-License-Identifier: Apache-2.0
// What the helper tells the command: one line of JSON each (docs/kernels-linux-protocol.md).
//
// While kernels run nothing is allocated: each object is made in memory that is there from the
// start. Long lists are written object by object, so that this suffices for any number.
#ifndef WB_EMIT_H
#define WB_EMIT_H

#include <stdio.h>

#include "host.h"
#include "members.h"
#include "plan.h"
#include "wb/system.h"

struct teller {
    FILE *file;
    yyjson_alc pool;
    struct members members;
    char memory[1 << 20];  // of one object and its text
};

/// Begins an object of a message.
struct members *emit_begin(struct teller *teller);

/// Writes it as an element of a list, or after what was written of it. `joined`: its first members
/// have been, with its brace.
void emit_put(struct teller *teller, bool joined);

/// Writes it as a message of this name.
void emit_finish(struct teller *teller, const char *name);

void emit_stall(struct teller *teller, const struct wb_stall *stall);
void emit_error(struct teller *teller, const struct plan_error *error);
void emit_started(struct teller *teller, struct wb_host *host, const struct plan *plan);
void emit_status(struct teller *teller, const struct wb_system *system);
void emit_migration(struct teller *teller, const struct wb_system *system,
                    const struct wb_migration *m);

/// `why`: what is wrong with the request itself, or NULL.
void emit_migrated(struct teller *teller, const char *id, const struct wb_task *task, uint32_t core,
                   enum wb_status status, const char *why);
void emit_set(struct teller *teller, const char *id, bool ok, const char *why);
void emit_advice(struct teller *teller, const struct wb_advice *advice);
void emit_death(struct teller *teller, const struct wb_host_event *event);
void emit_restart(struct teller *teller, const struct wb_host_event *event);

/// The last word. Its totals are those of the time when the kernels had ended, however long the
/// launcher took since; what the machine has measured, its energy and temperatures, is of now.
void emit_end(struct teller *teller, const struct wb_system *system, uint64_t end_ns, bool ok);

/// Members of a core, and of the machine, about frequency, power and temperature.
void emit_core_power(struct members *out, const struct wb_core *core, uint64_t now_ns);
void emit_energy(struct members *out, const struct wb_system *system);

/// The word of the protocol for a status: `ok`, `busy`, …
const char *emit_status_word(enum wb_status status);

#endif
