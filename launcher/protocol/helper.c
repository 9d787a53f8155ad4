// SPDX-License-Identifier: Apache-2.0
#include "helper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_BYTES = 1 << 30, COMMAND_BYTES = 1 << 16, DEADLOCK_CHECK_NS = 250000000 };

void helper_open(struct helper *h, FILE *out, recorder_opener *record)
{
    h->lines = (struct lines){ .fd = HELPER_SOCKET, .most = PLAN_BYTES };
    h->teller.file = out;
    h->record = record;
    h->commands = (struct commands){ .teller = &h->teller, .build = &h->build };
}

void helper_forget_build(struct helper *h)
{
    free(h->build.cpus);
    free(h->build.to_completion);
    free(h->build.guest);
    memset(&h->build, 0, sizeof h->build);
}

void helper_forget(struct helper *h)
{
    yyjson_alc_dyn_free(h->plan_memory);
    helper_forget_build(h);
    h->plan_memory = NULL;
    h->plan = (struct plan){ 0 };
    h->started = false;
    h->commands.requests = NULL;
    h->commands.killed = false;
    h->lines.most = PLAN_BYTES;
    h->failed = h->over = false;
    h->end_ns = 0;
    h->again = true;
}

void helper_close(struct helper *h)
{
    yyjson_alc_dyn_free(h->plan_memory);
    helper_forget_build(h);
    lines_free(&h->lines);
    fclose(h->teller.file);
}

void helper_report(struct helper *h, struct plan_error error)
{
    emit_error(&h->teller, &error);
    h->failed = true;
}

void helper_report_error(struct helper *h, const char *kind, const char *key, const char *text)
{
    helper_report(h,
                  (struct plan_error){
                      .kind = kind, .task = "", .key = key, .text = text, .core = WB_CORE_NONE });
}

// The next line; NULL at the end of the stream.
static char *await_line(struct helper *h, size_t *bytes)
{
    char *line;

    while ((line = lines_next(&h->lines, bytes)) == NULL && !h->lines.closed)
        lines_read(&h->lines);
    return line;
}

bool helper_read_plan(struct helper *h)
{
    struct parse_error error = { .text = "there is no memory for it" };
    size_t bytes;
    char *line = await_line(h, &bytes);

    while (line != NULL && h->again && strncmp(line, "{\"plan\":", 8) != 0)
        line = await_line(h, &bytes);
    if (line == NULL)
        return false;
    h->plan_memory = yyjson_alc_dyn_new();
    if (h->plan_memory == NULL || !parse_plan(h->plan_memory, line, bytes, &h->plan, &error)) {
        helper_report_error(h, "plan", error.key, error.text);
        return false;
    }
    h->lines.most = COMMAND_BYTES;
    lines_shrink(&h->lines);
    return true;
}

bool helper_build(struct helper *h)
{
    struct plan_error error;

    if (build_system(&h->build, &h->plan, &error))
        return true;
    helper_report(h, error);
    return false;
}

// After the fork: the streams are no business of the kernels.
static void start_record(struct helper *h)
{
    if (h->plan.record == NULL ||
        h->record(&h->recorder, wb_host_system(h->build.host), h->plan.record))
        return;
    helper_report_error(h, "record", h->plan.record, "the event streams cannot be created there");
    wb_host_kill(h->build.host);
}

bool helper_start(struct helper *h)
{
    uint32_t bad_core = WB_CORE_NONE;
    errno = 0;
    const enum wb_status status = wb_host_start(h->build.host, &bad_core);
    const int error_number = errno;
    const bool bad = bad_core != WB_CORE_NONE;
    char cpu[16] = "", text[128] = "the kernels cannot be started";

    if (status == WB_OK) {
        if (!h->started)
            emit_started(&h->teller, h->build.host, &h->plan);
        h->started = true;
        start_record(h);
        return true;
    }
    const uint32_t guest = bad ? h->plan.cores[bad_core].guest : 0;
    if (bad)
        snprintf(cpu, sizeof cpu, "%" PRIu32, h->plan.cores[bad_core].cpu);
    if (status == WB_ERR_NOMEM && error_number != 0)
        snprintf(text, sizeof text, "they cannot be started: %s", strerror(error_number));
    helper_report(h, (struct plan_error){ .kind = guest != 0 ? "guest"
                                                  : bad      ? "core"
                                                             : "kernel",
                                          .task = "",
                                          .key = guest != 0 ? h->plan.guests[guest - 1].name : cpu,
                                          .text = bad ? wb_host_start_error(h->build.host) : text,
                                          .core = bad_core,
                                          .error_number = bad ? 0 : error_number });
    return false;
}

