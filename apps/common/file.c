// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "create.h"
#include "read_at.h"

bool file_refuse(struct wb_app *app, const char *key, const char *reason)
{
    snprintf(app->error, sizeof app->error, "%s \"%.80s\" cannot be used: %s", key,
             wb_param_text(app, key, ""), reason);
    return false;
}

void file_warn(struct wb_app *app, const char *key, const char *text)
{
    fprintf(stderr, "warning: %s \"%s\": %s\n", key, wb_param_text(app, key, ""), text);
}

bool file_open(struct wb_app *app, struct file *file, const char *key)
{
    struct stat about;

    file->fd = open(wb_param_text(app, key, ""), O_RDONLY);
    if (file->fd < 0 || fstat(file->fd, &about) != 0)
        return file_refuse(app, key, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return file_refuse(app, key, "it is not a regular file");
    file->bytes = (uint64_t)about.st_size;
    return true;
}

static char *read_all(struct wb_app *app, const struct file *file, const char *key)
{
    char *data = wb_app_alloc(app, (size_t)file->bytes + 1);
    char why[128];

    if (!data) {
        snprintf(why, sizeof why,
                 "its %llu KiB do not fit into memory of [app]: raise memory in app.toml",
                 (unsigned long long)(file->bytes + 1023) / 1024);
        file_refuse(app, key, why);
        return NULL;
    }
    const int64_t n = file_read_at(file, data, (size_t)file->bytes, 0);
    if (n == (int64_t)file->bytes)
        return data;
    file_refuse(app, key, n < 0 ? strerror(errno) : "it was truncated while it was read");
    return NULL;
}

char *file_load(struct wb_app *app, const char *key, size_t *bytes)
{
    struct file file;
    char *data = file_open(app, &file, key) ? read_all(app, &file, key) : NULL;

    *bytes = data ? (size_t)file.bytes : 0;
    file_close(&file);
    return data;
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);

    return length > end && strcmp(path + length - end, suffix) == 0;
}

bool file_create(struct wb_app *app, struct file *file, const char *key, const char *suffix)
{
    const char *path = wb_param_text(app, key, "");
    const char *why;

    file->fd = -1;
    if (path[0] == '\0')
        return true;
    if (!ends_in(path, suffix)) {
        snprintf(app->error, sizeof app->error,
                 "%s \"%.140s\" cannot be created: end its name in %s", key, path, suffix);
        return false;
    }
    file->fd = create_file(path, &why);
    return file->fd >= 0 || file_refuse(app, key, why);
}

int64_t file_read_at(const struct file *file, void *data, size_t bytes, uint64_t place)
{
    return read_at(file->fd, data, bytes, place);
}

bool file_write_at(const struct file *file, const void *data, size_t bytes, uint64_t place)
{
    const char *at = data;

    while (file->fd >= 0 && bytes > 0) {
        const ssize_t n = pwrite(file->fd, at, bytes, (off_t)place);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        at += n;
        place += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

void file_close(struct file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
