// SPDX-License-Identifier: Apache-2.0
// The launcher while kernels run: notices that one was killed, has its tasks taken over, and tells.

#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "hosted.h"
#include "launch.h"

// ---- Deaths -------------------------------------------------------------------------------------

static bool is_faulty(const struct wb_system *system)
{
    return wb_word_load(&system->fault.taken, WB_ACQUIRE) != 0;
}

// A kernel that has noted a fault ends by itself: ending it before would cut the note short.
static bool fault_is_complete(const struct wb_host *lx)
{
    if (wb_word_load(&lx->system->fault.complete, WB_ACQUIRE) != 0)
        return true;
    for (uint32_t i = 0; i < lx->system->n_cores; i++)
        if (lx->kernels[i].pid == 0)
            return true;
    return false;
}

static void take_over(struct wb_host *lx, uint32_t core, bool by_robust_futex)
{
    struct kernel_process *kernel = &lx->kernels[core];
    struct wb_host_event *death = &kernel->death;

    pthread_mutex_lock(&lx->lock);
    if (!kernel->dead && !is_faulty(lx->system) && !lx->killed) {
        struct wb_task *running = census_running(lx->system, core);
        const uint32_t restarts = census_restarts(lx->system);
        const uint32_t resumes = census_resumes(lx->system);
        *death = (struct wb_host_event){ .kind = WB_HOST_DIED,
                                         .core = core,
                                         .running = running,
                                         .pid = kernel->pid,
                                         .detected_ns = clock_now_ns(),
                                         .by_robust_futex = by_robust_futex };
        death->moved = census_tasks(lx->system, core);
        hosted_await_end(lx->system, core);
        death->lost = wb_core_died(lx->system, core);
        // Two, if it was killed while it switched from one task to the next.
        death->restarted = census_restarts(lx->system) - restarts;
        death->resumed = census_resumes(lx->system) - resumes;
        death->moved -= death->lost + death->restarted + death->resumed;
    }
    kernel->dead = true;
    pthread_mutex_unlock(&lx->lock);
}

// The first detector. The second is the pidfd, in wb_host_wait().
void *supervise_watch(void *arg)
{
    struct wb_host *lx = arg;
    const uint32_t n = lx->system->n_cores;
    bool watched[WB_CORES_MAX];
    const uint64_t one = 1;

    memset(watched, true, sizeof watched);
    while (wb_word_load(&lx->closing, WB_SEQ_CST) == 0 &&
           robust_wait(lx->system, watched, (uint64_t)TICK_MS * 1000000))
        for (uint32_t i = 0; i < n; i++)
            if (watched[i] && robust_is_dead(lx->system->cores[i])) {
                watched[i] = false;
                take_over(lx, i, true);
                if (write(lx->wake, &one, sizeof one) < 0)
                    continue;  // wb_host_wait() looks at every tick as well
            }
    return NULL;
}

static void reap(struct wb_host *lx)
{
    for (uint32_t i = 0; i < lx->system->n_cores; i++) {
        struct kernel_process *kernel = &lx->kernels[i];
        if (kernel->pid == 0 || waitpid(kernel->pid, &kernel->wait_status, WNOHANG) == 0)
            continue;
        kernel->pid = 0;
        if (kernel->pidfd >= 0)
            close(kernel->pidfd);
        kernel->pidfd = -1;
        if (wb_word_load(&lx->system->cores[i]->state, WB_SEQ_CST) != WB_CORE_STOPPED)
            take_over(lx, i, false);
    }
}

// ---- Supervising --------------------------------------------------------------------------------

static bool tell_death(struct wb_host *lx, struct wb_host_event *event)
{
    for (uint32_t i = 0; i < lx->system->n_cores; i++) {
        struct kernel_process *kernel = &lx->kernels[i];
        // The signal is known once the process is reaped, a moment after the robust futex.
        if (!kernel->dead || kernel->told || kernel->pid != 0)
            continue;
        kernel->told = true;
        if (kernel->death.kind != WB_HOST_DIED)
            continue;
        *event = kernel->death;
        event->signal = WIFSIGNALED(kernel->wait_status) ? WTERMSIG(kernel->wait_status) : 0;
        return true;
    }
    return false;
}

static bool all_reaped(const struct wb_host *lx)
{
    for (uint32_t i = 0; i < lx->system->n_cores; i++)
        if (lx->kernels[i].pid != 0)
            return false;
    return true;
}

static struct wb_host_event look(struct wb_host *lx)
{
    struct wb_host_event event = { .kind = WB_HOST_NOTHING };

    reap(lx);
    if (is_faulty(lx->system) && !lx->fault_told && fault_is_complete(lx)) {
        wb_host_kill(lx);
        lx->fault_told = true;
        event.kind = WB_HOST_FAULT;
    } else if (!tell_death(lx, &event) && all_reaped(lx) && !lx->ended_told) {
        lx->ended_told = true;
        event.kind = WB_HOST_ENDED;
    }
    return event;
}

struct wb_host_event wb_host_wait(struct wb_host *lx, int timeout_ms)
{
    const uint64_t until_ns = clock_now_ns() + (uint64_t)timeout_ms * 1000000;

    for (;;) {
        const struct wb_host_event event = look(lx);
        const uint64_t now_ns = clock_now_ns();
        wb_system_sweep(lx->system, now_ns);
        if (event.kind != WB_HOST_NOTHING || now_ns >= until_ns)
            return event;
        const uint64_t left_ms = (until_ns - now_ns + 999999) / 1000000;
        struct epoll_event ready;
        epoll_wait(lx->epoll, &ready, 1, left_ms < TICK_MS ? (int)left_ms : TICK_MS);
        uint64_t count;
        if (read(lx->wake, &count, sizeof count) < 0)
            continue;
    }
}

int wb_host_fd(const struct wb_host *lx)
{
    return lx->epoll;
}

pid_t wb_host_pid(const struct wb_host *lx, uint32_t core)
{
    return lx->kernels[core].pid;
}

void wb_host_kill(struct wb_host *lx)
{
    pthread_mutex_lock(&lx->lock);
    lx->killed = true;
    pthread_mutex_unlock(&lx->lock);
    for (uint32_t i = 0; i < lx->config.system.cores; i++)
        if (lx->kernels[i].pid != 0)
            kill(lx->kernels[i].pid, SIGKILL);
}
