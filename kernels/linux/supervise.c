// SPDX-License-Identifier: Apache-2.0
// The launcher while kernels run: notices that one was killed, has its tasks taken over, and tells.

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "death_report.h"
#include "hosted.h"
#include "supervise.h"

// ---- Deaths -------------------------------------------------------------------------------------

static bool is_faulty(const struct wb_system *system)
{
    return wb_word_load(&system->fault.taken, WB_ACQUIRE) != 0;
}

// A kernel that has noted a fault ends by itself: ending it before would cut the note short, or
// what its task has printed.
static bool fault_is_complete(struct wb_host *host)
{
    enum { LAST_WORDS_NS = 1000000000 };
    const struct wb_fault *fault = &host->system->fault;
    const uint64_t now_ns = clock_now_ns();

    if (host->fault_ns == 0)
        host->fault_ns = now_ns;
    if (wb_word_load(&fault->complete, WB_ACQUIRE) != 0)
        return fault->core == WB_CORE_NONE || host->system->cores[fault->core]->program != 0 ||
               host->kernels[fault->core].pid == 0 || now_ns - host->fault_ns > LAST_WORDS_NS;
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        if (host->kernels[i].pid == 0 && !host->kernels[i].returning)
            return true;
    return false;
}

// Under `lock`, to its end for all that died together.
static void take_over(struct wb_host *host, uint32_t core, const char *by)
{
    struct kernel_process *kernel = &host->kernels[core];

    if (!kernel->dead && !is_faulty(host->system) && !host->killed) {
        kernel->death = death_report_before(host->system, core, clock_now_ns());
        kernel->death.pid = kernel->pid;
        kernel->death.by = by;
        hosted_await_end(host->system, core);
        kernel->death.returns = kernel->returning = host->system->cores[core]->returns;
        death_report_take_over(host->system, &kernel->death);
    }
    kernel->dead = true;
}

// What waits for it may be offered to it from now on.
static void let_return(struct wb_host *host, uint32_t core)
{
    if (host->kernels[core].returning)
        wb_word_store(&host->system->cores[core]->state, WB_CORE_DOWN, WB_SEQ_CST);
}

// It may have been taken over, and started again, while this waited for the lock.
static bool take_over_robust(struct wb_host *host, uint32_t core)
{
    pthread_mutex_lock(&host->lock);
    const bool is_dead = !host->kernels[core].dead && robust_is_dead(host->system->cores[core]);
    if (is_dead) {
        take_over(host, core, "robust-futex");
        let_return(host, core);
    }
    pthread_mutex_unlock(&host->lock);
    return is_dead;
}

// The first detector. The second is the pidfd, in wb_host_wait().
void *supervise_watch(void *arg)
{
    struct wb_host *host = arg;
    const uint32_t n = host->system->n_cores;
    bool watched[WB_CORES_MAX] = { 0 };
    const uint64_t one = 1;

    do {
        for (uint32_t i = 0; i < n; i++)
            if (watched[i] && robust_is_dead(host->system->cores[i]) && take_over_robust(host, i) &&
                write(host->wake, &one, sizeof one) < 0)
                continue;  // wb_host_wait() looks at every tick as well
        pthread_mutex_lock(&host->lock);
        for (uint32_t i = 0; i < n; i++)
            watched[i] = host->system->cores[i]->program == 0 && !host->kernels[i].dead;
        pthread_mutex_unlock(&host->lock);
    } while (wb_word_load(&host->closing, WB_SEQ_CST) == 0 &&
             robust_wait(host->system, watched, (uint64_t)TICK_MS * 1000000));
    return NULL;
}

// The kernels of an emulator end together, and none of them is to be given what another leaves.
static void take_over_all(struct wb_host *host, pid_t pid, int wait_status, const char *why)
{
    const uint32_t n = host->system->n_cores;
    bool died[WB_CORES_MAX];

    pthread_mutex_lock(&host->lock);
    for (uint32_t i = 0; i < n; i++) {
        struct kernel_process *kernel = &host->kernels[i];
        struct wb_word *state = &host->system->cores[i]->state;
        died[i] = kernel->pid == pid && wb_word_load(state, WB_SEQ_CST) != WB_CORE_STOPPED;
        if (kernel->pid != pid)
            continue;
        kernel->wait_status = wait_status;
        kernel->pid = 0;
        if (kernel->pidfd >= 0)
            close(kernel->pidfd);
        kernel->pidfd = -1;
        if (died[i] && host->system->cores[i]->program != 0 && !is_faulty(host->system))
            wb_word_store(state, WB_CORE_DEAD, WB_SEQ_CST);
    }
    for (uint32_t i = 0; i < n; i++)
        if (died[i]) {
            take_over(host, i, "pidfd");
            host->kernels[i].death.pid = pid;
            host->kernels[i].death.why = why;
        }
    for (uint32_t i = 0; i < n; i++)
        if (died[i])
            let_return(host, i);
    pthread_mutex_unlock(&host->lock);
}

