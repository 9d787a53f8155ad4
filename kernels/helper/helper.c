// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "helper.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

bool helper_open(struct helper *h)
{
    *h = (struct helper){ .lines = { .fd = HELPER_SOCKET } };
    h->out = fdopen(fcntl(HELPER_SOCKET, F_DUPFD_CLOEXEC, HELPER_SOCKET), "w");
    if (h->out == NULL)
        return false;
    fcntl(HELPER_SOCKET, F_SETFD, FD_CLOEXEC);
    h->commands.out = h->out;
    h->commands.build = &h->build;
    h->build.launcher_fds[0] = HELPER_SOCKET;
    h->build.launcher_fds[1] = fileno(h->out);
    // A session of its own: the terminal's Ctrl-C is the command's to interpret, and autogroup
    // gives the kernels their own share of the processors.
    setsid();
    signal(SIGPIPE, SIG_IGN);
    return true;
}

void helper_close(struct helper *h)
{
    plan_free(&h->plan);
    lines_free(&h->lines);
    words_free(&h->words);
    fclose(h->out);
}

void helper_report(struct helper *h, struct tell_error error)
{
    tell_error(h->out, &error);
    h->failed = true;
}

void helper_complain(struct helper *h, const char *kind, const char *key, const char *text)
{
    helper_report(h,
                  (struct tell_error){
                      .kind = kind, .task = "", .key = key, .text = text, .core = WB_CORE_NONE });
}

bool helper_read_plan(struct helper *h)
{
    while (!h->plan.complete) {
        char *line = lines_next(&h->lines);
        if (line == NULL && h->lines.closed)
            return false;
        if (line == NULL) {
            lines_read(&h->lines);
            continue;
        }
        if (h->again && !h->plan.greeted && strncmp(line, "whimbrel ", 9) != 0)
            continue;
        const char *wrong = words_split(&h->words, line) ? plan_take(&h->plan, &h->words)
                                                         : "a line of the plan is malformed";
        if (wrong != NULL) {
            helper_complain(h, "plan", h->words.count != 0 ? h->words.word[0] : "", wrong);
            return false;
        }
    }
    return true;
}

bool helper_build(struct helper *h)
{
    struct tell_error error;

    if (build_system(&h->build, &h->plan, &error))
        return true;
    helper_report(h, error);
    return false;
}

// After the fork: the streams are no business of the kernels.
static void start_record(struct helper *h)
{
    if (h->plan.record == NULL ||
        recorder_open(&h->recorder, wb_host_system(h->build.host), h->plan.record))
        return;
    helper_complain(h, "record", h->plan.record, "the event streams cannot be created there");
    wb_host_kill(h->build.host);
}

bool helper_start(struct helper *h)
{
    uint32_t bad_core = WB_CORE_NONE;
    const enum wb_status status = wb_host_start(h->build.host, &bad_core);
    const bool bad = bad_core != WB_CORE_NONE;
    char cpu[16] = "";

    if (status == WB_OK) {
        tell_started(h->out, h->build.host, h->plan.cpus);
        start_record(h);
        return true;
    }
    if (bad)
        snprintf(cpu, sizeof cpu, "%u", h->plan.cpus[bad_core]);
    helper_report(h, (struct tell_error){ .kind = bad ? "core" : "kernel",
                                          .task = "",
                                          .key = cpu,
                                          .text = bad ? "this processor cannot be used"
                                                      : "the kernels cannot be started",
                                          .core = bad_core });
    return false;
}

void helper_take_commands(struct helper *h)
{
    char *line;

    lines_read(&h->lines);
    while ((line = lines_next(&h->lines)) != NULL)
        if (words_split(&h->words, line))
            commands_obey(&h->commands, &h->words);
    if (h->lines.closed)
        wb_host_kill(h->build.host);  // nobody is left to run for
}

void helper_drain(struct helper *h)
{
    struct wb_system *system = wb_host_system(h->build.host);
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
    const struct wb_system *system = wb_host_system(h->build.host);
    const struct wb_fault *fault = &system->fault;
    const struct wb_task *task = fault->task < system->n_tasks ? &system->tasks[fault->task] : NULL;

    helper_report(h, (struct tell_error){ .kind = kinds[fault->kind],
                                          .task = task != NULL ? task->name : "",
                                          .index = task != NULL ? task->index : 0,
                                          .core = fault->core,
                                          .key = "",
                                          .text = fault->text });
}

void helper_take_event(struct helper *h, const struct wb_host_event *event)
{
    switch (event->kind) {
    case WB_HOST_DIED:
        tell_death(h->out, event);
        h->failed = true;
        break;
    case WB_HOST_FAULT:
        tell_fault(h);
        break;
    case WB_HOST_ENDED:
        h->over = true;
        break;
    case WB_HOST_NOTHING:
        break;
    }
}

void helper_finish(struct helper *h)
{
    if (!recorder_close(&h->recorder))
        helper_complain(h, "record", h->plan.record, "the event streams could not be written");
    if (h->build.finish != NULL && h->build.finish(h->build.app) != WB_OK)
        helper_complain(h, "finish", "", h->build.app->error);
    tell_end(h->out, wb_host_system(h->build.host), !h->failed);
}
