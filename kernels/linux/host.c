// SPDX-License-Identifier: Apache-2.0
// The launcher: lays the system out, forks the kernels, and gives everything back.

#define _GNU_SOURCE
#include "supervise.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "clock.h"
#include "heap_hooks.h"
#include "hosted.h"
#include "module.h"

enum { MODULE_BYTES = 8 << 20, OFFER_NS = 50000000, HOOK_HEAP_BYTES = 256 << 10 };

// ---- Laying out ---------------------------------------------------------------------------------

enum wb_status wb_host_open(struct wb_host **out, const struct wb_host_config *config)
{
    struct wb_host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return WB_ERR_NOMEM;
    host->config = *config;
    host->epoll = host->wake = -1;
    host->gvm.fd = -1;
    pthread_mutex_init(&host->lock, NULL);
    if (host->config.system.core_align == 0)
        host->config.system.core_align = PAGE_BYTES;
    if (host->config.system.offer_timeout_ns == 0)
        host->config.system.offer_timeout_ns = OFFER_NS;
    host->config.system.updates_images = true;
    if (host->config.module_bytes == 0)
        host->config.module_bytes = MODULE_BYTES;

    if (config->n_guests != 0)
        host->config.system.programs = config->n_guests + 1;
    const struct wb_system_config *sc = &host->config.system;
    const size_t arena = wb_system_bytes(sc) + config->memory_bytes + HOOK_HEAP_BYTES;
    const size_t guards = (size_t)sc->tasks * (GUARD_BYTES + PAGE_BYTES);
    const size_t traces = sc->cores * sizeof *host->traces;
    const size_t needed =
        arena + whole_pages(traces) + guards + config->stacks_bytes + host->config.module_bytes;
    const size_t bytes = config->n_guests == 0 ? needed : guests_memory(&host->config, needed);
    enum wb_status status = WB_ERR_NOMEM;
    host->kernels = calloc(sc->cores, sizeof *host->kernels);
    if (host->kernels != NULL &&
        private_mapping_open(&host->private_mapping, sc->cores, config->private_bytes,
                             config->private_parts) &&
        bytes != 0 && gvm_open(&host->gvm, bytes, config->n_guests * (size_t)WB_GUEST_PAGE_BYTES))
        status = wb_system_init(&host->system, gvm_take(&host->gvm, arena), arena, sc);
    host->traces = status == WB_OK ? gvm_take(&host->gvm, traces) : NULL;
    if (status == WB_OK && config->n_guests != 0)
        status = guests_open(&host->guests, &host->gvm, &host->config, host->system);
    if (status == WB_OK && !hooks_open(host->system, HOOK_HEAP_BYTES / 2))
        status = WB_ERR_NOMEM;
    if (status != WB_OK) {
        wb_host_close(host);
        return status;
    }
    kernel_set_system(host->system);
    clock_init(config->n_guests != 0);
    *out = host;
    return WB_OK;
}

struct wb_system *wb_host_system(struct wb_host *host)
{
    return host->system;
}

const char *wb_host_clock(const struct wb_host *host)
{
    (void)host;
    return clock_name();
}

size_t wb_host_gvm_bytes(const struct wb_host *host)
{
    return host->gvm.bytes;
}

void *wb_host_stack(struct wb_host *host, size_t bytes)
{
    return gvm_stack(&host->gvm, bytes);
}

void *wb_host_private(struct wb_host *host, uint32_t core, size_t bytes)
{
    return core < host->private_mapping.cores
               ? private_mapping_take(&host->private_mapping, core, bytes)
               : NULL;
}

void *wb_host_module(struct wb_host *host, const char *path, char *error, size_t error_bytes)
{
    host->module = module_load(&host->gvm, path, error, error_bytes);
    return host->module;
}

void *wb_host_symbol(struct wb_host *host, const char *name)
{
    wb_task_entry *client = client_run;
    void *symbol;

    if (strcmp(name, CLIENT_ENTRY) != 0)
        return module_symbol(host->module, name);
    memcpy(&symbol, &client, sizeof symbol);
    return symbol;
}

uint32_t wb_host_frames(const struct wb_host *host, const struct wb_fault *fault,
                        struct wb_host_frame *frames)
{
    const struct wb_system *system = host->system;
    const struct hosted *h = NULL;
    uint32_t n = 0;

    if (fault->core == WB_CORE_NONE)
        return 0;
    if (fault->task < system->n_tasks)
        h = hosted_of(&system->tasks[fault->task], fault->core);
    const struct fault_trace *trace = h != NULL ? &h->trace : &host->traces[fault->core];
    for (uint32_t i = 0; i < trace->n && i < WB_FRAMES; i++)
        if (h != NULL)
            frames[n++] = (struct wb_host_frame){ hosted_program(), "", trace->pc[i] };
        else
            n += module_place(trace->pc[i], &frames[n]);
    return n;
}

// What a guest's kernel has of a task says nothing here.
bool wb_host_waits_for_ever(struct wb_task *task)
{
    if (kernel_system()->cores[wb_task_core(task)]->program != 0)
        return false;
    return kernel_task(task)->timer == 0 && !kernel_task(task)->watches;
}

// ---- Starting -----------------------------------------------------------------------------------

// A task that uses a stale descriptor number shall get EBADF, not one of ours.
static void close_launcher_fds(const struct wb_host *host, uint32_t index)
{
    close(host->epoll);
    close(host->wake);
    close(host->gvm.fd);
    for (uint32_t i = 0; i < index; i++)
        if (host->kernels[i].pidfd >= 0)
            close(host->kernels[i].pidfd);
    for (uint32_t g = 0; g < host->guests.n; g++) {
        if (host->guests.all[g].pidfd >= 0)
            close(host->guests.all[g].pidfd);
        if (host->guests.all[g].line >= 0)
            close(host->guests.all[g].line);
    }
    for (uint32_t i = 0; i < host->config.n_launcher_fds; i++)
        close(host->config.launcher_fds[i]);
}

