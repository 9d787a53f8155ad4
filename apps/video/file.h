// SPDX-License-Identifier: Apache-2.0
// Files that are read before the run, whole, into memory that every kernel sees.
#ifndef VIDEO_FILE_H
#define VIDEO_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "wb/wb.h"

struct file {
    const char *key, *path;
    char *data;  // with a 0 behind it
    size_t bytes;
};

/// Reads the file that a parameter names.
///
/// Context: wb_app_setup().
/// Memory:  of wb_app_alloc().
/// Returns: true; false with the reason in `app->error`.
bool file_read(struct wb_app *app, struct file *file, const char *key);

/// Says in `app->error` why a file is of no use.
///
/// Returns: false.
bool file_refuse(struct wb_app *app, const struct file *file, const char *reason);

#endif
