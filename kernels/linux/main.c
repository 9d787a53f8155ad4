// SPDX-License-Identifier: Apache-2.0
// whimbrel-linux: the helper of `whimbrel run`. It speaks docs/kernels-linux-protocol.md on file
// descriptor 3 and is of no use by hand.

#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "clock.h"
#include "commands.h"
#include "lines.h"
#include "plan.h"
#include "private.h"
#include "recorder.h"
#include "stuck.h"
#include "tell.h"

enum { SOCKET = 3, TICK_MS = 10, BUSY_TICK_MS = 1, STUCK_LOOK_NS = 250000000 };

struct helper {
    struct lines lines;
    struct words words;
    struct plan plan;
    struct build build;
    struct recorder recorder;
    struct stuck stuck;
    uint64_t stuck_look_ns;
    struct commands commands;
    FILE *out;
    bool failed, over, has_journal;
};

static void report(struct helper *h, struct tell_error error)
{
    tell_error(h->out, &error);
    h->failed = true;
}

// An error of no task and no core. `key`: what it is about, or "".
static void complain(struct helper *h, const char *kind, const char *key, const char *text)
{
    report(h, (struct tell_error){
                  .kind = kind, .task = "", .key = key, .text = text, .core = WB_CORE_NONE });
}

// ---- Before the start ---------------------------------------------------------------------------

static bool read_plan(struct helper *h)
{
    while (!h->plan.complete) {
        char *line = lines_next(&h->lines);
        if (line == NULL && h->lines.closed)
            return false;
        if (line == NULL) {
            lines_read(&h->lines);
            continue;
        }
        const char *wrong = words_split(&h->words, line) ? plan_take(&h->plan, &h->words)
                                                         : "a line of the plan is malformed";
        if (wrong != NULL) {
            complain(h, "plan", h->words.count != 0 ? h->words.word[0] : "", wrong);
            return false;
        }
    }
    return true;
}

// After the fork: the streams are no business of the kernels.
static void start_record(struct helper *h)
{
    if (h->plan.record == NULL ||
        recorder_open(&h->recorder, wb_linux_system(h->build.lx), h->plan.record))
        return;
    complain(h, "record", h->plan.record, "the event streams cannot be created there");
    wb_linux_kill(h->build.lx);
}

// The machine's own frequencies and sensors. Before the fork: the kernels inherit what is found.
static bool use_machine(struct helper *h)
{
    const char *given = getenv("WHIMBREL_SYSFS");  // for tests: a made-up tree
    const char *root = given != NULL ? given : "/sys";
    const struct plan *plan = &h->plan;
    unsigned int bad = 0;

    sensors_open(root, plan->cpus, plan->n_cpus);
    frequency_use(plan->frequency);
    if (plan->frequency != FREQUENCY_CPUFREQ)
        return true;
    const char *wrong = plan->journal == NULL
                            ? "the plan has no journal"
                            : cpufreq_open(root, plan->cpus, plan->n_cpus, plan->journal, &bad);
    if (wrong == NULL)
        return h->has_journal = true;
    char cpu[16];
    snprintf(cpu, sizeof cpu, "%u", bad);
    complain(h, "frequency", cpu, wrong);
    return false;
}

static bool start(struct helper *h)
{
    struct tell_error error;
    uint32_t bad_core = WB_CORE_NONE;

    if (!build_system(&h->build, &h->plan, &error)) {
        report(h, error);
        return false;
    }
    if (!use_machine(h))
        return false;
    const enum wb_status status = wb_linux_start(h->build.lx, &bad_core);
    if (status != WB_OK) {
        char cpu[16] = "";
        if (bad_core != WB_CORE_NONE)
            snprintf(cpu, sizeof cpu, "%u", h->plan.cpus[bad_core]);
        report(h, (struct tell_error){ .kind = bad_core != WB_CORE_NONE ? "core" : "kernel",
                                       .task = "",
                                       .key = cpu,
                                       .text = bad_core != WB_CORE_NONE
                                                   ? "this processor cannot be used"
                                                   : "the kernels cannot be started",
                                       .core = bad_core });
        return false;
    }
    tell_started(h->out, h->build.lx, h->plan.cpus);
    start_record(h);
    return true;
}

// ---- While it runs ------------------------------------------------------------------------------

static void take_commands(struct helper *h)
{
    char *line;

    lines_read(&h->lines);
    while ((line = lines_next(&h->lines)) != NULL)
        if (words_split(&h->words, line))
            commands_obey(&h->commands, &h->words);
    if (h->lines.closed)
        wb_linux_kill(h->build.lx);  // nobody is left to run for
}

