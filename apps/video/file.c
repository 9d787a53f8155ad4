// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_refuse(struct wb_app *app, const struct file *file, const char *reason)
{
    snprintf(app->error, sizeof app->error, "%s \"%.100s\" cannot be read: %s", file->key,
             file->path, reason);
    return false;
}

static bool read_all(struct wb_app *app, const struct file *file, int fd)
{
    for (size_t got = 0; got < file->bytes;) {
        const ssize_t n = read(fd, file->data + got, file->bytes - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return file_refuse(app, file, n < 0 ? strerror(errno) : "it became shorter meanwhile");
        got += (size_t)n;
    }
    return true;
}

static bool read_open(struct wb_app *app, struct file *file, int fd)
{
    struct stat about;

    if (fd < 0 || fstat(fd, &about) != 0)
        return file_refuse(app, file, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return file_refuse(app, file, "it is not a regular file");
    file->bytes = (size_t)about.st_size;
    file->data = wb_app_alloc(app, file->bytes + 1);
    if (!file->data)
        return file_refuse(app, file,
                           "it does not fit into memory of [app]: raise that in app.toml");
    return read_all(app, file, fd);
}

bool file_read(struct wb_app *app, struct file *file, const char *key)
{
    *file = (struct file){ .key = key, .path = wb_param_text(app, key, "") };
    const int fd = open(file->path, O_RDONLY);
    const bool done = read_open(app, file, fd);

    if (fd >= 0)
        close(fd);
    return done;
}
