// SPDX-License-Identifier: Apache-2.0
// Files that are created on the machine that simulates the board, and written: nothing of them can
// be read. Requests are made one at a time: all cores get their answers in one register.
#include "host_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/lock.h>

#include "rv32_soc.h"

// Globally visible: where write() goes on. A file that is written so has one writer at a time.
static uint32_t position[HOST_FILES] __attribute__((section(".gvm")));

// The request and what it names are in the RAM before a device is written.
static int ask_host(const struct soc_request *request)
{
    __retarget_lock_acquire_recursive(NULL);
    __asm__ volatile("" ::: "memory");
    REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOST) = (uint32_t)request;
    const int answer = (int)REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOST);
    __retarget_lock_release_recursive(NULL);
    return answer;
}

static bool is_host(int file)
{
    return file >= 0 && file < HOST_FILES;
}

// The host makes a file anew.
int host_open(const char *path, int flags)
{
    const int made = O_CREAT | O_TRUNC;

    if ((flags & O_ACCMODE) == O_RDONLY)
        return -ENOENT;
    if ((flags & O_ACCMODE) != O_WRONLY || (flags & made) != made)
        return -EROFS;
    const int file = ask_host(&(struct soc_request){ SOC_HOST_CREATE, { (uint32_t)path } });
    if (is_host(file))
        position[file] = 0;
    return file;
}

int host_close(int file)
{
    return is_host(file) ? ask_host(&(struct soc_request){ SOC_HOST_CLOSE, { (uint32_t)file } })
                         : -EBADF;
}

int host_read(int file, void *to, size_t bytes, uint32_t place)
{
    (void)file;
    (void)to;
    (void)bytes;
    (void)place;
    return -EBADF;
}

int host_write(int file, const void *from, size_t bytes, uint32_t place)
{
    if (!is_host(file))
        return -EBADF;
    const uint32_t at = place == HOST_POSITION ? position[file] : place;
    const int n = ask_host(
        &(struct soc_request){ SOC_HOST_WRITE, { (uint32_t)file, (uint32_t)from, bytes, at } });
    if (place == HOST_POSITION && n > 0)
        position[file] += (uint32_t)n;
    return n;
}

int host_seek(int file, int place)
{
    (void)file;
    (void)place;
    return -EBADF;
}

int host_bytes(int file)
{
    (void)file;
    return -EBADF;
}

int host_print(int file, const char *from, size_t bytes)
{
    (void)file;
    for (size_t i = 0; i < bytes; i++)
        REGISTER(SOC_SYSTEM_BASE + SYSTEM_CONSOLE) = (unsigned char)from[i];
    return (int)bytes;
}
