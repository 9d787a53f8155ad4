// SPDX-License-Identifier: Apache-2.0
// whimbrel-sim: the helper of `whimbrel sim`. It speaks docs/kernels-linux-protocol.md on file
// descriptor 3 and is of no use by hand. After a run it waits for the plan of the next one.

#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "asked.h"
#include "deadlock.h"
#include "helper.h"
#include "islands.h"
#include "save.h"
#include "sim_host.h"
#include "watch.h"

// How often the loop is left to listen, in events.
enum { EVENTS = 1 << 18 };

static struct helper the_helper;
static const struct plan_at *to_save;
static bool *saved;  // of the commands of the plan

static uint64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// ---- What the plan has for later ----------------------------------------------------------------

static bool saves(const struct plan_at *at)
{
    return at->command.verb == COMMAND_SAVE;
}

static void command(uint32_t number)
{
    const struct plan_at *at = &the_helper.plan.sim.commands[number];

    if (saves(at)) {
        // Once every context is complete: see run().
        to_save = at;
        sim.run.paused = true;
        return;
    }
    if (at->command.verb == COMMAND_STOP && sim.islands.on)
        islands_stop(&the_helper);
    else
        commands_obey(&the_helper.commands, &at->command);
    if (at->every_ns != 0)
        sim_push_in(sim_ps(at->every_ns), EVENT_COMMAND, number);
}

// What was planned for a restored simulation is among its events; only saving is planned anew.
static void plan_commands(const struct helper *h)
{
    const uint64_t start_ns = wb_host_system(h->build.host)->start_ns;

    for (uint32_t i = 0; i < h->plan.sim.n_commands; i++) {
        const struct plan_at *at = &h->plan.sim.commands[i];
        const uint64_t at_ps = sim_ps(sim_sum(start_ns, at->at_ns));
        if (h->plan.sim.restore == NULL || (saves(at) && at_ps > sim.engine->now_ps))
            sim_push(at_ps, EVENT_COMMAND, i);
    }
}

// ---- Records ------------------------------------------------------------------------------------

// A task or a kernel writes a record to a full ring, on the stack of a task. That may be small, and
// a task needs no more of it in a recorded run than in another: so the rings are drained on a stack
// of their own.
static struct drain {
    ucontext_t writer, self;
    void *fake_stack;  // of the writer
    _Alignas(16) unsigned char stack[256 << 10];
} drain;

static void drain_rings(void)
{
    const void *stack;
    size_t bytes;

    sanitizer_enter_from(NULL, &stack, &bytes);
    helper_drain_rings(&the_helper);
    sanitizer_leave(NULL, stack, bytes);
}

static void make_room(void)
{
    getcontext(&drain.self);
    drain.self.uc_stack.ss_sp = drain.stack;
    drain.self.uc_stack.ss_size = sizeof drain.stack;
    drain.self.uc_link = &drain.writer;
    makecontext(&drain.self, drain_rings, 0);
    sanitizer_leave(&drain.fake_stack, drain.stack, sizeof drain.stack);
    swapcontext(&drain.writer, &drain.self);
    sanitizer_enter(drain.fake_stack);
}

// Whatever happens in an instant, and however much: nothing is dropped.
static void keep_all_records(void)
{
    sim.system->record.migrations.make_room = make_room;
    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct wb_core *core = sim.system->cores[i];
        core->record.events.make_room = make_room;
        core->record.migrations.make_room = make_room;
        core->report.advice.make_room = make_room;
    }
}

// ---- Running ------------------------------------------------------------------------------------

// The last moment that the clock can tell; what is later never happens.
static const uint64_t last_ps = UINT64_MAX - 1;

// The loop is left at either limit, so that a run fails or not whatever else leaves it.
static void set_limits(const struct helper *h)
{
    const uint64_t until_ns = h->plan.sim.until_ns;
    const uint64_t until_ps = sim_ps(sim_sum(sim.system->start_ns, until_ns));

    if (until_ns != 0 && until_ps < last_ps && until_ps > sim.engine->now_ps)
        sim_push(until_ps, EVENT_STOP, 0);
    sim_push(last_ps, EVENT_STOP, 0);
}

// When to leave the loop: after so many events, or after time has passed so often without one.
static uint64_t next_pause(const struct helper *h, uint64_t done)
{
    const uint64_t most = h->plan.sim.events;

    if (most == 0 || most >= done + EVENTS)
        return done + EVENTS;
    return most > done ? most + 1 : done + 1;
}

