// SPDX-License-Identifier: Apache-2.0
// What the helper tells the command: one line of JSON each (docs/kernels-linux-protocol.md).
#ifndef WB_TELL_H
#define WB_TELL_H

#include <stdio.h>

#include "host.h"
#include "wb/system.h"

struct tell_error {
    const char *kind, *task, *key, *text;  // task, key: "" when there is none
    uint32_t index, core;                  // core: WB_CORE_NONE when there is none
};

void tell_error(FILE *out, const struct tell_error *error);
void tell_started(FILE *out, struct wb_host *host, const unsigned int *cpus);
void tell_status(FILE *out, const struct wb_system *system);
void tell_migration(FILE *out, const struct wb_system *system, const struct wb_migration *m);
void tell_migrated(FILE *out, const char *id, const struct wb_task *task, uint32_t core,
                   enum wb_status status);
void tell_set(FILE *out, const char *id, bool ok, const char *why);
void tell_advice(FILE *out, const struct wb_advice *advice);
void tell_death(FILE *out, const struct wb_host_event *event);
void tell_end(FILE *out, const struct wb_system *system, bool ok);

/// Members of a core, and of the whole, about frequency, power and temperature.
void tell_core_power(FILE *out, const struct wb_core *core);
void tell_energy(FILE *out, const struct wb_system *system);

/// The word of the protocol for a status: `ok`, `busy`, …
const char *tell_status_word(enum wb_status status);

#endif
