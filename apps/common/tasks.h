// SPDX-License-Identifier: Apache-2.0
// What the tasks of an application share: their state, and their parameters.
#ifndef APPS_TASKS_H
#define APPS_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "wb/wb.h"

/// The state of a task: zeroed at its first start, found again after a restart. It is aligned to 64
/// bytes.
///
/// Context: the task. Does not return where the task's heap is too small.
void *task_keep(struct wb_task *self, size_t bytes);

/// Reads a parameter that is a whole number.
///
/// Context: wb_app_setup().
/// Returns: true; false with the reason in `app->error`.
bool app_integer(struct wb_app *app, const char *key, double least, double most, uint32_t *value);

#endif
