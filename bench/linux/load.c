// SPDX-License-Identifier: Apache-2.0
// Load: one busy process on each processor that is measured on, for the rows named `….loaded`.

#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static _Noreturn void be_busy(unsigned int cpu, pid_t parent)
{
    volatile uint32_t turns = 0;

    // It ends with us, however we end.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    bench_pin_thread(cpu);
    for (;;)
        turns = turns + 1;
}

void bench_load_start(struct bench_load *load, const struct bench_options *options)
{
    const pid_t parent = getpid();

    load->n = options->two_cores ? 2 : 1;
    for (uint32_t i = 0; i < load->n; i++) {
        load->pid[i] = fork();
        if (load->pid[i] == 0)
            be_busy(options->cpu[i], parent);
        if (load->pid[i] < 0)
            bench_fail("a busy process cannot be started");
    }
}

void bench_load_end(struct bench_load *load)
{
    for (uint32_t i = 0; i < load->n; i++) {
        kill(load->pid[i], SIGKILL);
        waitpid(load->pid[i], NULL, 0);
    }
}

struct bench_options bench_options_loaded(const struct bench_options *options)
{
    struct bench_options fewer = *options;

    fewer.rounds = options->rounds < 5 ? options->rounds : 5;
    fewer.samples = options->samples / 2;
    return fewer;
}