static void look_for_limits(struct helper *h)
{
    const struct plan_sim *plan = &h->plan.sim;
    char text[160];

    if (plan->until_ns != 0 && sim_now_ns() - sim.system->start_ns >= plan->until_ns)
        snprintf(text, sizeof text, "it has not ended after %.9g s of virtual time",
                 (double)plan->until_ns / 1e9);
    else if (sim.engine->now_ps >= last_ps)
        snprintf(text, sizeof text, "it has not ended after %.9g s, when virtual time ends",
                 (double)last_ps / 1e12);
    else if (plan->events != 0 &&
             (sim.counted.events > plan->events || sim.counted.passes > plan->events))
        snprintf(text, sizeof text, "it has not ended after %" PRIu64 " events", plan->events);
    else
        return;
    helper_report_error(h, "limit", "", text);
    h->over = true;
}

// The loop is left: time does not pass any more.
static void report_standstill(struct helper *h)
{
    const struct watch_report report = watch_report();
    const struct wb_task *task = report.task;
    char text[120];

    snprintf(text, sizeof text, "no virtual time has passed in %.3g s of processor time",
             (double)report.patience_ms / 1e3);
    helper_report(h, (struct plan_error){ .kind = task != NULL ? "standstill" : "kernel",
                                          .task = task != NULL ? task->name : "",
                                          .index = task != NULL ? task->index : 0,
                                          .core = report.core,
                                          .key = "",
                                          .text = text });
    h->over = true;
}

static void take_end(struct helper *h, enum sim_end end)
{
    struct deadlock_report why;

    if (end == SIM_DEADLOCK) {
        deadlock_describe(sim.system, &why);
        helper_report_error(h, "deadlock", why.channels, why.text);
        h->over = true;
        return;
    }
    if (watch_expired()) {
        report_standstill(h);
        return;
    }
    struct wb_host_event event;
    do {
        event = sim_host_event(h->build.host, end);
        helper_take_event(h, &event);
    } while (event.kind != WB_HOST_NOTHING);
}

static bool asked(const struct helper *h)
{
    struct pollfd fd = { .fd = HELPER_SOCKET, .events = POLLIN };
    return !h->lines.closed && poll(&fd, 1, 0) > 0;
}

static void save(struct helper *h)
{
    const struct command *command = &to_save->command;
    const char *wrong = sim_save(h->build.host, command->path, command->id);

    if (wrong != NULL)
        helper_report_error(h, "save", command->path, wrong);
    saved[to_save - h->plan.sim.commands] = true;
    to_save = NULL;
}

static void look_for_unsaved(struct helper *h)
{
    for (uint32_t i = 0; i < h->plan.sim.n_commands && !h->failed; i++) {
        const struct plan_at *at = &h->plan.sim.commands[i];
        if (saves(at) && !saved[i])
            helper_report_error(h, "unsaved", at->command.path,
                                "that moment is not between the start and the end of the run");
    }
}

static bool restore(struct helper *h)
{
    const struct plan_sim *plan = &h->plan.sim;
    const char *wrong =
        plan->restore != NULL ? sim_restore(h->build.host, plan->restore, plan->restore_id) : NULL;

    if (wrong != NULL)
        helper_report_error(h, "restore", plan->restore, wrong);
    return wrong == NULL;
}

// A run that is long has its islands in processes of their own. False: the run has to begin again.
static bool run_apart(struct helper *h, enum sim_end *end)
{
    const enum islands_end islands = islands_run(h);

    if (islands == ISLANDS_OVER)
        *end = SIM_OVER;
    return islands != ISLANDS_AGAIN;
}

// False: it has to begin again.
static bool run(struct helper *h)
{
    while (!h->over) {
        sim.pause_at.event = next_pause(h, sim.counted.events);
        sim.pause_at.pass = next_pause(h, sim.counted.passes);
        enum sim_end end = sim_run();
        if (end == SIM_PAUSED && !asked(h) && islands_pay() && !run_apart(h, &end))
            return false;
        helper_drain(h);
        take_end(h, end);
        if (h->over)
            break;
        if (to_save != NULL)
            save(h);
        if (asked(h))
            helper_take_commands(h);
        look_for_limits(h);
    }
    look_for_unsaved(h);
    sim_account_idle();
    sim_record_all_power();
    helper_drain(h);
    return true;
}

