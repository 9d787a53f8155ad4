// SPDX-License-Identifier: Apache-2.0
// Starts kernels again that were killed, while the others run on. One of this machine is forked
// anew. An emulator is started anew with all of its kernels, and a thread waits until it has
// booted.
//
// What nobody else could take over waits for its core, whose state is WB_CORE_DOWN until its kernel
// is there (wb_core_died()).

#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "hosted.h"
#include "supervise.h"

// ---- Descriptors --------------------------------------------------------------------------------

void files_each(void (*take)(int fd, void *state), void *state)
{
    DIR *files = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (files != NULL && (entry = readdir(files)) != NULL) {
        const int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && fd != dirfd(files))
            take(fd, state);
    }
    if (files != NULL)
        closedir(files);
}

// The launcher's own are no kernel's, and their numbers may become those of others.
static bool is_launchers(const struct wb_host *host, int fd)
{
    bool is = fd == host->epoll || fd == host->wake || fd == host->gvm.fd;

    for (uint32_t g = 0; g < host->guests.n; g++)
        is |= fd == host->guests.all[g].pidfd || fd == host->guests.all[g].line;
    for (uint32_t i = 0; i < host->config.n_launcher_fds; i++)
        is |= fd == host->config.launcher_fds[i];
    return is;
}

static void note(int fd, void *state)
{
    struct wb_host *host = state;
    int *more = is_launchers(host, fd)
                    ? NULL
                    : realloc(host->files, (host->n_files + 1) * sizeof *host->files);

    if (more == NULL)
        return;
    host->files = more;
    host->files[host->n_files++] = fd;
}

void restart_prepare(struct wb_host *host)
{
    files_each(note, host);
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        host->system->cores[i]->returns = host->config.restarts != 0;
}

static void close_unless_noted(int fd, void *state)
{
    const struct wb_host *host = state;

    for (uint32_t i = 0; i < host->n_files; i++)
        if (host->files[i] == fd)
            return;
    close(fd);
}

void restart_close_files(struct wb_host *host)
{
    files_each(close_unless_noted, host);
}

// ---- Which --------------------------------------------------------------------------------------

// The cores of an emulator end and begin together.
static bool go_together(const struct wb_host *host, uint32_t a, uint32_t b)
{
    const uint32_t program = host->system->cores[a]->program;

    return a == b || (program != 0 && host->system->cores[b]->program == program);
}

static bool is_over(const struct wb_host *host)
{
    return host->killed || wb_word_load(&host->system->fault.taken, WB_ACQUIRE) != 0 ||
           wb_word_load(&host->system->live, WB_ACQUIRE) == 0;
}

enum wb_status wb_host_restart(struct wb_host *host, uint32_t core, const char **why)
{
    const struct wb_system *system = host->system;

    *why = "there is no such core";
    if (core >= system->n_cores)
        return WB_ERR_INVAL;
    struct kernel_process *kernel = &host->kernels[core];
    *why = "the run is ending";
    if (is_over(host) || wb_word_load(&system->cores[core]->state, WB_ACQUIRE) == WB_CORE_STOPPED)
        return WB_ERR_GONE;
    *why = "it is being started";
    if (kernel->returning || kernel->since_ns != 0)
        return WB_ERR_BUSY;
    for (uint32_t i = 0; i < system->n_cores; i++) {
        struct kernel_process *its = &host->kernels[i];
        if (!go_together(host, core, i))
            continue;
        pthread_mutex_lock(&host->lock);
        its->asked = system->cores[i]->returns = true;
        // All that it had has been taken over or is lost; its process may still have to be reaped.
        if (its->dead) {
            its->returning = true;
            if (its->reported)
                its->death.detected_ns = clock_now_ns();
            its->death.returns = true;
            wb_word_store(&system->cores[i]->state, WB_CORE_DOWN, WB_SEQ_CST);
        } else if (its->pid != 0) {
            kill(its->pid, SIGKILL);
        }
        pthread_mutex_unlock(&host->lock);
    }
    return WB_OK;
}

