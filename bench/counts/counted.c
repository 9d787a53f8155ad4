// SPDX-License-Identifier: Apache-2.0
// usage: counted OPERATION TIMES
//
// Does one thing so many times on the Linux kernels, for check.py to count the instructions.
// Nothing polls: a kernel without work sleeps, so no count depends on how long another one takes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"

enum { MESSAGE_BYTES = 64, SLOTS = 16 };

struct counted {
    uint32_t times;
    bool over;
};

static uint32_t times_of(const struct wb_task *self)
{
    const struct counted *counted = wb_task_app(self)->state;

    return counted->times;
}

// ---- One kernel at a time -----------------------------------------------------------------------

// From its first sleep on, a kernel holds the lock of this file except while it sleeps. So the
// steps of a kernel that rings and of one that wakes have one order, however busy the machine is.
static FILE *turn;
static pid_t launcher;
static long (*libc_syscall)(long number, ...);

// In the place of the C library's, by which the kernels sleep and ring.
__attribute__((visibility("default"), noipa)) long syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    const bool sleeps = number == SYS_futex && a[1] == FUTEX_WAIT && getpid() != launcher;
    if (sleeps && lockf(fileno(turn), F_ULOCK, 0) != 0)
        abort();
    const long result = libc_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    while (sleeps && lockf(fileno(turn), F_LOCK, 0) != 0) {}
    return result;
}

static void take_turns(void)
{
    void *const found = dlsym(RTLD_NEXT, "syscall");

    memcpy(&libc_syscall, &found, sizeof found);
    launcher = getpid();
    turn = tmpfile();
    if (found == NULL || turn == NULL)
        bench_fail("its kernels cannot take turns");
}

// ---- A message ----------------------------------------------------------------------------------

static int sends_to_itself(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    unsigned char message[MESSAGE_BYTES] = { 0 };

    for (uint32_t i = times_of(self); i > 0; i--)
        if (wb_port_send(out, message, WB_FOREVER) != WB_OK ||
            wb_port_receive(in, message, WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

static void add_message(struct bench_system *b)
{
    struct wb_task *task = bench_task(b, "task", sends_to_itself, 0);

    bench_channel(b, "own", SLOTS, MESSAGE_BYTES, task, 0, task, 0);
}

// The receiver waits for each message, so the sender wakes it.
static int receives(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    unsigned char message[MESSAGE_BYTES];

    for (uint32_t i = times_of(self); i > 0; i--)
        if (wb_port_receive(in, message, WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

static int sends(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    unsigned char message[MESSAGE_BYTES] = { 0 };

    for (uint32_t i = times_of(self); i > 0; i--) {
        if (wb_port_send(out, message, WB_FOREVER) != WB_OK)
            return 1;
        wb_yield();
    }
    return 0;
}

static void add_waited(struct bench_system *b)
{
    struct wb_task *to = bench_task(b, "to", receives, 0), *from = bench_task(b, "from", sends, 0);

    bench_channel(b, "c", SLOTS, MESSAGE_BYTES, from, 0, to, 0);
}

// ---- A switch -----------------------------------------------------------------------------------

// Two switches a turn, there and back.
static int yields(struct wb_task *self)
{
    for (uint32_t i = times_of(self) / 2; i > 0; i--)
        wb_yield();
    return 0;
}

static void add_switch(struct bench_system *b)
{
    bench_task(b, "one", yields, 0);
    bench_task(b, "two", yields, 0);
}

// ---- A hand-off ---------------------------------------------------------------------------------

static int moves(struct wb_task *self)
{
    for (uint32_t i = times_of(self); i > 0; i--)
        if (wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

static void add_handoff(struct bench_system *b)
{
    bench_task(b, "mover", moves, 0);
}

static const struct {
    const char *name;
    void (*add)(struct bench_system *b);
} operations[] = {
    { "message", add_message },
    { "message.waited", add_waited },
    { "switch", add_switch },
    { "handoff.sleep", add_handoff },
};

int main(int argc, char **argv)
{
    const unsigned int cpu = (unsigned int)sched_getcpu();
    const struct bench_options options = { .cpu = { cpu, cpu } };
    struct counted counted = { .times = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0 };
    struct bench_system b;

    clock_init(false);
    take_turns();
    for (size_t i = 0; argc == 3 && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, argv[1]) == 0) {
            bench_open(&b, &options, 2, 0);
            operations[i].add(&b);
            bench_run(&b, &counted);
            return 0;
        }
    bench_fail("usage: counted OPERATION TIMES");
}
