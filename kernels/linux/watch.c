// SPDX-License-Identifier: Apache-2.0
// Files that tasks of this kernel wait for, beside what else they wait for.
//
// A thread of the kernel's process sleeps in epoll; what it does for a file that is ready is what
// another core would do: it leaves a note about the task and rings. So a kernel that polls,
// computes or sleeps learns of a file as it learns of a message, and no system call is made for it
// meanwhile.
//
// Each task has an epoll instance of its own, in which the thread waits as in a file: two tasks
// that watch the same file do not take each other's registration. A file is watched once
// (EPOLLONESHOT); one that stays registered after its task has gone on wakes it for nothing, at
// most once.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "private.h"
#include "wb/wb.h"

enum { AT_ONCE = 16 };

// This process's own.
static struct {
    int all;       // epoll of those of the tasks
    int *of_task;  // by the number of the task; -1: none yet
    bool runs;
} w = { .all = -1 };

static void take_events(uint32_t task)
{
    struct epoll_event ready[AT_ONCE];

    // What is reported is not watched any more.
    (void)epoll_wait(w.of_task[task], ready, AT_ONCE, 0);
    wb_inbox_post(kernel_system()->cores[wb_kernel_core()], task);
}

static void *watch(void *unused)
{
    struct epoll_event ready[AT_ONCE];
    int n;

    (void)unused;
    do {
        n = epoll_wait(w.all, ready, AT_ONCE, -1);
        for (int i = 0; i < n; i++)
            take_events(ready[i].data.u32);
    } while (n >= 0 || errno == EINTR);
    return NULL;
}

// Where the kernel runs in real time, a thread as urgent as it would wait for it to sleep.
static void outrank_this_thread(pthread_attr_t *attr)
{
    struct sched_param param;
    int policy;

    if (pthread_getschedparam(pthread_self(), &policy, &param) != 0 || param.sched_priority == 0)
        return;
    param.sched_priority++;
    (void)pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(attr, policy);
    (void)pthread_attr_setschedparam(attr, &param);
}

// Signals are for the thread that runs tasks.
static bool start_thread(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    if (pthread_attr_init(&attr) != 0)
        return false;
    outrank_this_thread(&attr);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // Without the right to that, as urgent will have to do.
    const bool started = pthread_create(&thread, &attr, watch, NULL) == 0 ||
                         pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return started && pthread_detach(thread) == 0;
}

static bool start(void)
{
    const uint32_t tasks = kernel_system()->n_tasks;

    if (w.runs)
        return true;
    if (w.of_task == NULL) {
        w.of_task = malloc(tasks * sizeof *w.of_task);
        for (uint32_t i = 0; w.of_task != NULL && i < tasks; i++)
            w.of_task[i] = -1;
    }
    if (w.all < 0)
        w.all = epoll_create1(EPOLL_CLOEXEC);
    w.runs = w.of_task != NULL && w.all >= 0 && start_thread();
    return w.runs;
}

// Added, or watched again.
static bool add_watch(int epoll, int file, uint32_t events, uint32_t task)
{
    struct epoll_event event = { .events = events | EPOLLONESHOT, .data.u32 = task };

    return epoll_ctl(epoll, EPOLL_CTL_MOD, file, &event) == 0 ||
           (errno == ENOENT && epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event) == 0);
}

// What epoll does not take is always ready, or is none: the look that follows says so.
static bool add_file(int epoll, int file, uint32_t events)
{
    return add_watch(epoll, file, events, 0) || errno == EPERM || errno == EBADF;
}

static bool arm(uint32_t task, int file, uint32_t events)
{
    if (!start())
        return false;
    int *epoll = &w.of_task[task];
    if (*epoll < 0)
        *epoll = epoll_create1(EPOLL_CLOEXEC);
    // First the file: if it is ready by now, the thread finds it.
    return *epoll >= 0 && add_file(*epoll, file, events) && add_watch(w.all, *epoll, EPOLLIN, task);
}

static uint32_t bits_of(uint32_t events)
{
    // The same numbers as POLLIN and POLLOUT.
    return ((events & WB_FILE_READABLE) != 0 ? EPOLLIN : 0u) |
           ((events & WB_FILE_WRITABLE) != 0 ? EPOLLOUT : 0u);
}

// A signal, such as of the kernel's alarm, says nothing about the file.
static enum wb_status look_at(int file, uint32_t events)
{
    struct pollfd look = { .fd = file, .events = (short)events };
    int ready;

    do
        ready = poll(&look, 1, 0);
    while (ready < 0 && errno == EINTR);
    return ready == 0 ? WB_ERR_EMPTY : WB_OK;
}

enum wb_status wb_kernel_watch(int file, uint32_t events, bool wake)
{
    struct wb_task *self = wb_kernel_self();
    // The task finds its errno as it was.
    const int error_number = errno;
    enum wb_status status = WB_ERR_NOMEM;

    if (!wake || arm(self->id, file, bits_of(events)))
        status = look_at(file, bits_of(events));
    if (wake)
        kernel_task(self)->watches = true;
    errno = error_number;
    return status;
}
