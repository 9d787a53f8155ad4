// SPDX-License-Identifier: Apache-2.0
// Tasks of mode WB_RECREATE on FreeRTOS: each lives in a module of its own, which the kernel that
// runs it has loaded into its private memory (holmbacka2013 section V, acquaviva2008 section 4.2).
//
// A program that has such tasks is linked with modules.c and exports.c (whimbrel_modules() of
// modules.cmake); for one that has none, the kernel does without the loader.
#ifndef WB_FREERTOS_MODULES_H
#define WB_FREERTOS_MODULES_H

#include "../loader/loader.h"
#include "wb/launcher.h"
#include "wb/system.h"

// The modules of the image, by the linker in the order of their names. Weak: the linker script of
// an image without modules need not have the two.
extern const struct wb_module_file wb_modules_begin[] __attribute__((weak));
extern const struct wb_module_file wb_modules_end[] __attribute__((weak));

/// Makes an added task one that is recreated: function `entry` of a module of the image.
///
/// The module is checked as it will be whenever it is loaded. The task gets addresses of private
/// memory for its module, its stack and its heap, the same in every kernel; there is memory behind
/// them only in the kernel where it runs.
///
/// Context: the launcher, before the kernels start.
/// Memory:  `entry` stays the caller's. What wb_task_add() was given for the stack and set aside
///          for the heap is not used.
/// Returns: WB_OK; WB_ERR_INVAL if the module or the function is not there, or the module is
///          refused; WB_ERR_NOMEM without memory or addresses. `why` (WB_MODULE_WHY_BYTES) says
///          more.
WB_MUST_USE enum wb_status wb_freertos_recreates(struct wb_task *task, const char *module,
                                                 const char *entry, char *why);

/// How many tasks a kernel has loaded now.
///
/// Context: any.
uint32_t wb_freertos_loaded(const struct wb_system *system, uint32_t core);

// ---- For kernel.c and host.c --------------------------------------------------------------------

struct wb_freertos_recreation {
    enum wb_status (*park)(struct wb_task *task);

    /// Loads the task unless that has been done; ends the run if it cannot be.
    void (*require)(struct wb_task *task);

    /// As wb_freertos_recreates(), for the launcher (host.c).
    enum wb_status (*recreates)(struct wb_task *task, const char *module, const char *entry,
                                char *why);
};

// Empty where no modules are linked in.
extern const struct wb_freertos_recreation wb_freertos_recreation;

struct wb_recreated;

/// Where the kernel's part of a task says what it is recreated from; NULL: nothing.
struct wb_recreated **wb_freertos_recreated(struct wb_task *task);

#endif
