// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "killed.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "kernel_stub.h"

enum { SHARED_BYTES = 96 * 1024, SYSTEM_BYTES = SHARED_BYTES - 4096 };

static unsigned char *shared;
static unsigned char before[SHARED_BYTES], seen[SHARED_BYTES];

// A sanitizer's instructions would be stepped through as well, many times as many. AArch64 loses
// its exclusive monitor at every step, so its atomics never succeed.
static bool can_step(void)
{
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

void *killed_pair(struct wb_task **task, struct wb_task **peer, size_t bytes)
{
    stub_open(&(struct wb_system_config){ .cores = 2, .tasks = 2, .core_align = WB_LINE_BYTES });
    *task = stub_task("task", 0);
    *peer = build_task(stub.system, "peer", 1, 5, (*task)->entry);
    (*task)->restart = true;
    void *memory = wb_app_alloc(&stub.system->app, bytes);
    CHECK(memory != NULL);
    return memory;
}

void killed_start_again(struct wb_task *task)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    CHECK(wb_task_core(task) == 1);
    stub_become(1, task);
}

uint32_t *killed_progress(void)
{
    return (uint32_t *)(void *)(shared + SYSTEM_BYTES);
}

static pid_t start(const struct killed *killed)
{
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(1);
    raise(SIGSTOP);
    killed->act();
    _exit(0);
}

// Returns false once the child has ended.
static bool step(pid_t child)
{
    int status;

    CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) {
        CHECK(WEXITSTATUS(status) == 0);
        return false;
    }
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    return true;
}

static void die_here(const struct killed *killed)
{
    const struct stub alive = stub;

    memcpy(before, shared, sizeof before);
    killed->check();
    memcpy(shared, before, sizeof before);
    stub = alive;
}

static uint32_t at_every_step(const struct killed *killed)
{
    uint32_t checks = 0;
    int status;

    shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    stub_use(shared, SYSTEM_BYTES);
    killed->build();
    const pid_t child = start(killed);
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    memset(seen, 0xff, sizeof seen);
    while (step(child)) {
        if (memcmp(seen, shared, sizeof seen) == 0)
            continue;
        memcpy(seen, shared, sizeof seen);
        die_here(killed);
        checks++;
    }
    stub_use(NULL, 0);
    munmap(shared, SHARED_BYTES);
    return checks;
}

void killed_show(const struct killed *killed, uint32_t at_least)
{
    if (can_step())
        CHECK(at_every_step(killed) >= at_least);
    else
        wb_test_skip("processes cannot be run by single instructions here");
}
