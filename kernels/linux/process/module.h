// SPDX-License-Identifier: Apache-2.0
// Application modules: shared objects whose globals and heap every kernel sees.
#ifndef WB_MODULE_H
#define WB_MODULE_H

#include <stddef.h>

#include "process.h"

/// Loads `path` and everything it depends on beyond the C and C++ libraries.
///
/// Context: the launcher, before the kernels are forked.
/// Returns: the handle for module_symbol(), or NULL with the reason in `error`.
void *module_load(struct gvm *gvm, const char *path, char *error, size_t error_bytes);

/// Whether the file of a module is whole, for this processor, and built for this version.
///
/// Returns: true; or false with the reason in `error`.
bool module_file_check(const char *path, char *error, size_t error_bytes);

/// What the module itself defines under a name, and no library that it depends on: a task that it
/// lacks is not to be the C library's function of that name. NULL: nothing; also without a module.
void *module_symbol(void *module, const char *name);

/// Where an address of this process's code lies. False: in no file but the process's own.
bool module_place(uintptr_t pc, struct wb_host_frame *place);

typedef void hook(void);

/// What calls to `name` (malloc, free, pthread_mutex_lock, …) are redirected to; NULL: not at all.
hook *hook_for(const char *name);

#endif
