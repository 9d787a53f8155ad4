// SPDX-License-Identifier: Apache-2.0
// Tasks that make mistakes, for tests/test_task_mistakes.py: the parameter `how` says which. A line
// of the file is found by its comment.

#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wb/wb.h"

static volatile int zero;

__attribute__((noinline)) static void crash(volatile int *at)
{
    *at = 7;  // crashes
}

__attribute__((noinline)) static int sink(int depth)
{
    volatile char room[4096];

    room[0] = (char)depth;
    return depth > 1000000 ? 0 : sink(depth + 1) + room[0];
}

static void wait_for_ever(void)
{
    int ends[2];
    char byte;

    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1)
        puts("a byte");
}

static int fault(const char *how)
{
    if (strcmp(how, "segv") == 0)
        crash(NULL);
    if (strcmp(how, "strlen") == 0)
        return (int)strlen((const char *)(intptr_t)zero);  // asks the library
    if (strcmp(how, "jump") == 0)
        ((void (*)(void))(intptr_t)zero)();  // jumps
    if (strcmp(how, "fpe") == 0)
        return 7 / zero;  // divides
    if (strcmp(how, "trap") == 0)
        __builtin_trap();  // traps
    if (strcmp(how, "abort") == 0)
        abort();  // aborts
    if (strcmp(how, "stack") == 0)
        return sink(0);
    return 0;
}

static void leave(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "errx") == 0)
        errx(5, "it gives up");
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(how, "pthread_exit") == 0)
        pthread_exit(NULL);
}

static void stall(const char *how, struct wb_task *self)
{
    if (strcmp(how, "loop") == 0)
        for (;;)
            zero = zero;
    if (strcmp(how, "read") == 0)
        wait_for_ever();
    while (strcmp(how, "sleep") == 0 && !wb_stopping(self)) {
        const uint64_t from = wb_now_ns();
        sleep(1);
        usleep(200000);
        if (wb_now_ns() - from < 1200000000)
            printf("woken early\n");
        wb_checkpoint();
    }
    // What a task may do: it waits where its kernel knows, or computes with checkpoints.
    while (strcmp(how, "patient") == 0 && !wb_stopping(self))
        wb_sleep_until(wb_now_ns() + 700000000);
    if (strcmp(how, "diligent") == 0)
        printf("so far ");
    while (strcmp(how, "diligent") == 0 && !wb_stopping(self))
        wb_checkpoint();
}

int bird(struct wb_task *self)
{
    const char *how = wb_param_text(wb_task_app(self), "how", "");

    printf("it begins\npart of a line, ");
    for (int i = 0; i < 3; i++) {
        wb_period_wait(self);
        wb_checkpoint();
    }
    printf("and its end, in %d\n", (int)getpid());
    if (strcmp(how, "fail") == 0)
        wb_task_fail(self, "it is \033[31mred\033]0;title\007\nand\ttall");
    leave(how);
    stall(how, self);
    return fault(how);
}