static _Noreturn void be_kernel(struct wb_host *host, uint32_t index, pid_t launcher, bool again)
{
    struct wb_core *core = host->system->cores[index];
    cpu_set_t set;

    // The kernels end with their launcher, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(1);
    CPU_ZERO(&set);
    CPU_SET(host->kernels[index].cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0 ||
        !gvm_alias(&host->gvm, (void *)&wb_kernel_need_resched, core) ||
        !private_mapping_enter(&host->private_mapping, index)) {
        wb_system_fault(host->system, WB_FAULT_KERNEL, NULL,
                        "a kernel could not take its processor or map its memory");
        _exit(3);
    }
    close_launcher_fds(host, index);
    if (again)
        restart_close_files(host);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    fault_trace_to(&host->traces[index]);
    fault_catch();
    robust_arm(core);
    kernel_run(core, host->config.spin_ns, host->config.spin_adapts,
               host->config.to_completion != NULL && host->config.to_completion[index]);
    fflush(NULL);
    robust_disarm(core);
    _exit(0);
}

static bool cpus_are_usable(const struct wb_host *host, uint32_t *bad)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return false;
    for (*bad = 0; *bad < host->system->n_cores; ++*bad) {
        if (host->system->cores[*bad]->program != 0)
            continue;
        const unsigned int cpu = host->config.cpus[*bad];
        if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed))
            return false;
    }
    return true;
}

void supervise_listen(const struct wb_host *host, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    if (fd >= 0)
        epoll_ctl(host->epoll, EPOLL_CTL_ADD, fd, &event);
}

bool supervise_fork(struct wb_host *host, uint32_t i, bool again)
{
    struct kernel_process *kernel = &host->kernels[i];
    const pid_t launcher = getpid();

    kernel->cpu = host->config.cpus[i];
    // What the application has printed so far is printed once.
    fflush(NULL);
    kernel->pid = fork();
    if (kernel->pid == 0)
        be_kernel(host, i, launcher, again);
    if (kernel->pid < 0) {
        kernel->pid = 0;
        return false;
    }
    kernel->pidfd = (int)syscall(SYS_pidfd_open, kernel->pid, 0);
    supervise_listen(host, kernel->pidfd);
    return true;
}

const char *wb_host_start_error(const struct wb_host *host)
{
    return host->start_error;
}

// Any core of a guest that cannot be started.
static enum wb_status refuse_guest(struct wb_host *host, uint32_t guest, uint32_t *bad_core)
{
    host->start_error = host->guests.all[guest].error;
    for (*bad_core = 0; host->system->cores[*bad_core]->program != guest + 1;)
        ++*bad_core;
    return WB_ERR_INVAL;
}

static void adopt_guests(struct wb_host *host)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        const uint32_t program = host->system->cores[i]->program;
        if (program == 0)
            continue;
        host->kernels[i].pid = host->guests.all[program - 1].pid;
        host->kernels[i].pidfd = -1;
    }
    for (uint32_t g = 0; g < host->guests.n; g++)
        supervise_listen(host, host->guests.all[g].pidfd);
}

enum wb_status wb_host_start(struct wb_host *host, uint32_t *bad_core)
{
    uint32_t guest;

    if (!cpus_are_usable(host, bad_core)) {
        host->start_error = "this processor cannot be used";
        return WB_ERR_INVAL;
    }
    *bad_core = WB_CORE_NONE;
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    host->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    supervise_listen(host, host->wake);
    if (host->epoll < 0 || host->wake < 0 || !wb_system_reserve(host->system))
        return WB_ERR_NOMEM;
    if (!guests_boot(&host->guests, &host->gvm, &guest))
        return refuse_guest(host, guest, bad_core);
    const enum wb_status status = wb_system_start(host->system, clock_now_ns());
    if (status != WB_OK)
        return status;
    if (!guests_go(&host->guests, host->system, &guest))
        return refuse_guest(host, guest, bad_core);
    adopt_guests(host);
    restart_prepare(host);
    fault_prepare();
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        if (host->system->cores[i]->program == 0 && !supervise_fork(host, i, false)) {
            wb_host_kill(host);
            return WB_ERR_NOMEM;
        }
    // Only now a thread: a fork copies none but the calling one.
    host->has_watcher = pthread_create(&host->watcher, NULL, supervise_watch, host) == 0;
    return WB_OK;
}

// ---- Closing ------------------------------------------------------------------------------------

static bool is_of_guest(const struct wb_host *host, uint32_t core)
{
    return host->config.guest != NULL && host->config.guest[core] != 0;
}

void wb_host_close(struct wb_host *host)
{
    wb_word_store(&host->closing, 1, WB_SEQ_CST);
    if (host->kernels != NULL) {
        wb_host_kill(host);
        for (uint32_t i = 0; i < host->config.system.cores; i++)
            if (host->kernels[i].pid != 0 && !is_of_guest(host, i)) {
                waitpid(host->kernels[i].pid, NULL, 0);
                if (host->kernels[i].pidfd >= 0)
                    close(host->kernels[i].pidfd);
            }
    }
    if (host->has_watcher)
        pthread_join(host->watcher, NULL);
    if (host->epoll >= 0)
        close(host->epoll);
    if (host->wake >= 0)
        close(host->wake);
    guests_close(&host->guests);
    hosted_close(host->system);
    kernel_set_system(NULL);
    gvm_close(&host->gvm);
    private_mapping_close(&host->private_mapping);
    pthread_mutex_destroy(&host->lock);
    free(host->kernels);
    free(host->files);
    free(host);
}