static void obey(struct helper *h, const yyjson_alc *memory, const char *line, size_t bytes)
{
    struct command command;
    struct parse_error error;
    char why[sizeof error.key + sizeof error.text];

    if (parse_command(memory, line, bytes, &command, &error)) {
        if (h->obey != NULL)
            h->obey(h, &command);
        else
            commands_obey(&h->commands, &command);
        return;
    }
    snprintf(why, sizeof why, "%s %s", error.key, error.text);
    commands_refuse(&h->commands, &command, why);
}

// Only a decision of a simulation may be so long that it has to be given memory.
static void take_command(struct helper *h, const char *line, size_t bytes)
{
    yyjson_alc pool, *large = bytes > COMMAND_BYTES ? yyjson_alc_dyn_new() : NULL;

    yyjson_alc_pool_init(&pool, h->command_memory, sizeof h->command_memory);
    obey(h, large != NULL ? large : &pool, line, bytes);
    yyjson_alc_dyn_free(large);
}

void helper_take_commands(struct helper *h)
{
    char *line;
    size_t bytes;

    lines_read(&h->lines);
    while ((line = lines_next(&h->lines, &bytes)) != NULL) {
        take_command(h, line, bytes);
        if (h->share != NULL)
            h->share();
    }
    if (h->lines.closed)
        wb_host_kill(h->build.host);  // nobody is left to run for
}

void helper_drain_rings(struct helper *h)
{
    struct wb_system *system = wb_host_system(h->build.host);
    struct wb_migration m;
    struct wb_advice advice;

    recorder_drain(&h->recorder);
    for (uint32_t i = 0; i < system->n_cores; i++) {
        while (wb_ring_take(&system->cores[i]->record.migrations, &m))
            emit_migration(&h->teller, system, &m);
        while (wb_ring_take(&system->cores[i]->report.advice, &advice))
            emit_advice(&h->teller, &advice);
    }
    while (wb_ring_take(&system->record.migrations, &m))
        emit_migration(&h->teller, system, &m);
}

void helper_drain(struct helper *h)
{
    helper_drain_rings(h);
    commands_emit_outcomes(&h->commands, h->over);
}

void helper_look_for_deadlock(struct helper *h)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    struct deadlock_report why;

    if (now_ns < h->deadlock_check_ns)
        return;
    h->deadlock_check_ns = now_ns + DEADLOCK_CHECK_NS;
    if (deadlock_check(&h->deadlock, wb_host_system(h->build.host), &why)) {
        helper_report_error(h, "deadlock", why.channels, why.text);
        wb_host_kill(h->build.host);
    }
}

static void emit_fault(struct helper *h, const struct wb_fault *fault)
{
    static const char *const kinds[] = { "kernel", "stack", "fault", "fault", "task",
                                         "kernel", "port",  "heap",  "exit" };
    const struct wb_system *system = wb_host_system(h->build.host);
    const struct wb_task *task = fault->task < system->n_tasks ? &system->tasks[fault->task] : NULL;
    const bool of_channel = fault->channel < system->n_channels;
    struct wb_host_frame frames[WB_FRAMES];

    helper_report(
        h, (struct plan_error){ .kind = kinds[fault->kind],
                                .task = task != NULL ? task->name : "",
                                .index = task != NULL ? task->index : 0,
                                .core = fault->core,
                                .key = of_channel ? system->channels[fault->channel].name : "",
                                .text = fault->text,
                                .frames = frames,
                                .n_frames = wb_host_frames(h->build.host, fault, frames) });
}

void helper_take_event(struct helper *h, const struct wb_host_event *event)
{
    const struct wb_system *system = wb_host_system(h->build.host);

    commands_take_event(&h->commands, event);
    switch (event->kind) {
    case WB_HOST_DIED:
        emit_death(&h->teller, event);
        h->failed |= !event->returns || event->lost != 0;
        break;
    case WB_HOST_RESTARTED:
        emit_restart(&h->teller, event);
        break;
    case WB_HOST_FAULT:
        emit_fault(h, &system->fault);
        break;
    case WB_HOST_ENDED:
        if (wb_word_load(&system->failure.complete, WB_ACQUIRE) != 0)
            emit_fault(h, &system->failure);
        h->over = true;
        h->end_ns = event->detected_ns;
        break;
    case WB_HOST_NOTHING:
        break;
    }
}

void helper_finish(struct helper *h)
{
    if (!recorder_close(&h->recorder))
        helper_report_error(h, "record", h->plan.record, "the event streams could not be written");
    if (h->build.finish != NULL && h->build.finish(h->build.app) != WB_OK)
        helper_report_error(h, "finish", "", h->build.app->error);
    const uint64_t end_ns = h->end_ns != 0 ? h->end_ns : wb_kernel_now_ns();
    wb_system_settle(wb_host_system(h->build.host), end_ns);
    emit_end(&h->teller, wb_host_system(h->build.host), end_ns, !h->failed);
}
