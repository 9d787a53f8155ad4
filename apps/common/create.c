// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAGS = O_WRONLY | O_CREAT, MODE = 0666 };

#ifdef __linux__

enum { NAME_BYTES = 256, FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };

static const char strange_link[] = "a link of another user: name what it leads to";

static bool is_trusted(uid_t user)
{
    return user == 0 || user == geteuid();
}

// A group that is this user's first is often his alone.
static bool others_may_write(const struct stat *folder)
{
    return !is_trusted(folder->st_uid) || (folder->st_mode & S_IWOTH) != 0 ||
           ((folder->st_mode & S_IWGRP) != 0 && folder->st_gid != getegid());
}

// Where only its owner may replace a link, one of this user or of root stays what it is.
static bool may_follow(const struct stat *folder, const struct stat *link)
{
    return !others_may_write(folder) || (is_trusted(folder->st_uid) && is_trusted(link->st_uid) &&
                                         (folder->st_mode & S_ISVTX) != 0);
}

// The next folder of a path. Takes `at`.
static int enter(int at, const char *name, const char **why)
{
    struct stat folder, next;
    int flags = FOLDER | O_NOFOLLOW, fd = -1;

    if (fstat(at, &folder) == 0 && fstatat(at, name, &next, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISLNK(next.st_mode) && may_follow(&folder, &next))
            flags = FOLDER;
        else if (S_ISLNK(next.st_mode))
            *why = strange_link;
        fd = openat(at, name, flags);
    }
    if (fd < 0 && *why == NULL)
        *why = strerror(errno);
    close(at);
    return fd;
}

// Opens the folder of a path. `*name` is what is left of it.
static int find_folder(const char *path, const char **name, const char **why)
{
    int at = open(path[0] == '/' ? "/" : ".", FOLDER);

    for (;;) {
        path += strspn(path, "/");
        const size_t n = strcspn(path, "/");
        char part[NAME_BYTES];
        if (at < 0 || path[n] == '\0' || n >= sizeof part)
            break;
        memcpy(part, path, n);
        part[n] = '\0';
        at = enter(at, part, why);
        path += n;
    }
    if (at < 0 && *why == NULL)
        *why = strerror(errno);
    *name = path;
    return at;
}

static const char *distrust(const struct stat *file)
{
    if (!is_trusted(file->st_uid))
        return "another user's file in a folder that others may write: name another file";
    if (S_ISREG(file->st_mode) && file->st_nlink != 1)
        return "a file with other names, in a folder that others may write: name another file";
    return NULL;
}

// What is there is looked at before it is emptied, and without waiting for who reads a pipe.
static int create_among_others(int at, const char *name, const char **why)
{
    struct stat folder, file;
    int flags = FLAGS | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

    if (fstatat(at, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(file.st_mode)) {
        if (fstat(at, &folder) != 0 || !may_follow(&folder, &file)) {
            *why = strange_link;
            return -1;
        }
        flags &= ~O_NOFOLLOW;
    }
    const int fd = openat(at, name, flags, MODE);
    if (fd < 0)
        return -1;
    if (fstat(fd, &file) == 0 && (*why = distrust(&file)) == NULL &&
        (!S_ISREG(file.st_mode) || ftruncate(fd, 0) == 0))
        return fd;
    if (*why == NULL)
        *why = strerror(errno);
    close(fd);
    return -1;
}

int create_file(const char *path, const char **why)
{
    struct stat folder;
    const char *name;
    int fd = -1;

    *why = NULL;
    const int at = find_folder(path, &name, why);
    if (at < 0)
        return -1;
    if (fstat(at, &folder) == 0 && !others_may_write(&folder))
        fd = openat(at, name, FLAGS | O_TRUNC | O_CLOEXEC, MODE);
    else
        fd = create_among_others(at, name, why);
    if (fd < 0 && *why == NULL)
        *why = strerror(errno);
    close(at);
    return fd;
}

#else

int create_file(const char *path, const char **why)
{
    const int fd = open(path, FLAGS | O_TRUNC, MODE);

    *why = fd < 0 ? strerror(errno) : NULL;
    return fd;
}

#endif