// ---- Starting again -----------------------------------------------------------------------------

// As one that has not started yet: the watcher looks at it again.
static void begin_again(struct wb_host *host, uint32_t core, pid_t pid)
{
    struct kernel_process *kernel = &host->kernels[core];

    pthread_mutex_lock(&host->lock);
    kernel->pid = pid;
    kernel->returning = kernel->dead = kernel->reported = false;
    kernel->restarts += !kernel->asked;
    kernel->asked = false;
    host->system->cores[core]->returns = kernel->restarts < host->config.restarts;
    kernel->since_ns = kernel->death.detected_ns;
    pthread_mutex_unlock(&host->lock);
}

// What waited for it is lost after all.
static void give_up(struct wb_host *host, uint32_t core, const char *why)
{
    struct kernel_process *kernel = &host->kernels[core];

    pthread_mutex_lock(&host->lock);
    kernel->returning = kernel->asked = kernel->reported = false;
    kernel->dead = true;
    kernel->since_ns = 0;
    host->system->cores[core]->returns = false;
    kernel->death = (struct wb_host_event){ .kind = WB_HOST_DIED,
                                            .core = core,
                                            .by = "restart",
                                            .why = why,
                                            .detected_ns = clock_now_ns() };
    kernel->death.lost = wb_core_died(host->system, core);
    kernel->wait_status = 0;
    pthread_mutex_unlock(&host->lock);
}

static void start_kernel(struct wb_host *host, uint32_t core)
{
    struct linux_core *lc = linux_core(host->system->cores[core]);

    hosted_forget(host->system, core);
    wb_word_store(&lc->alive, 0, WB_RELEASE);
    (void)wb_word_swap(&lc->sleeping, 0, WB_RELAXED);
    begin_again(host, core, 0);
    if (!supervise_fork(host, core, true))
        give_up(host, core, "no process can be made for it (raise `ulimit -u`)");
}

static void start_guest(struct wb_host *host, uint32_t core)
{
    struct guest *guest = &host->guests.all[host->system->cores[core]->program - 1];
    const bool started = guests_start_again(&host->guests, guest, &host->gvm, host->system);

    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        if (!go_together(host, core, i))
            continue;
        if (started)
            begin_again(host, i, guest->pid);
        else
            give_up(host, i, guest->error);
    }
    if (started && guest->pidfd >= 0)
        supervise_listen(host, guest->pidfd);
}

void restart_dead(struct wb_host *host)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        struct kernel_process *kernel = &host->kernels[i];
        // All cores of an emulator are reaped at once.
        if (!kernel->returning || kernel->pid != 0)
            continue;
        if (is_over(host)) {
            kernel->returning = false;
            continue;
        }
        for (uint32_t other = 0; other < host->system->n_cores; other++)
            if (go_together(host, i, other))
                wb_core_starts_again(host->system->cores[other]);
        if (host->system->cores[i]->program == 0)
            start_kernel(host, i);
        else
            start_guest(host, i);
    }
}

bool restart_event(struct wb_host *host, struct wb_host_event *event)
{
    for (uint32_t g = 0; g < host->guests.n; g++)
        guests_look(&host->guests.all[g]);
    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        struct kernel_process *kernel = &host->kernels[i];
        const uint32_t state = wb_word_load(&host->system->cores[i]->state, WB_ACQUIRE);
        if (kernel->since_ns == 0 || (state != WB_CORE_UP && state != WB_CORE_STOPPED))
            continue;
        *event = (struct wb_host_event){ .kind = WB_HOST_RESTARTED,
                                         .core = i,
                                         .pid = kernel->pid,
                                         .detected_ns = clock_now_ns(),
                                         .took_ns = clock_now_ns() - kernel->since_ns };
        kernel->since_ns = 0;
        return true;
    }
    return false;
}
