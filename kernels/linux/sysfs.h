// SPDX-License-Identifier: Apache-2.0
// Attributes of sysfs: one line of text each.
#ifndef WB_SYSFS_H
#define WB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSFS_PATH_BYTES = 512 };

/// Reads an attribute without its line end. False: there is none, it is empty or may not be read.
bool sysfs_read(const char *path, char *text, size_t bytes);
bool sysfs_read_number(const char *path, uint64_t *value);
bool sysfs_write(const char *path, const char *text);

#endif
