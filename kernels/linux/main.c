// SPDX-License-Identifier: Apache-2.0
// whimbrel-linux: the helper of `whimbrel run`. It speaks docs/kernels-linux-protocol.md on file
// descriptor 3 and is of no use by hand.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "client.h"
#include "clock.h"
#include "helper.h"
#include "private.h"
#include "supervise.h"
#include "wb/descriptor.h"

enum { POLL_MS = 10, BUSY_POLL_MS = 1, ENERGY_LOOK_NS = 250000000 };

struct linux_helper {
    struct helper common;
    uint64_t energy_look_ns;
    uint64_t looked_ns;  // when supervise() was there last
    bool has_journal, stalls_told;
};

// ---- Before the start ---------------------------------------------------------------------------

// The machine's own frequencies and sensors. Before the fork: the kernels inherit what is found.
static bool use_machine(struct linux_helper *l)
{
    struct helper *h = &l->common;
    const char *given = getenv("WHIMBREL_SYSFS");  // for tests: a made-up tree
    const char *root = given != NULL ? given : "/sys";
    const struct plan *plan = &h->plan;
    unsigned int bad = 0;

    sensors_open(root, h->build.cpus, h->build.guest, plan->n_cores);
    frequency_use(plan->frequency);
    if (plan->frequency != FREQUENCY_CPUFREQ)
        return true;
    const char *wrong = plan->journal == NULL
                            ? "the plan has no journal"
                            : cpufreq_open(root, h->build.cpus, plan->n_cores, plan->journal, &bad);
    if (wrong == NULL)
        return l->has_journal = true;
    char cpu[16];
    snprintf(cpu, sizeof cpu, "%u", bad);
    helper_report_error(h, "frequency", cpu, wrong);
    return false;
}

// Sockets for the processes that may attach. Before the fork, as the sensors.
static bool open_clients(struct helper *h)
{
    const char *task = "";

    if (h->plan.clients == NULL || clients_open(&h->plan, &task))
        return true;
    char text[256];
    snprintf(text, sizeof text, "there is no socket for its client: %s", strerror(errno));
    helper_report_error(h, "client", task, text);
    return false;
}

// ---- While it runs ------------------------------------------------------------------------------

// More often than its counters wrap.
static void follow_energy(struct linux_helper *l)
{
    const uint64_t now_ns = clock_now_ns();

    if (now_ns < l->energy_look_ns)
        return;
    l->energy_look_ns = now_ns + ENERGY_LOOK_NS;
    (void)wb_host_energy(&(uint64_t){ 0 });
}

// ---- Ctrl-Z -------------------------------------------------------------------------------------

static volatile sig_atomic_t is_continued;

static void on_continue(int number)
{
    (void)number;
    is_continued = 1;
}

// The command stops a whole run by its process group, and lets this process alone continue. While
// the kernels are still stopped, jobs are put off by as long as that took: none of them is late.
// Should the command be killed meanwhile, this process continues and finds it gone.
static void heed_stops(void)
{
    signal(SIGCONT, on_continue);
    prctl(PR_SET_PDEATHSIG, SIGCONT);
}

static void put_off_jobs(struct wb_system *system, uint64_t ns)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        if (wb_state_is_over(wb_word_load(&task->owner_state, WB_ACQUIRE)))
            continue;
        task->release.ns += ns;
        task->arrival.ready_ns += ns;
    }
}

static void continue_all(struct linux_helper *l)
{
    struct wb_host *host = l->common.build.host;
    const struct wb_system *system = wb_host_system(host);
    const uint64_t now_ns = clock_now_ns();

    is_continued = 0;
    put_off_jobs(wb_host_system(host), now_ns - l->looked_ns);
    l->looked_ns = now_ns;
    for (uint32_t i = 0; i < system->n_cores; i++)
        if (system->cores[i]->program != 0 && wb_host_pid(host, i) != 0)
            kill(-wb_host_pid(host, i), SIGCONT);
    // This process is of the group, and has been told.
    signal(SIGCONT, SIG_IGN);
    kill(0, SIGCONT);
    signal(SIGCONT, on_continue);
}

static void tell_stall(void *teller, const struct wb_stall *stall)
{
    emit_stall(teller, stall);
}

// ---- The loop -----------------------------------------------------------------------------------

static void supervise(struct linux_helper *l)
{
    struct helper *h = &l->common;
    struct pollfd fds[2] = { { .fd = HELPER_SOCKET, .events = POLLIN },
                             { .fd = wb_host_fd(h->build.host), .events = POLLIN } };

    l->looked_ns = clock_now_ns();
    while (!h->over) {
        poll(fds, 2,
             h->commands.requests != NULL || h->plan.record != NULL ? BUSY_POLL_MS : POLL_MS);
        // Before the question: a stop that it does not see has begun later.
        const uint64_t now_ns = clock_now_ns();
        if (is_continued)
            continue_all(l);
        else
            l->looked_ns = now_ns;
        if (fds[0].revents != 0 && !h->lines.closed)
            helper_take_commands(h);
        if (h->lines.closed)
            fds[0].fd = -1;
        const struct wb_host_event event = wb_host_wait(h->build.host, 0);
        frequency_follow(wb_host_system(h->build.host));
        helper_drain(h);
        helper_take_event(h, &event);
        follow_energy(l);
        if (h->commands.killed && !l->stalls_told)
            stalls_tell_at_end(h->build.host, tell_stall, &h->teller);
        l->stalls_told = h->commands.killed;
        if (h->over || h->commands.killed)
            continue;
        helper_look_for_deadlock(h);
        stalls_look(h->build.host, tell_stall, &h->teller);
    }
    helper_drain(h);
}

int main(void)
{
    static struct linux_helper l;
    struct helper *h = &l.common;

    if (!helper_listen(h)) {
        fputs("whimbrel-linux is started by `whimbrel run`, not by hand\n", stderr);
        return 2;
    }
    heed_stops();
    if (helper_read_plan(h) && helper_build(h) && use_machine(&l) && open_clients(h) &&
        helper_start(h)) {
        supervise(&l);
        helper_finish(h);
    }
    if (h->build.host != NULL)
        wb_host_close(h->build.host);
    clients_close();
    // The kernels have gone. What cannot be put back stays in the journal, for the command.
    if (l.has_journal)
        (void)cpufreq_restore(h->plan.journal);
    helper_close(h);
    return h->failed ? 2 : 0;
}