// A guest has as long for its end as this machine's kernels have at most after its last task.
static void hurry_guests(struct wb_host *host)
{
    enum { END_NS = 2000000000 };
    const uint64_t now_ns = clock_now_ns();

    for (uint32_t i = 0; i < host->system->n_cores; i++)
        if ((host->kernels[i].pid != 0 || host->kernels[i].returning) &&
            host->system->cores[i]->program == 0)
            return;
    if (host->over_ns == 0)
        host->over_ns = now_ns;
    if (now_ns - host->over_ns > END_NS && wb_word_load(&host->system->live, WB_SEQ_CST) == 0)
        wb_host_kill(host);
}

// What it says of itself is why the run ends, unless a kernel has said more.
// Returns: why it did not come back; NULL: it was there.
static const char *guest_ended(struct wb_host *host, struct guest *guest)
{
    struct wb_guest *page = guest->page;
    char text[WB_ERROR_BYTES];

    // Its kernels' processes may have it as well, so that closing it would not take it out.
    if (guest->pidfd >= 0) {
        epoll_ctl(host->epoll, EPOLL_CTL_DEL, guest->pidfd, NULL);
        close(guest->pidfd);
    }
    guest->pidfd = -1;
    if (!guests_end(guest))
        return guest->error;
    if (wb_word_load(&page->state, WB_ACQUIRE) != WB_GUEST_FAILED)
        return NULL;
    snprintf(text, sizeof text, "%.32s: %.*s", guest->plan->name, WB_ERROR_BYTES - 40, page->error);
    wb_system_fault(host->system, WB_FAULT_KERNEL, NULL, text);
    return NULL;
}

static void reap(struct wb_host *host)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        const pid_t pid = host->kernels[i].pid;
        const char *why = NULL;
        int status = 0;
        if (pid == 0 || waitpid(pid, &status, WNOHANG) == 0)
            continue;
        for (uint32_t g = 0; g < host->guests.n; g++)
            if (host->guests.all[g].pid == pid)
                why = guest_ended(host, &host->guests.all[g]);
        take_over_all(host, pid, status, why);
    }
    if (host->guests.n != 0)
        hurry_guests(host);
}

// ---- Supervising --------------------------------------------------------------------------------

static bool emit_death(struct wb_host *host, struct wb_host_event *event)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        struct kernel_process *kernel = &host->kernels[i];
        // The signal is known once the process is reaped, a moment after the robust futex.
        if (!kernel->dead || kernel->reported || kernel->pid != 0)
            continue;
        kernel->reported = true;
        kernel->since_ns = 0;
        if (kernel->death.kind != WB_HOST_DIED)
            continue;
        *event = kernel->death;
        event->signal = WIFSIGNALED(kernel->wait_status) ? WTERMSIG(kernel->wait_status) : 0;
        return true;
    }
    return false;
}

static bool all_reaped(const struct wb_host *host)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        if (host->kernels[i].pid != 0 || host->kernels[i].returning)
            return false;
    return true;
}

static struct wb_host_event look_at_kernels(struct wb_host *host)
{
    struct wb_host_event event = { .kind = WB_HOST_NOTHING };

    reap(host);
    if (is_faulty(host->system) && !host->fault_reported && fault_is_complete(host)) {
        wb_host_kill(host);
        host->fault_reported = true;
        event.kind = WB_HOST_FAULT;
    } else if (!emit_death(host, &event) && !restart_event(host, &event)) {
        restart_dead(host);
        if (all_reaped(host) && !host->end_reported) {
            host->end_reported = true;
            event.kind = WB_HOST_ENDED;
        }
    }
    return event;
}

struct wb_host_event wb_host_wait(struct wb_host *host, int timeout_ms)
{
    const uint64_t until_ns = clock_now_ns() + (uint64_t)timeout_ms * 1000000;

    for (;;) {
        const struct wb_host_event event = look_at_kernels(host);
        const uint64_t now_ns = clock_now_ns();
        wb_system_sweep(host->system, now_ns);
        if (event.kind != WB_HOST_NOTHING || now_ns >= until_ns)
            return event;
        const uint64_t left_ms = (until_ns - now_ns + 999999) / 1000000;
        struct epoll_event ready;
        epoll_wait(host->epoll, &ready, 1, left_ms < TICK_MS ? (int)left_ms : TICK_MS);
        uint64_t count;
        if (read(host->wake, &count, sizeof count) < 0)
            continue;
    }
}

int wb_host_fd(const struct wb_host *host)
{
    return host->epoll;
}

pid_t wb_host_pid(const struct wb_host *host, uint32_t core)
{
    return core != WB_CORE_NONE ? host->kernels[core].pid : getpid();
}

void wb_host_kill(struct wb_host *host)
{
    pthread_mutex_lock(&host->lock);
    host->killed = true;
    pthread_mutex_unlock(&host->lock);
    for (uint32_t i = 0; i < host->config.system.cores; i++)
        if (host->kernels[i].pid != 0)
            kill(host->kernels[i].pid, SIGKILL);
}
