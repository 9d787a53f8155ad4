// SPDX-License-Identifier: Apache-2.0
// From a plan to a system that is ready to start, with its module and its memory.
#ifndef WB_BUILD_H
#define WB_BUILD_H

#include <stdbool.h>

#include "host.h"
#include "plan.h"

struct build {
    int launcher_fds[2];  // in: closed in the kernels
    unsigned int *cpus;   // one per core; free() it
    bool *to_completion;  // the same, as is the next
    uint32_t *guest;      // whose core it is: see wb_host_config
    struct wb_host *host;
    struct wb_app *app;
    enum wb_status (*finish)(struct wb_app *);  // the module's hook, or NULL
    bool no_guard;    // Linux has no mapping left for the guard of a stack
    char text[1024];  // what went wrong, for `error`
};

/// Lays out memory, loads the module, adds tasks, channels and ports, and runs the module's
/// wb_app_setup. Returns true, or false with `*error` filled in.
bool build_system(struct build *build, const struct plan *plan, struct plan_error *error);

#endif
