// SPDX-License-Identifier: Apache-2.0
// The launcher: lays the system out, forks the kernels, supervises them.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "hosted.h"
#include "linux.h"
#include "module.h"
#include "private.h"

enum { TICK_MS = 20, MODULE_BYTES = 8 << 20, OFFER_NS = 50000000, HOOK_HEAP_BYTES = 256 << 10 };

struct kernel_process {
    pid_t pid;  // 0: reaped
    int pidfd;  // -1: not supported here
    unsigned int cpu;
    int wait_status;
    bool dead;  // its death has been handled; under `lock`
    bool told;  // and told
    struct wb_linux_event death;
};

struct wb_linux {
    struct gvm gvm;
    struct mirror mirror;
    struct wb_system *system;
    struct wb_linux_config config;
    struct kernel_process *kernels;
    struct wb_heap *hook_heap;
    int epoll, wake;  // wake: the watcher has news
    pthread_t watcher;
    bool has_watcher, fault_told, ended_told, killed;
    _Atomic uint32_t closing;
    pthread_mutex_t lock;  // deaths are handled once, by the watcher or by wb_linux_wait()
};

// ---- Laying out ---------------------------------------------------------------------------------

enum wb_status wb_linux_open(struct wb_linux **out, const struct wb_linux_config *config)
{
    struct wb_linux *lx = calloc(1, sizeof *lx);
    if (lx == NULL)
        return WB_ERR_NOMEM;
    lx->config = *config;
    lx->epoll = lx->wake = -1;
    lx->gvm.fd = -1;
    pthread_mutex_init(&lx->lock, NULL);
    if (lx->config.system.core_align == 0)
        lx->config.system.core_align = PAGE_BYTES;
    if (lx->config.system.offer_timeout_ns == 0)
        lx->config.system.offer_timeout_ns = OFFER_NS;
    if (lx->config.module_bytes == 0)
        lx->config.module_bytes = MODULE_BYTES;

    const struct wb_system_config *sc = &lx->config.system;
    const size_t arena = wb_system_bytes(sc) + config->memory_bytes + HOOK_HEAP_BYTES;
    const size_t guards = (size_t)sc->tasks * (GUARD_BYTES + PAGE_BYTES);
    enum wb_status status = WB_ERR_NOMEM;
    lx->kernels = calloc(sc->cores, sizeof *lx->kernels);
    if (lx->kernels != NULL &&
        mirror_open(&lx->mirror, sc->cores, config->private_bytes, config->private_parts) &&
        gvm_open(&lx->gvm, arena + guards + config->stacks_bytes + lx->config.module_bytes))
        status = wb_system_init(&lx->system, gvm_take(&lx->gvm, arena), arena, sc);
    if (status != WB_OK) {
        wb_linux_close(lx);
        return status;
    }
    lx->hook_heap = wb_system_alloc(lx->system, sizeof *lx->hook_heap, WB_LINE_BYTES);
    wb_heap_init(lx->hook_heap, wb_system_alloc(lx->system, HOOK_HEAP_BYTES / 2, WB_LINE_BYTES),
                 HOOK_HEAP_BYTES / 2);
    hooks_init(lx->system, lx->hook_heap);
    kernel_set_system(lx->system);
    clock_init();
    *out = lx;
    return WB_OK;
}

struct wb_system *wb_linux_system(struct wb_linux *lx)
{
    return lx->system;
}

size_t wb_linux_gvm_bytes(const struct wb_linux *lx)
{
    return lx->gvm.bytes;
}

void *wb_linux_stack(struct wb_linux *lx, size_t bytes)
{
    return gvm_stack(&lx->gvm, bytes);
}

void *wb_linux_private(struct wb_linux *lx, uint32_t core, size_t bytes)
{
    return core < lx->mirror.cores ? mirror_take(&lx->mirror, core, bytes) : NULL;
}

void *wb_linux_module(struct wb_linux *lx, const char *path, char *error, size_t error_bytes)
{
    return module_load(&lx->gvm, path, error, error_bytes);
}

// ---- Starting -----------------------------------------------------------------------------------

// A task that uses a stale descriptor number shall get EBADF, not one of ours.
static void close_launcher_fds(const struct wb_linux *lx, uint32_t index)
{
    close(lx->epoll);
    close(lx->wake);
    close(lx->gvm.fd);
    for (uint32_t i = 0; i < index; i++)
        if (lx->kernels[i].pidfd >= 0)
            close(lx->kernels[i].pidfd);
    for (uint32_t i = 0; i < lx->config.n_launcher_fds; i++)
        close(lx->config.launcher_fds[i]);
}

