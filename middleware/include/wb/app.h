// SPDX-License-Identifier: Apache-2.0
// The application as a whole: its parameters and the two hooks around a run.
//
// A module may define `wb_app_setup` and `wb_app_finish`. Both run in the launcher, the first
// before any kernel exists: a file opened there is open, at the same number, in every kernel, so
// tasks that use it with pread and pwrite may move freely.
#ifndef WB_APP_H
#define WB_APP_H

#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

struct wb_system;
struct wb_task;

enum { WB_ERROR_BYTES = 256 };

struct wb_app {
    struct wb_system *system;
    void *state;                 // the application's own, set by wb_app_setup
    char error[WB_ERROR_BYTES];  // why a hook refused, in words for the user
};

/// Opens what the tasks need and checks the parameters. Defined by the module, if it wants it.
///
/// Context: the launcher, before any kernel runs. May block and use the C library.
/// Returns: WB_OK, or any error after writing the reason to `app->error`: the run does not start.
enum wb_status wb_app_setup(struct wb_app *app);

/// Finishes the outputs. Defined by the module, if it wants it.
///
/// Context: the launcher, after every kernel has stopped; also after a failed or interrupted run.
/// Returns: WB_OK, or any error after writing the reason to `app->error`.
enum wb_status wb_app_finish(struct wb_app *app);

/// The application that a task belongs to.
struct wb_app *wb_task_app(const struct wb_task *self);

/// Memory visible to every kernel for the whole run, zeroed, aligned to 64 bytes.
///
/// Context: wb_app_setup only. Never blocks.
/// Returns: the memory, or NULL when `[app] memory` of the TOML is used up.
void *wb_app_alloc(struct wb_app *app, size_t bytes);

/// A parameter of the TOML's [params] (or --set) as text.
///
/// Context: any. Never blocks.
/// Returns: the text, owned by the system; `fallback` when there is no such parameter.
const char *wb_param_text(const struct wb_app *app, const char *key, const char *fallback);

/// The same as a number; `fallback` when it is missing or not a number.
double wb_param_number(const struct wb_app *app, const char *key, double fallback);

/// Element `index` of a parameter that is an array of numbers; `fallback` past its end.
double wb_param_element(const struct wb_app *app, const char *key, uint32_t index, double fallback);

WB_END_C

#endif
