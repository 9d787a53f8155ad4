// SPDX-License-Identifier: Apache-2.0
// The host: runs, as an ordinary task of this kernel, a task that lives in a process of its own.
//
// On its stack in globally visible memory the task has only the loop of host_run(). So it is
// scheduled, parked, offered and recovered like any other; what moves with the loop is nothing but
// the request to go on, and the process is started anew wherever the loop finds itself.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hosted.h"

enum { LOOK_NS = 20000000 };  // how often to look for a process that ended where no futex tells

extern char **environ;

// ---- The process --------------------------------------------------------------------------------

static void reap(struct hosted *h)
{
    while (waitpid(hosted_pid(h), &h->wait_status, 0) < 0 && errno == EINTR) {}
    wb_word_store(&h->pid, 0, WB_SEQ_CST);
    wb_word_store(&h->turn, 0, WB_RELAXED);
}

// Its processor time; 0 where nobody has to know.
static uint64_t process_ran_ns(const struct hosted *h)
{
    clockid_t clock;

    if (!frequency_slows() || clock_getcpuclockid(hosted_pid(h), &clock) != 0)
        return 0;
    return clock_read_ns(clock);
}

// Lets the process run until it gives the core back. False: it has ended instead, and is reaped.
static bool hand_over(struct hosted *h)
{
    const uint32_t its = (uint32_t)hosted_pid(h) | FUTEX_WAITERS;
    uint32_t turn = its;

    const uint64_t from_ns = process_ran_ns(h);

    h->poll_end_ns = kernel_poll_end_ns(&h->spin_ns);
    h->slows = frequency_slows();
    // Release: it sees what we answer, and what other tasks wrote.
    wb_word_store(&h->turn, its, WB_RELEASE);
    futex(&h->turn, FUTEX_WAKE, 1, WB_FOREVER);
    while (turn == its) {
        const long slept = futex(&h->turn, FUTEX_WAIT, its, LOOK_NS);
        const bool late = slept != 0 && errno == ETIMEDOUT;
        // Acquire: what it requests, and what it wrote.
        turn = wb_word_load(&h->turn, WB_ACQUIRE);
        if (turn == its && late &&
            waitpid(hosted_pid(h), &h->wait_status, WNOHANG) == hosted_pid(h)) {
            wb_word_store(&h->pid, 0, WB_SEQ_CST);
            wb_word_store(&h->turn, 0, WB_RELAXED);
            return false;
        }
    }
    if (turn != 0) {
        reap(h);
        return false;
    }
    const uint64_t to_ns = process_ran_ns(h);
    frequency_add_run(to_ns > from_ns ? to_ns - from_ns : 0);
    return true;
}

static void keep(int fd, void *gvm)
{
    if (fd != *(const int *)gvm)
        fcntl(fd, F_SETFD, 0);
}

// What the application has opened before the fork is the program's as well.
static void keep_files(int gvm)
{
    static bool kept;  // in this kernel

    if (!kept)
        files_each(keep, &gvm);
    kept = true;
}

// By posix_spawn, which shares this process's memory until the program is loaded: a fork would copy
// the tables of all of it.
static bool spawn(struct hosted *h)
{
    size_t gvm_bytes;
    const int gvm = hosted_gvm(&gvm_bytes);
    char fd[16], bytes[32], address[32];
    char *const argv[] = { h->task->name, fd, bytes, address, NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;

    keep_files(gvm);
    snprintf(fd, sizeof fd, "%d", gvm);
    snprintf(bytes, sizeof bytes, "%zu", gvm_bytes);
    snprintf(address, sizeof address, "%zu", (size_t)h);
    h->kernel_pid = getpid();
    h->wait_status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    // Onto itself: that takes FD_CLOEXEC off.
    const bool spawned = posix_spawn_file_actions_adddup2(&actions, gvm, gvm) == 0 &&
                         posix_spawn(&pid, hosted_program(), &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (spawned)
        wb_word_store(&h->pid, pid, WB_SEQ_CST);
    return spawned;
}

enum wb_status wb_kernel_load(struct wb_task *task)
{
    struct hosted *h = hosted_of(task, wb_kernel_core());

    if (h == NULL)
        return WB_ERR_NOMEM;
    if (hosted_pid(h) != 0)
        return WB_OK;
    // Any task may be at its checkpoint here, and finds its errno as it was.
    const int error_number = errno;
    const bool loaded = spawn(h) && hand_over(h);
    errno = error_number;
    return loaded ? WB_OK : WB_ERR_NOMEM;
}

void wb_kernel_unload(struct wb_task *task)
{
    struct hosted *h = hosted_of(task, wb_kernel_core());

    if (h == NULL || hosted_pid(h) == 0)
        return;
    const int error_number = errno;
    kill(hosted_pid(h), SIGKILL);
    reap(h);
    errno = error_number;
}

// ---- The loop -----------------------------------------------------------------------------------

static bool is_killed_from_outside(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return false;
    const int number = WTERMSIG(wait_status);
    return number == SIGKILL || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

static bool is_stale(int wait_status)
{
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == HOSTED_STALE;
}

// The process ended and had not asked to. One that has noted a fault ends like that as well.
static void take_end(struct wb_task *self, int wait_status)
{
    char text[WB_ERROR_BYTES];

    if (wb_word_load(&self->system->fault.taken, WB_ACQUIRE) != 0)
        wb_kernel_halt();
    if (is_killed_from_outside(wait_status) && self->restart) {
        wb_recreation_killed(self);
        return;
    }
    if (WIFSIGNALED(wait_status))
        snprintf(text, sizeof text, "its process was ended by SIG%s",
                 sigabbrev_np(WTERMSIG(wait_status)));
    else
        snprintf(text, sizeof text, "its process exited with status %d", WEXITSTATUS(wait_status));
    wb_task_fail(self, text);
}

enum life { LIFE_LEFT, LIFE_OVER, LIFE_CUT_SHORT };

static enum life host(struct wb_task *self, struct hosted *h)
{
    while (hand_over(h)) {
        switch (h->request) {
        case HOSTED_READY:
            break;
        case HOSTED_BLOCK:
            h->answer = wb_kernel_block(h->argument);
            break;
        case HOSTED_YIELD:
            wb_kernel_yield((uint32_t)h->argument);
            break;
        case HOSTED_ATTACH:
            wb_kernel_attach(&self->system->tasks[h->argument]);
            break;
        case HOSTED_REPRIORITISE:
            wb_kernel_reprioritise(&self->system->tasks[h->argument]);
            break;
        case HOSTED_DEPART:
            reap(h);
            return LIFE_LEFT;
        case HOSTED_EXIT:
            reap(h);
            return LIFE_OVER;
        }
    }
    return LIFE_CUT_SHORT;
}

int host_run(struct wb_task *self)
{
    for (;;) {
        // This core's: after its departure the loop goes on wherever the task was attached.
        struct hosted *h = hosted_of(self, wb_kernel_core());
        enum life life = LIFE_CUT_SHORT;
        if (wb_kernel_load(self) == WB_OK)
            life = host(self, h);
        else if (!is_killed_from_outside(h->wait_status))
            wb_task_fail(self,
                         is_stale(h->wait_status)
                             ? "its program is of another build than this kernel: build it again"
                             : "its program cannot be started");
        if (life == LIFE_OVER)
            return 0;
        if (life == LIFE_CUT_SHORT)
            take_end(self, h->wait_status);
        else if (wb_kernel_depart() != WB_OK)
            assert(!"a host holds nothing of its kernel");
    }
}
