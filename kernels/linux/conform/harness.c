// SPDX-License-Identifier: Apache-2.0
// The harness on the Linux kernels.

#define _GNU_SOURCE
#include "host.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosted.h"
#include "launcher.h"
#include "process.h"

extern char **environ;

enum { CORES_MAX = 8 };

const struct harness_sizes harness_sizes = { .memory_bytes = 8 << 20,
                                             .shared_bytes = 1 << 20,
                                             .stack_bytes = 64 << 10 };

// The cores take turns on the processors that we may use.
static void choose_cpus(unsigned int *cpus, uint32_t cores)
{
    cpu_set_t allowed;
    unsigned int cpu = 0;

    if (cores > CORES_MAX || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        launcher_give_up("no processors");
    for (uint32_t i = 0; i < cores; i++, cpu++) {
        while (!CPU_ISSET(cpu % CPU_SETSIZE, &allowed))
            cpu++;
        cpus[i] = cpu % CPU_SETSIZE;
    }
}

struct harness *harness_open(const struct harness_config *config)
{
    const uint64_t for_ever_ns = 3600000000000;
    static unsigned int cpus[CORES_MAX];  // for as long as the system is open

    choose_cpus(cpus, config->cores);
    return launcher_open(config, for_ever_ns,
                         (struct wb_host_config){ .system.tasks = HARNESS_INDEXED_TASKS,
                                                  .cpus = cpus,
                                                  .spin_ns = config->poll_ns });
}

bool harness_preempts(void)
{
    return false;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    const pid_t pid = wb_host_pid(h->host, core);

    return pid != 0 && kill(pid, SIGKILL) == 0;
}

// Beside this program. Started without arguments it says that it is of no use by hand: if it can be
// started at all.
static bool find_program(char *path, size_t bytes)
{
    const ssize_t n = readlink("/proc/self/exe", path, bytes - 32);
    char *const argv[] = { (char *)"program", NULL };
    pid_t pid;
    int status;

    if (n <= 0)
        return false;
    path[n] = '\0';
    strcpy(strrchr(path, '/') + 1, "recreated.task");
    return posix_spawn(&pid, path, NULL, NULL, argv, environ) == 0 &&
           waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 2;
}

bool harness_host(struct harness *h, struct wb_task *task, const char *entry)
{
    char path[4096];
    char why[200];

    if (getenv("CONFORM_NO_PROGRAMS") != NULL)
        return false;
    if (hosted_program() == NULL &&
        (!find_program(path, sizeof path) || wb_host_program(h->host, path) != WB_OK))
        launcher_give_up("recreated.task is not next to the suite, or cannot be started: build it, "
                         "or set CONFORM_NO_PROGRAMS");
    if (wb_host_recreates(h->host, task, entry, why, sizeof why) != WB_OK)
        launcher_give_up(why);
    return true;
}

bool harness_has_processes(void)
{
    return true;
}

bool harness_kill_program(struct harness *h, const struct wb_task *task)
{
    for (uint32_t i = 0; i < harness_system(h)->n_cores; i++) {
        const struct hosted *hosted = hosted_of(task, i);
        const pid_t pid = hosted != NULL ? hosted_pid(hosted) : 0;
        if (pid != 0 && kill(pid, SIGKILL) == 0)
            return true;
    }
    return false;
}

// AddressSanitizer maps memory for itself and ends without it.
bool harness_starve(struct harness *h, uint32_t core, bool starve)
{
#ifdef __SANITIZE_ADDRESS__
    (void)h;
    (void)core;
    return !starve;
#else
    const struct rlimit limit = { .rlim_cur = starve ? PAGE_BYTES : RLIM_INFINITY,
                                  .rlim_max = RLIM_INFINITY };

    if (prlimit(wb_host_pid(h->host, core), RLIMIT_AS, &limit, NULL) != 0)
        launcher_give_up("a kernel's memory cannot be limited");
    return true;
#endif
}

uint32_t harness_programs(struct harness *h)
{
    const struct wb_system *system = harness_system(h);
    uint32_t n = 0;

    for (uint32_t t = 0; t < system->n_tasks; t++)
        for (uint32_t i = 0; i < system->n_cores; i++) {
            const struct hosted *hosted = hosted_of(&system->tasks[t], i);
            n += hosted != NULL && hosted_pid(hosted) != 0 &&
                 wb_word_load(&system->cores[i]->state, WB_SEQ_CST) != WB_CORE_DEAD;
        }
    return n;
}

// What is resident of its own and of shared memory. AddressSanitizer keeps what has been freed.
size_t harness_memory(struct harness *h, uint32_t core)
{
#ifdef __SANITIZE_ADDRESS__
    (void)h;
    (void)core;
    return 0;
#else
    char path[64];
    size_t pages = 0;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)wb_host_pid(h->host, core));
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*u %zu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * PAGE_BYTES;
#endif
}

void harness_close(struct harness *h)
{
    uint32_t dead = 0;

    for (uint32_t i = 0; i < harness_system(h)->n_cores; i++)
        dead += wb_word_load(&harness_system(h)->cores[i]->state, WB_SEQ_CST) == WB_CORE_DEAD;
    wb_host_close(h->host);
    // Nor any zombie: we have no other children. A kernel killed while it starts a program leaves
    // one that nobody knows of until it has looked who its parent is.
    for (pid_t pid; (pid = waitpid(-1, NULL, dead != 0 ? 0 : WNOHANG)) >= 0; dead--)
        if (pid == 0 || dead == 0)
            launcher_give_up("a process is left");
    free(h);
}
