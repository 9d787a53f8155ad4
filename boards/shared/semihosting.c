// SPDX-License-Identifier: Apache-2.0
#include "semihosting.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "arm_board.h"

enum {
    SYS_OPEN = 1,
    SYS_CLOSE = 2,
    SYS_WRITE = 5,
    SYS_READ = 6,
    SYS_ISERROR = 8,
    SYS_SEEK = 0xa,
    SYS_FLEN = 0xc,
    SYS_ERRNO = 0x13,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
    APPLICATION_EXIT = 0x20026,
    PRINT = 4,  // as a mode of ":tt"; twice as much for standard error
    STDERR = 2,
};

// Globally visible; written by the first core before the others have a kernel.
static bool answers __attribute__((section(".gvm")));

// Of boot.S: a call that returns `operation` if the processor takes it as an exception.
int semihosting_try(int operation, const void *block);

void semihosting_begin(void)
{
    const uintptr_t block[] = { 0 };  // no error

    answers = semihosting_try(SYS_ISERROR, block) == 0;
}

bool semihosting_answers(void)
{
    return answers;
}

// `block`: words as wide as a register.
static int call(int operation, const uintptr_t *block)
{
    if (!answers)
        return -1;
#ifdef __aarch64__
    register intptr_t result __asm__("x0") = operation;
    register const void *at __asm__("x1") = block;

    __asm__ volatile("hlt #0xf000" : "+r"(result) : "r"(at) : "memory");
#else
    register intptr_t result __asm__("r0") = operation;
    register const void *at __asm__("r1") = block;

    __asm__ volatile("svc 0x123456" : "+r"(result) : "r"(at) : "memory", "lr");
#endif
    return (int)result;
}

int semihosting_arguments(char *words, size_t bytes, char **argv, int most)
{
    uintptr_t block[] = { (uintptr_t)words, bytes };
    int argc = 0;

    if (call(SYS_GET_CMDLINE, block) != 0)
        return 0;
    for (char *word = strtok(words, " "); word != NULL && argc < most - 1; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

void semihosting_exit(int status)
{
    const uintptr_t block[] = { APPLICATION_EXIT, (uintptr_t)status };

    call(SYS_EXIT_EXTENDED, block);
    board_halt();
}

int semihosting_open(const char *path, int mode)
{
    const uintptr_t block[] = { (uintptr_t)path, (uintptr_t)mode, strlen(path) };

    return call(SYS_OPEN, block);
}

int semihosting_close(int handle)
{
    const uintptr_t block[] = { (uintptr_t)handle };

    return call(SYS_CLOSE, block);
}

// Both return how many bytes are left.
int semihosting_read(int handle, void *to, int bytes)
{
    const uintptr_t block[] = { (uintptr_t)handle, (uintptr_t)to, (uintptr_t)bytes };

    return answers ? bytes - call(SYS_READ, block) : -1;
}

int semihosting_write(int handle, const void *from, int bytes)
{
    const uintptr_t block[] = { (uintptr_t)handle, (uintptr_t)from, (uintptr_t)bytes };

    return answers ? bytes - call(SYS_WRITE, block) : -1;
}

int semihosting_seek(int handle, int place)
{
    const uintptr_t block[] = { (uintptr_t)handle, (uintptr_t)place };

    return call(SYS_SEEK, block);
}

int semihosting_bytes(int handle)
{
    const uintptr_t block[] = { (uintptr_t)handle };

    return call(SYS_FLEN, block);
}

int semihosting_errno(void)
{
    return answers ? call(SYS_ERRNO, NULL) : ENOSYS;
}

int semihosting_print(int file, const char *from, int bytes)
{
    static int handles[STDERR + 1];  // of this core

    if (handles[file] == 0)
        handles[file] = semihosting_open(":tt", file == STDERR ? 2 * PRINT : PRINT);
    return semihosting_write(handles[file], from, bytes);
}
