// SPDX-License-Identifier: Apache-2.0
// A program that computes and nothing else, one that does not want to move, and one of another
// policy (the guest's busybox may lack `nice` and `chrt`). What the first gets is counted by the
// guest's kernel (the thread's time on a processor), not by the clock alone: the emulated
// processors wait for the host's, and that is no fault of the guest's scheduler.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

enum { MOST = 16, CPUS = 8 };

struct spinner {
    pthread_t thread;
    double seconds;
    double share;         // of the time, on a processor
    int64_t gap_ns;       // longest time between two looks at the clock
    long involuntary;     // how often it was interrupted for another task
    int64_t on_ns[CPUS];  // time on each processor
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *spin(void *given)
{
    struct spinner *self = given;
    struct rusage before, after;
    const int64_t began_ns = now_ns(CLOCK_MONOTONIC);
    const int64_t worked_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const int64_t ends_ns = began_ns + (int64_t)(self->seconds * 1e9);
    int64_t last_ns = began_ns;

    getrusage(RUSAGE_THREAD, &before);
    while (last_ns < ends_ns) {
        const int64_t ns = now_ns(CLOCK_MONOTONIC);

        self->on_ns[(unsigned)sched_getcpu() % CPUS] += ns - last_ns;
        if (ns - last_ns > self->gap_ns)
            self->gap_ns = ns - last_ns;
        last_ns = ns;
    }
    getrusage(RUSAGE_THREAD, &after);
    self->share =
        (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - worked_ns) / (double)(last_ns - began_ns);
    self->involuntary = after.ru_nivcsw - before.ru_nivcsw;
    return NULL;
}

// Where it was longest: when one thread ends, the scheduler may move another to its processor.
static int home(const struct spinner *spinner)
{
    int cpu = 0;

    for (int i = 1; i < CPUS; i++)
        if (spinner->on_ns[i] > spinner->on_ns[cpu])
            cpu = i;
    return cpu;
}

int rig_spin(double seconds, int threads)
{
    struct spinner spinners[MOST] = { { .seconds = 0 } };

    if (threads < 1 || threads > MOST)
        return 2;
    for (int i = 0; i < threads; i++) {
        spinners[i].seconds = seconds;
        if (pthread_create(&spinners[i].thread, NULL, spin, &spinners[i]) != 0)
            return 2;
    }
    for (int i = 0; i < threads; i++) {
        const struct spinner *spinner = &spinners[i];

        pthread_join(spinner->thread, NULL);
        printf("thread %d cpu %d share %.4f involuntary %ld gap_us %lld\n", i, home(spinner),
               spinner->share, spinner->involuntary, (long long)spinner->gap_ns / 1000);
    }
    return 0;
}

int rig_as(int policy, int number, char *const command[])
{
    const struct sched_param param = { .sched_priority = policy == SCHED_FIFO ? number : 0 };

    if (sched_setscheduler(0, policy, &param) == 0 &&
        (policy != SCHED_OTHER || setpriority(PRIO_PROCESS, 0, number) == 0))
        execvp(command[0], command);
    return 2;
}

_Noreturn void rig_back(int cpu, long every_us)
{
    const struct timespec pause = { .tv_sec = every_us / 1000000,
                                    .tv_nsec = every_us % 1000000 * 1000 };
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET((size_t)cpu, &cpus);
    for (;;) {
        sched_setaffinity(0, sizeof cpus, &cpus);  // refused where a set has no such processor
        nanosleep(&pause, NULL);
    }
}