static _Noreturn void be_kernel(struct wb_linux *lx, uint32_t index, pid_t launcher)
{
    struct wb_core *core = lx->system->cores[index];
    cpu_set_t set;

    // The kernels end with their launcher, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(1);
    CPU_ZERO(&set);
    CPU_SET(lx->kernels[index].cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0 ||
        !gvm_alias(&lx->gvm, (void *)&wb_kernel_attention, core) ||
        !mirror_enter(&lx->mirror, index)) {
        wb_system_fault(lx->system, WB_FAULT_KERNEL, NULL,
                        "a kernel could not take its processor or map its memory");
        _exit(3);
    }
    close_launcher_fds(lx, index);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    fault_catch();
    robust_arm(core);
    kernel_run(core, lx->config.spin_ns);
    robust_disarm(core);
    _exit(0);
}

static bool cpus_are_usable(const struct wb_linux *lx, uint32_t *bad)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return false;
    for (*bad = 0; *bad < lx->system->n_cores; ++*bad) {
        const unsigned int cpu = lx->config.cpus[*bad];
        if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed))
            return false;
    }
    return true;
}

static void add_to_epoll(const struct wb_linux *lx, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    if (fd >= 0)
        epoll_ctl(lx->epoll, EPOLL_CTL_ADD, fd, &event);
}

static bool fork_kernel(struct wb_linux *lx, uint32_t i)
{
    struct kernel_process *kernel = &lx->kernels[i];
    const pid_t launcher = getpid();

    kernel->cpu = lx->config.cpus[i];
    kernel->pid = fork();
    if (kernel->pid == 0)
        be_kernel(lx, i, launcher);
    if (kernel->pid < 0) {
        kernel->pid = 0;
        return false;
    }
    kernel->pidfd = (int)syscall(SYS_pidfd_open, kernel->pid, 0);
    add_to_epoll(lx, kernel->pidfd);
    return true;
}

static void *watch(void *arg);

enum wb_status wb_linux_start(struct wb_linux *lx, uint32_t *bad_core)
{
    if (!cpus_are_usable(lx, bad_core))
        return WB_ERR_INVAL;
    *bad_core = WB_CORE_NONE;
    lx->epoll = epoll_create1(EPOLL_CLOEXEC);
    lx->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    add_to_epoll(lx, lx->wake);
    const enum wb_status status = wb_system_start(lx->system, clock_now_ns());
    if (status != WB_OK)
        return status;
    for (uint32_t i = 0; i < lx->system->n_cores; i++)
        if (!fork_kernel(lx, i)) {
            wb_linux_kill(lx);
            return WB_ERR_NOMEM;
        }
    // Only now a thread: a fork copies none but the calling one.
    lx->has_watcher = pthread_create(&lx->watcher, NULL, watch, lx) == 0;
    return WB_OK;
}

// ---- Deaths -------------------------------------------------------------------------------------

static bool is_faulty(const struct wb_system *system)
{
    return atomic_load_explicit(&system->fault.taken, memory_order_acquire) != 0;
}

// A kernel that has noted a fault ends by itself: ending it before would cut the note short.
static bool fault_is_complete(const struct wb_linux *lx)
{
    if (atomic_load_explicit(&lx->system->fault.complete, memory_order_acquire) != 0)
        return true;
    for (uint32_t i = 0; i < lx->system->n_cores; i++)
        if (lx->kernels[i].pid == 0)
            return true;
    return false;
}

