// SPDX-License-Identifier: Apache-2.0
// What newlib asks of a system.

#include "semihosting.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "board_a9.h"
#include "outside.h"

enum {
    SYS_OPEN = 1,
    SYS_WRITE = 5,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
    APPLICATION_EXIT = 0x20026,
    TO_WRITE = 4,
    STDERR = 2,
    LINE = 3,  // to the command
    HEAP_BYTES = 256 << 10,
};

extern int FreeRTOS_errno;  // of tasks.c

static int call(int operation, const void *block)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;

    __asm__ volatile("svc 0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
    return r0;
}

int semihosting_arguments(char *words, size_t bytes, char **argv, int most)
{
    uint32_t block[] = { (uint32_t)words, bytes };
    int argc = 0;

    if (call(SYS_GET_CMDLINE, block) != 0)
        return 0;
    for (char *word = strtok(words, " "); word != NULL && argc < most - 1; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

// Each task has its own (configUSE_POSIX_ERRNO).
int *__errno(void)
{
    return &FreeRTOS_errno;
}

void _exit(int status)
{
    const uint32_t block[] = { APPLICATION_EXIT, (uint32_t)status };

    call(SYS_EXIT_EXTENDED, block);
    for (;;) {}
}

// All of it: whoever speaks to the command waits until there is room.
static int write_line(const char *from, int bytes)
{
    for (int sent = 0; sent < bytes;) {
        const int n = (int)board_line_write(from + sent, (size_t)(bytes - sent));
        if (n == 0)
            outside_rest();
        sent += n;
    }
    return bytes;
}

// Standard output and error are one stream each of the host's.
int _write(int file, const char *from, int bytes)
{
    static int handles[STDERR + 1];

    if (file == LINE)
        return write_line(from, bytes);
    if (file < 1 || file > STDERR)
        return -1;
    if (handles[file] == 0) {
        const uint32_t open[] = { (uint32_t) ":tt", file == STDERR ? 2 * TO_WRITE : TO_WRITE, 3 };
        handles[file] = call(SYS_OPEN, open);
    }
    const uint32_t block[] = { (uint32_t)handles[file], (uint32_t)from, (uint32_t)bytes };
    return bytes - call(SYS_WRITE, block);
}

void *_sbrk(ptrdiff_t bytes)
{
    static _Alignas(8) char heap[HEAP_BYTES];
    static ptrdiff_t used;

    if (bytes > HEAP_BYTES - used) {
        errno = ENOMEM;
        return (void *)-1;
    }
    used += bytes;
    return heap + used - bytes;
}

int _read(int file, char *to, int bytes)
{
    const int n = file == LINE ? (int)board_line_read(to, (size_t)bytes) : 0;

    if (file != LINE || n != 0)
        return n;
    errno = EAGAIN;
    return -1;
}

int _close(int file)
{
    (void)file;
    return -1;
}

int _lseek(int file, int offset, int from)
{
    (void)file;
    (void)offset;
    (void)from;
    return 0;
}

int _fstat(int file, struct stat *out)
{
    (void)file;
    out->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    return file <= STDERR;
}

int _kill(int process, int number)
{
    (void)process;
    (void)number;
    return -1;
}

// Of each kernel: there is no other process.
int _getpid(void)
{
    return 1 + (int)board_core();
}
