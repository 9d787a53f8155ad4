// SPDX-License-Identifier: Apache-2.0
// Application modules: shared objects whose globals and heap every kernel sees.
#ifndef WB_MODULE_H
#define WB_MODULE_H

#include <stddef.h>

#include "process.h"

/// Loads `path` and everything it depends on beyond the C and C++ libraries.
///
/// Context: the launcher, before the kernels are forked.
/// Returns: the handle for dlsym(), or NULL with the reason in `error`.
void *module_load(struct gvm *gvm, const char *path, char *error, size_t error_bytes);

typedef void hook(void);

/// What calls to `name` (malloc, free, pthread_mutex_lock, …) are redirected to; NULL: not at all.
hook *hook_for(const char *name);

#endif
