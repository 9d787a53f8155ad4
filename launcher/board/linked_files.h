// SPDX-License-Identifier: Apache-2.0
// Files that are linked into the image as data, by their descriptors, which are none of the host's.
#ifndef WB_LINKED_FILES_H
#define WB_LINKED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Finds a file by the path that its parameter has.
///
/// Context: any. Never blocks.
/// Returns: a descriptor, the same on all cores, to be read; -1: there is none of this path.
int linked_open(const char *path);

/// True of a descriptor that linked_open() gave. The other functions are for those.
bool linked_is(int file);

/// Reads from a place on, or from where the last linked_read() or linked_seek() ended.
///
/// Context: any. Never blocks.
/// Returns: how many bytes; fewer than were asked for, or 0, at the end.
int linked_pread(int file, void *to, size_t bytes, uint32_t place);
int linked_read(int file, void *to, size_t bytes);
void linked_seek(int file, uint32_t place);

uint32_t linked_bytes(int file);

#endif
