// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder.h"

static bool put_in_file(struct recorder *recorder, uint32_t core, const void *from, size_t bytes)
{
    FILE **stream = &((FILE **)recorder->state)[core];

    if (from != NULL)
        return fwrite(from, bytes, 1, *stream) == 1;
    const bool closed = fclose(*stream) == 0;
    if (core + 1 == recorder->system->n_cores)
        free(recorder->state);
    return closed;
}

// The command has made the folder or found it this user's: it is looked at again as it is opened,
// since another may have taken its place.
static int open_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat found;

    if (fd >= 0 && fstat(fd, &found) == 0 && found.st_uid == geteuid() &&
        (found.st_mode & S_IWOTH) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

// A file of its own: what somebody else has put there is neither followed nor written.
static FILE *open_stream(int folder, uint32_t core)
{
    char name[32];

    snprintf(name, sizeof name, "core-%u.events", core);
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);

    return fd < 0 ? NULL : fdopen(fd, "wb");
}

bool recorder_open_files(struct recorder *recorder, struct wb_system *system, const char *path)
{
    FILE **streams = calloc(system->n_cores, sizeof(FILE *));
    const int folder = open_folder(path);
    bool opened = streams != NULL && folder >= 0;

    for (uint32_t i = 0; opened && i < system->n_cores; i++)
        opened = (streams[i] = open_stream(folder, i)) != NULL;
    if (folder >= 0)
        close(folder);
    if (!opened)
        return false;
    *recorder = (struct recorder){ .system = system, .state = streams, .put = put_in_file };
    return recorder_begin(recorder);
}