// Who still ran when the end was asked for was ended by it.
static const char *ended_by(const struct helper *h)
{
    if (h->commands.killed)
        return "kill";
    return wb_word_load(&sim.system->stopping, WB_RELAXED) != 0 ? "stop" : "";
}

// What is known of a run besides its totals.
static void emit_simulated(struct helper *h, uint64_t taken_ns)
{
    const uint32_t blocks = engine_blocks(sim.engine);
    struct members *out = emit_begin(&h->teller);

    number(out, "events", sim.counted.events);
    number(out, "steps", sim.counted.steps);
    number(out, "wall_ns", taken_ns);
    text(out, "ended_by", ended_by(h));
    yyjson_mut_val *blocks_mc = list(out, "blocks_mc");
    for (uint32_t i = 0; i < blocks; i++)
        yyjson_mut_arr_add_sint(out->doc, blocks_mc, engine_block_mc(sim.engine, i));
    negative(out, "sink_mc", blocks != 0 ? engine_sink_mc(sim.engine) : 0);
    emit_finish(&h->teller, "simulated");
}

static void weigh(const struct helper *h)
{
    for (uint32_t i = 0; i < h->plan.n_tasks; i++)
        sim_weigh(i, h->plan.tasks[i].weight);
}

// False if it has not started.
static bool prepare(struct helper *h, bool together)
{
    char error[512] = "";

    free(saved);
    saved = calloc(h->plan.sim.n_commands + 1, sizeof *saved);
    if (saved == NULL || !helper_build(h))
        return false;
    if (h->plan.sim.platform == NULL ||
        !sim_host_platform(h->build.host, h->plan.sim.platform, error, sizeof error)) {
        helper_report_error(h, "plan", "platform", error);
        return false;
    }
    const char *preempts = getenv("WHIMBREL_SIM_PREEMPTS");
    sim_preempt_by(preempts != NULL ? strtoull(preempts, NULL, 10) : 0);
    if (!helper_start(h))
        return false;
    weigh(h);
    sim.command = command;
    if (!restore(h))
        return false;
    keep_all_records();
    plan_commands(h);
    set_limits(h);
    islands_begin(h, together);
    watch_begin();
    return true;
}

// Forgets what has happened; the plan stays.
static void begin_again(struct helper *h)
{
    char path[PATH_MAX];

    (void)recorder_close(&h->recorder);
    for (uint32_t i = 0; h->plan.record != NULL && i < h->plan.n_cores; i++) {
        snprintf(path, sizeof path, "%s/core-%" PRIu32 ".events", h->plan.record, i);
        (void)unlink(path);
    }
    wb_host_close(h->build.host);
    helper_forget_build(h);
}

static bool simulate(struct helper *h)
{
    if (!prepare(h, false))
        return false;
    const uint64_t from_ns = wall_ns();
    if (!run(h)) {
        begin_again(h);
        if (!prepare(h, true))
            return false;
        (void)run(h);
    }
    emit_simulated(h, wall_ns() - from_ns);
    helper_finish(h);
    return true;
}

// What is of one run only.
static void forget_run(struct helper *h)
{
    if (h->build.host != NULL)
        wb_host_close(h->build.host);
    free(saved);
    saved = NULL;
    helper_forget(h);
}

static int emit_objects(struct dl_phdr_info *info, size_t bytes, void *to)
{
    (void)bytes;
    *(unsigned long long *)to = info->dlpi_adds - info->dlpi_subs;
    return 1;
}

// How many shared objects there are in this process.
static unsigned long long objects(void)
{
    unsigned long long n = 0;

    dl_iterate_phdr(emit_objects, &n);
    return n;
}

int main(int argc, char **argv)
{
    struct helper *h = &the_helper;
    bool failed = false;

    (void)argc;
    sim_fix_addresses(argv);
    if (!helper_listen(h)) {
        fputs("whimbrel-sim is started by `whimbrel sim`, not by hand\n", stderr);
        return 2;
    }
    asked_by(h);
    watch_open();
    const unsigned long long own = objects();
    while (helper_read_plan(h)) {
        const bool started = simulate(h);
        failed = h->failed;
        forget_run(h);
        // The command knows by our end that nothing more comes. What of a module stays (as C++
        // templates' variables do), the next run must not find.
        if (!started || objects() != own)
            break;
    }
    failed = failed || h->failed;
    helper_close(h);
    return failed ? 2 : 0;
}
