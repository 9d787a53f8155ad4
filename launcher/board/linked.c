// SPDX-License-Identifier: Apache-2.0
// Files that are linked into the image as data. A descriptor is the file's place in their table.
#include "linked.h"

#include <string.h>

#include "linked_files.h"

enum { AFTER = 64, FILES = 16 };  // AFTER: descriptors below are of others

// Globally visible: where read() goes on. A file that is read so has one reader at a time.
static uint32_t position[FILES] __attribute__((section(".gvm")));

static int n_files(void)
{
    const size_t n = &wb_board_n_files ? wb_board_n_files : 0;

    return n < FILES ? (int)n : FILES;
}

bool linked_is(int file)
{
    return file >= AFTER && file < AFTER + n_files();
}

int linked_open(const char *path)
{
    for (int i = 0; i < n_files(); i++)
        if (strcmp(wb_board_files[i].path, path) == 0) {
            position[i] = 0;
            return AFTER + i;
        }
    return -1;
}

uint32_t linked_bytes(int file)
{
    return (uint32_t)wb_board_files[file - AFTER].bytes;
}

int linked_pread(int file, void *to, size_t bytes, uint32_t place)
{
    const uint32_t end = linked_bytes(file);
    const size_t left = place < end ? end - place : 0, n = bytes < left ? bytes : left;

    memcpy(to, wb_board_files[file - AFTER].data + (left ? place : 0), n);
    return (int)n;
}

int linked_read(int file, void *to, size_t bytes)
{
    const int n = linked_pread(file, to, bytes, position[file - AFTER]);

    position[file - AFTER] += (uint32_t)n;
    return n;
}

void linked_seek(int file, uint32_t place)
{
    position[file - AFTER] = place;
}
