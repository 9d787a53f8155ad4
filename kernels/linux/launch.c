// SPDX-License-Identifier: Apache-2.0
// The launcher: lays the system out, forks the kernels, and gives everything back.

#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "hosted.h"
#include "module.h"

enum { MODULE_BYTES = 8 << 20, OFFER_NS = 50000000, HOOK_HEAP_BYTES = 256 << 10 };

// ---- Laying out ---------------------------------------------------------------------------------

enum wb_status wb_host_open(struct wb_host **out, const struct wb_host_config *config)
{
    struct wb_host *lx = calloc(1, sizeof *lx);
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
        wb_host_close(lx);
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

struct wb_system *wb_host_system(struct wb_host *lx)
{
    return lx->system;
}

const char *wb_host_clock(const struct wb_host *lx)
{
    (void)lx;
    return clock_name();
}

size_t wb_host_gvm_bytes(const struct wb_host *lx)
{
    return lx->gvm.bytes;
}

void *wb_host_stack(struct wb_host *lx, size_t bytes)
{
    return gvm_stack(&lx->gvm, bytes);
}

void *wb_host_private(struct wb_host *lx, uint32_t core, size_t bytes)
{
    return core < lx->mirror.cores ? mirror_take(&lx->mirror, core, bytes) : NULL;
}

void *wb_host_module(struct wb_host *lx, const char *path, char *error, size_t error_bytes)
{
    return module_load(&lx->gvm, path, error, error_bytes);
}

// ---- Starting -----------------------------------------------------------------------------------

// A task that uses a stale descriptor number shall get EBADF, not one of ours.
static void close_launcher_fds(const struct wb_host *lx, uint32_t index)
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

static _Noreturn void be_kernel(struct wb_host *lx, uint32_t index, pid_t launcher)
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

static bool cpus_are_usable(const struct wb_host *lx, uint32_t *bad)
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

static void add_to_epoll(const struct wb_host *lx, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    if (fd >= 0)
        epoll_ctl(lx->epoll, EPOLL_CTL_ADD, fd, &event);
}

static bool fork_kernel(struct wb_host *lx, uint32_t i)
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

enum wb_status wb_host_start(struct wb_host *lx, uint32_t *bad_core)
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
            wb_host_kill(lx);
            return WB_ERR_NOMEM;
        }
    // Only now a thread: a fork copies none but the calling one.
    lx->has_watcher = pthread_create(&lx->watcher, NULL, supervise_watch, lx) == 0;
    return WB_OK;
}

// ---- Closing ------------------------------------------------------------------------------------

void wb_host_close(struct wb_host *lx)
{
    wb_word_store(&lx->closing, 1, WB_SEQ_CST);
    if (lx->kernels != NULL) {
        wb_host_kill(lx);
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
