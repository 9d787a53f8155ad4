// SPDX-License-Identifier: Apache-2.0
// Files that are opened before there are kernels, then read and written by place: so a task that
// uses one may be on any core, and a piece that is written once more after a restart is the same.
#ifndef APPS_FILE_H
#define APPS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/wb.h"

struct file {
    int fd;  // -1: none
    uint64_t bytes;
};

/// Opens the file that a parameter names, to be read.
///
/// Context: wb_app_setup().
/// Returns: true; false with the reason in `app->error`.
bool file_open(struct wb_app *app, struct file *file, const char *key);

/// Reads the file that a parameter names, whole, into memory that every kernel sees.
///
/// Context: wb_app_setup().
/// Memory:  of wb_app_alloc(), with a 0 behind it.
/// Returns: the first of so many `bytes`; NULL with the reason in `app->error`.
char *file_load(struct wb_app *app, const char *key, size_t *bytes);

/// Creates the file that a parameter names; none for "".
///
/// `suffix` is what its name must end in.
/// Context: wb_app_setup().
/// Returns: true; false with the reason in `app->error`.
bool file_create(struct wb_app *app, struct file *file, const char *key, const char *suffix);

/// Says in `app->error` why a file that was opened is of no use.
///
/// Context: wb_app_setup(), which fails then.
/// Returns: false.
bool file_refuse(struct wb_app *app, const char *key, const char *reason);

/// Prints what a file lacks that is used all the same: the rest of a sentence about it.
///
/// Context: wb_app_setup(), wb_app_finish().
void file_warn(struct wb_app *app, const char *key, const char *text);

/// Reads up to `bytes` from byte `place` on: fewer only at the end of the file.
///
/// Context: any; blocks as a file does.
/// Returns: how many were read; -1 where reading fails, with the reason in `errno`.
int64_t file_read_at(const struct file *file, void *data, size_t bytes, uint64_t place);

/// Writes all of `bytes` at byte `place`; nothing where there is no file.
///
/// Context: any; blocks as a file does.
/// Returns: true; false where writing fails, with the reason in `errno`.
bool file_write_at(const struct file *file, const void *data, size_t bytes, uint64_t place);

/// Context: wb_app_finish().
void file_close(struct file *file);

#endif