static void drain(struct helper *h)
{
    struct wb_system *system = wb_linux_system(h->build.lx);
    struct wb_migration m;
    struct wb_advice advice;

    recorder_drain(&h->recorder);
    for (uint32_t i = 0; i < system->n_cores; i++) {
        while (wb_ring_take(&system->cores[i]->record.migrations, &m))
            tell_migration(h->out, system, &m);
        while (wb_ring_take(&system->cores[i]->report.advice, &advice))
            tell_advice(h->out, &advice);
    }
    while (wb_ring_take(&system->record.migrations, &m))
        tell_migration(h->out, system, &m);
    commands_tell_outcomes(&h->commands, h->over);
}

static void tell_fault(struct helper *h)
{
    static const char *const kinds[] = { "kernel", "stack", "fault", "fault", "task", "kernel" };
    const struct wb_system *system = wb_linux_system(h->build.lx);
    const struct wb_fault *fault = &system->fault;
    const struct wb_task *task = fault->task < system->n_tasks ? &system->tasks[fault->task] : NULL;

    report(h, (struct tell_error){ .kind = kinds[fault->kind],
                                   .task = task != NULL ? task->name : "",
                                   .index = task != NULL ? task->index : 0,
                                   .core = fault->core,
                                   .key = "",
                                   .text = fault->text });
}

static void take_event(struct helper *h, const struct wb_linux_event *event)
{
    switch (event->kind) {
    case WB_LINUX_DIED:
        tell_death(h->out, event);
        h->failed = true;
        break;
    case WB_LINUX_FAULT:
        tell_fault(h);
        break;
    case WB_LINUX_ENDED:
        h->over = true;
        break;
    case WB_LINUX_NOTHING:
        break;
    }
}

static void look_for_deadlock(struct helper *h)
{
    const uint64_t now_ns = clock_now_ns();
    char text[1024];

    if (now_ns < h->stuck_look_ns)
        return;
    h->stuck_look_ns = now_ns + STUCK_LOOK_NS;
    (void)sensors_energy(&(uint64_t){ 0 });  // more often than its counters wrap
    if (stuck_look(&h->stuck, wb_linux_system(h->build.lx), text, sizeof text)) {
        report(h,
               (struct tell_error){
                   .kind = "deadlock", .task = "", .key = "", .text = text, .core = WB_CORE_NONE });
        wb_linux_kill(h->build.lx);
    }
}

static void supervise(struct helper *h)
{
    struct pollfd fds[2] = { { .fd = SOCKET, .events = POLLIN },
                             { .fd = wb_linux_fd(h->build.lx), .events = POLLIN } };

    while (!h->over) {
        poll(fds, 2, h->commands.asked != NULL || h->plan.record != NULL ? BUSY_TICK_MS : TICK_MS);
        if (fds[0].revents != 0 && !h->lines.closed)
            take_commands(h);
        if (h->lines.closed)
            fds[0].fd = -1;
        const struct wb_linux_event event = wb_linux_wait(h->build.lx, 0);
        drain(h);
        take_event(h, &event);
        if (!h->over)
            look_for_deadlock(h);
    }
    drain(h);
}

static void finish(struct helper *h)
{
    if (!recorder_close(&h->recorder))
        complain(h, "record", h->plan.record, "the event streams could not be written");
    if (h->build.finish != NULL && h->build.finish(h->build.app) != WB_OK)
        complain(h, "finish", "", h->build.app->error);
    tell_end(h->out, wb_linux_system(h->build.lx), !h->failed);
}

int main(void)
{
    struct helper h = { .lines = { .fd = SOCKET } };

    h.out = fdopen(fcntl(SOCKET, F_DUPFD_CLOEXEC, SOCKET), "w");
    if (h.out == NULL) {
        fputs("whimbrel-linux is started by `whimbrel run`, not by hand\n", stderr);
        return 2;
    }
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    h.commands.out = h.out;
    h.commands.build = &h.build;
    h.build.launcher_fds[0] = SOCKET;
    h.build.launcher_fds[1] = fileno(h.out);
    // A session of its own: the terminal's Ctrl-C is the command's to interpret, and autogroup
    // gives the kernels their own share of the processors.
    setsid();
    signal(SIGPIPE, SIG_IGN);
    if (read_plan(&h) && start(&h)) {
        supervise(&h);
        finish(&h);
    }
    if (h.build.lx != NULL)
        wb_linux_close(h.build.lx);
    // The kernels have gone. What cannot be put back stays in the journal, for the command.
    if (h.has_journal)
        (void)cpufreq_restore(h.plan.journal);
    plan_free(&h.plan);
    lines_free(&h.lines);
    words_free(&h.words);
    fclose(h.out);
    return h.failed ? 2 : 0;
}