static void take_over(struct wb_linux *lx, uint32_t core, bool by_robust_futex)
{
    struct kernel_process *kernel = &lx->kernels[core];
    struct wb_linux_event *death = &kernel->death;

    pthread_mutex_lock(&lx->lock);
    if (!kernel->dead && !is_faulty(lx->system) && !lx->killed) {
        struct wb_task *running = census_running(lx->system, core);
        const uint32_t restarts = census_restarts(lx->system);
        const uint32_t resumes = census_resumes(lx->system);
        *death = (struct wb_linux_event){ .kind = WB_LINUX_DIED,
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

// The first detector. The second is the pidfd, in wb_linux_wait().
static void *watch(void *arg)
{
    struct wb_linux *lx = arg;
    const uint32_t n = lx->system->n_cores;
    bool watched[WB_CORES_MAX];
    const uint64_t one = 1;

    memset(watched, true, sizeof watched);
    while (atomic_load(&lx->closing) == 0 &&
           robust_wait(lx->system, watched, (uint64_t)TICK_MS * 1000000))
        for (uint32_t i = 0; i < n; i++)
            if (watched[i] && robust_is_dead(lx->system->cores[i])) {
                watched[i] = false;
                take_over(lx, i, true);
                if (write(lx->wake, &one, sizeof one) < 0)
                    continue;  // wb_linux_wait() looks at every tick as well
            }
    return NULL;
}

static void reap(struct wb_linux *lx)
{
    for (uint32_t i = 0; i < lx->system->n_cores; i++) {
        struct kernel_process *kernel = &lx->kernels[i];
        if (kernel->pid == 0 || waitpid(kernel->pid, &kernel->wait_status, WNOHANG) == 0)
            continue;
        kernel->pid = 0;
        if (kernel->pidfd >= 0)
            close(kernel->pidfd);
        kernel->pidfd = -1;
        if (atomic_load(&lx->system->cores[i]->state) != WB_CORE_STOPPED)
            take_over(lx, i, false);
    }
}

// ---- Supervising --------------------------------------------------------------------------------

static bool tell_death(struct wb_linux *lx, struct wb_linux_event *event)
{
    for (uint32_t i = 0; i < lx->system->n_cores; i++) {
        struct kernel_process *kernel = &lx->kernels[i];
        // The signal is known once the process is reaped, a moment after the robust futex.
        if (!kernel->dead || kernel->told || kernel->pid != 0)
            continue;
        kernel->told = true;
        if (kernel->death.kind != WB_LINUX_DIED)
            continue;
        *event = kernel->death;
        event->signal = WIFSIGNALED(kernel->wait_status) ? WTERMSIG(kernel->wait_status) : 0;
        return true;
    }
    return false;
}

static bool all_reaped(const struct wb_linux *lx)
{
    for (uint32_t i = 0; i < lx->system->n_cores; i++)
        if (lx->kernels[i].pid != 0)
            return false;
    return true;
}

static struct wb_linux_event look(struct wb_linux *lx)
{
    struct wb_linux_event event = { .kind = WB_LINUX_NOTHING };

    reap(lx);
    if (is_faulty(lx->system) && !lx->fault_told && fault_is_complete(lx)) {
        wb_linux_kill(lx);
        lx->fault_told = true;
        event.kind = WB_LINUX_FAULT;
    } else if (!tell_death(lx, &event) && all_reaped(lx) && !lx->ended_told) {
        lx->ended_told = true;
        event.kind = WB_LINUX_ENDED;
    }
    return event;
}

struct wb_linux_event wb_linux_wait(struct wb_linux *lx, int timeout_ms)
{
    const uint64_t until_ns = clock_now_ns() + (uint64_t)timeout_ms * 1000000;

    for (;;) {
        const struct wb_linux_event event = look(lx);
        const uint64_t now_ns = clock_now_ns();
        wb_system_sweep(lx->system, now_ns);
        if (event.kind != WB_LINUX_NOTHING || now_ns >= until_ns)
            return event;
        const uint64_t left_ms = (until_ns - now_ns + 999999) / 1000000;
        struct epoll_event ready;
        epoll_wait(lx->epoll, &ready, 1, left_ms < TICK_MS ? (int)left_ms : TICK_MS);
        uint64_t count;
        if (read(lx->wake, &count, sizeof count) < 0)
            continue;
    }
}

int wb_linux_fd(const struct wb_linux *lx)
{
    return lx->epoll;
}

pid_t wb_linux_pid(const struct wb_linux *lx, uint32_t core)
{
    return lx->kernels[core].pid;
}

void wb_linux_kill(struct wb_linux *lx)
{
    pthread_mutex_lock(&lx->lock);
    lx->killed = true;
    pthread_mutex_unlock(&lx->lock);
    for (uint32_t i = 0; i < lx->config.system.cores; i++)
        if (lx->kernels[i].pid != 0)
            kill(lx->kernels[i].pid, SIGKILL);
}

void wb_linux_close(struct wb_linux *lx)
{
    atomic_store(&lx->closing, 1);
    if (lx->kernels != NULL) {
        wb_linux_kill(lx);
        for (uint32_t i = 0; i < lx->config.system.cores; i++)
            if (lx->kernels[i].pid != 0) {
                waitpid(lx->kernels[i].pid, NULL, 0);
                if (lx->kernels[i].pidfd >= 0)
                    close(lx->kernels[i].pidfd);
            }
    }
    if (lx->has_watcher)
        pthread_join(lx->watcher, NULL);
    if (lx->epoll >= 0)
        close(lx->epoll);
    if (lx->wake >= 0)
        close(lx->wake);
    hosted_close(lx->system);
    kernel_set_system(NULL);
    gvm_close(&lx->gvm);
    mirror_close(&lx->mirror);
    pthread_mutex_destroy(&lx->lock);
    free(lx->kernels);
    free(lx);
}
