// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "sysfs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sysfs_read(const char *path, char *text, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, text, bytes - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

bool sysfs_read_number(const char *path, uint64_t *value)
{
    char text[32], *end;

    if (!sysfs_read(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0';
}

bool sysfs_write(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return false;
    const size_t n = strlen(text);
    const bool written = write(fd, text, n) == (ssize_t)n;
    return close(fd) == 0 && written;
}
