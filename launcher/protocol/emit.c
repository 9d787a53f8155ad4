// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

#include "wb/launcher.h"
#include "wb/wb.h"

// ---- Objects and messages -----------------------------------------------------------------------

struct members *emit_begin(struct teller *t)
{
    yyjson_alc_pool_init(&t->pool, t->memory, sizeof t->memory);
    t->members.doc = yyjson_mut_doc_new(&t->pool);
    t->members.object = yyjson_mut_obj(t->members.doc);
    return &t->members;
}

// One that does not fit into the memory is told as `null`, which the command complains of.
void emit_put(struct teller *t, bool joined)
{
    // A text of the application may be anything.
    const yyjson_write_flag flags = YYJSON_WRITE_ALLOW_INVALID_UNICODE;
    size_t bytes = 0;
    const char *json = yyjson_mut_val_write_opts(t->members.object, flags, &t->pool, &bytes, NULL);

    if (json != NULL)
        fwrite(json + joined, bytes - joined, 1, t->file);
    else
        fputs("null", t->file);
}

void emit_finish(struct teller *t, const char *name)
{
    fprintf(t->file, "{\"%s\":", name);
    emit_put(t, false);
    fputs("}\n", t->file);
    fflush(t->file);
}

// ---- Messages -----------------------------------------------------------------------------------

const char *emit_status_word(enum wb_status status)
{
    static const char *const words[] = { "ok",   "full", "empty",  "timeout", "inval", "gone",
                                         "busy", "held", "pinned", "nomem",   "owner", "unable" };
    return words[-(int)status];
}

static const char *emit_mode_word(enum wb_mode mode)
{
    static const char *const words[] = { "handoff", "replicate", "recreate", "reenter" };
    return words[mode];
}

void emit_error(struct teller *t, const struct plan_error *error)
{
    struct members *out = emit_begin(t);

    text(out, "kind", error->kind);
    text(out, "task", error->task);
    number(out, "index", error->index);
    if (error->core == WB_CORE_NONE)
        nothing(out, "core");
    else
        number(out, "core", error->core);
    text(out, "key", error->key);
    text(out, "text", error->text);
    if (error->error_number != 0)
        negative(out, "errno", error->error_number);
    yyjson_mut_val *frames = error->n_frames != 0 ? list(out, "frames") : NULL;
    for (uint32_t i = 0; i < error->n_frames; i++) {
        struct members frame = element(out, frames);
        text(&frame, "file", error->frames[i].file);
        number(&frame, "offset", error->frames[i].offset);
        text(&frame, "function", error->frames[i].function);
    }
    emit_finish(t, "error");
}

void emit_stall(struct teller *t, const struct wb_stall *stall)
{
    struct members *out = emit_begin(t);

    text(out, "task", stall->task->name);
    number(out, "index", stall->task->index);
    number(out, "core", stall->core);
    text(out, "call", stall->call);
    number(out, "for_ms", stall->for_ms);
    flag(out, "at_end", stall->at_end);
    emit_finish(t, "stalled");
}

void emit_started(struct teller *t, struct wb_host *host, const struct plan *plan)
{
    const struct wb_system *system = wb_host_system(host);
    struct members *out = emit_begin(t);

    number(out, "pid", (uint64_t)wb_host_pid(host, WB_CORE_NONE));
    yyjson_mut_val *kernels = list(out, "kernels");
    for (uint32_t i = 0; i < system->n_cores; i++) {
        struct members kernel = element(out, kernels);
        number(&kernel, "core", i);
        number(&kernel, "cpu", plan->cores[i].cpu);
        if (plan->cores[i].guest != 0)
            text(&kernel, "guest", plan->guests[plan->cores[i].guest - 1].name);
        number(&kernel, "pid", (uint64_t)wb_host_pid(host, i));
    }
    number(out, "gvm_bytes", wb_host_gvm_bytes(host));
    number(out, "start_ns", system->start_ns);
    text(out, "clock", wb_host_clock(host));
    emit_finish(t, "started");
}

static void core(struct members *out, const struct wb_core *c, uint64_t now_ns)
{
    static const char *const states[] = { "down", "up", "stopped", "dead" };

    number(out, "core", c->index);
    text(out, "state", states[wb_word_load(&c->state, WB_ACQUIRE)]);
    counter(out, "busy_ns", &c->stats.busy_ns);
    counter(out, "polling_ns", &c->stats.polling_ns);
    counter(out, "switches", &c->stats.switches);
    counter(out, "sleeps", &c->stats.sleeps);
    counter(out, "notes", &c->stats.notes);
    counter(out, "idle_polling_ns", &c->stats.idle_polling_ns);
    number(out, "load_ppm", wb_word_load(&c->report.busy_ppm, WB_RELAXED));
    emit_core_power(out, c, now_ns);
}

// Over all kernels: what its mode reserves, and its images.
static uint64_t reserved_bytes(const struct wb_task *t)
{
    const uint64_t heap = (uint64_t)(t->heap.end - t->heap.base);
    const uint32_t replicas = t->mode == WB_REPLICATE ? t->system->n_cores : 1;
    return (heap + t->stack_bytes) * replicas + 2 * t->images.bytes;
}

// Of a task that does not say when it computes: as often as its messages were passed, else its jobs
// ended.
static uint64_t firings_of(const struct wb_task *t)
{
    uint64_t least = UINT64_MAX;

    if (wb_counter_get(&t->stats.firings) != 0)
        return wb_counter_get(&t->stats.firings);
    for (const struct wb_port *p = t->ports; p != NULL; p = p->next_of_task) {
        const uint64_t firings = wb_port_messages(p) / p->rate;
        if (!p->channel->aside && firings < least)
            least = firings;
    }
    return least != UINT64_MAX ? least : wb_counter_get(&t->stats.jobs);
}

// Sums over the firings of a scripted task.
static void script(struct members *out, const struct wb_task *t)
{
    const struct wb_script_stats *stats = &t->scripted->stats;
    struct members of = object(out, "script");

    counter(&of, "loops", &t->stats.firings);
    counter(&of, "period_ns", &stats->period_ns);
    counter(&of, "run_ns", &stats->run_ns);
    counter(&of, "timed", &stats->timed);
    counter(&of, "early_ns", &stats->early_ns);
    counter(&of, "late_ns", &stats->late_ns);
    counter(&of, "wakeup_ns", &stats->wakeup_ns);
}

static void task(struct members *out, const struct wb_task *t)
{
    static const char *const states[] = { "new",     "ready",    "running", "blocked",
                                          "offered", "returned", "ended",   "lost" };
    const uint32_t owner_state = wb_word_load(&t->owner_state, WB_ACQUIRE);

    text(out, "task", t->name);
    number(out, "index", t->index);
    number(out, "core", wb_owner_of(owner_state));
    text(out, "state", states[wb_task_state_of(owner_state)]);
    counter(out, "busy_ns", &t->stats.busy_ns);
    counter(out, "polling_ns", &t->stats.polling_ns);
    counter(out, "runs", &t->stats.runs);
    counter(out, "preemptions", &t->stats.preemptions);
    number(out, "firings", firings_of(t));
    counter(out, "jobs", &t->stats.jobs);
    counter(out, "misses", &t->stats.misses);
    stamp(out, "worst_late_ns", &t->stats.worst_late_ns);
    counter(out, "migrations", &t->stats.migrations);
    counter(out, "chosen", &t->stats.chosen);
    counter(out, "refused", &t->stats.refused);
    number(out, "restarts", t->restarts);
    number(out, "heap_bytes", t->heap.used_bytes);
    number(out, "heap_peak_bytes", t->heap.peak_bytes);
    number(out, "context_bytes", wb_word_load(&t->report.context_bytes, WB_RELAXED));
    number(out, "load_ppm", wb_word_load(&t->report.load_ppm, WB_RELAXED));
    number(out, "shared_bytes", wb_shared_used_bytes(&t->shared));
    number(out, "shared_peak_bytes", t->shared.heap.peak_bytes);
    number(out, "shared_left", wb_shared_left_bytes(&t->shared));
    text(out, "mode", emit_mode_word(t->mode));
    counter(out, "images", &t->images.taken);
    number(out, "damaged", t->images.damaged);
    number(out, "replayed", t->images.replayed);
    number(out, "skipped", t->images.skipped);
    number(out, "reserved_bytes", reserved_bytes(t));
    if (wb_host_stalled_ms(t) != 0)
        number(out, "stalled_ms", wb_host_stalled_ms(t));
    if (t->scripted != NULL)
        script(out, t);
}

// Only of a channel that has another notify policy than most.
static void notify(struct members *out, const struct wb_channel *c)
{
    static const char *const doorbells[] = { "interrupt", "polling", "adaptive" };
    const struct wb_notify_config has = wb_channel_notify_policy(c);
    const struct wb_notify_stats *stats = wb_channel_notify_stats(c);

    if (stats == NULL || (has.doorbell == WB_NOTIFY_INTERRUPT && has.batch == 0 &&
                          wb_counter_get(&stats->polls) + wb_counter_get(&stats->waits) == 0))
        return;
    text(out, "doorbell", doorbells[has.doorbell]);
    number(out, "batch", has.batch);
    number(out, "within_us", has.within_us);
    counter(out, "waits", &stats->waits);
    counter(out, "rings", &stats->rings);
    counter(out, "polls", &stats->polls);
    counter(out, "hits", &stats->hits);
    stamp(out, "mean_ns", &stats->mean_ns);
    stamp(out, "spread_ns", &stats->spread_ns);
    counter(out, "noticed", &stats->noticed);
    counter(out, "late_ns", &stats->late_ns);
    stamp(out, "worst_ns", &stats->worst_ns);
    stamp(out, "kernel_ns", &stats->kernel_ns);
}

static void channel(struct members *out, const struct wb_channel *c)
{
    const struct wb_port *in = c->receiver;
    const uint32_t high = in != NULL ? wb_word_load(&in->high, WB_RELAXED) : c->initial;
    const uint32_t low = in != NULL ? wb_word_load(&in->low, WB_RELAXED) : UINT32_MAX;
    const uint64_t received = in != NULL ? wb_port_messages(in) : 0;
    uint64_t sent = 0;

    for (const struct wb_port *p = c->senders; p != NULL; p = p->next_of_channel)
        sent += wb_port_messages(p);
    text(out, "channel", c->name);
    number(out, "slots", c->slots);
    number(out, "depth", wb_channel_depth(c));
    number(out, "high", high);
    if (low > c->slots)
        nothing(out, "low");
    else
        number(out, "low", low);
    number(out, "sent", sent);
    number(out, "received", received);
    number(out, "bytes", received * c->slot_bytes);
    if ((c->charged & WB_INTERNAL) != 0)
        flag(out, "internal", true);
    notify(out, c);
}

static void decider(struct members *out, const struct wb_system *system)
{
    const struct wb_policy *policy = wb_system_policy(system);

    text(out, "policy", policy != NULL ? policy->name : "");
    if (policy != NULL && !policy->local)
        number(out, "coordinator", wb_word_load(&system->control.coordinator, WB_RELAXED));
    else
        nothing(out, "coordinator");
    number(out, "rate_millihz", wb_word_load(&system->rate_millihz, WB_RELAXED));
}

// The lists come first: they are written as they are made, the other members at once.
static void status(struct teller *t, const struct wb_system *system, uint64_t now_ns)
{
    fputs("{\"cores\":[", t->file);
    for (uint32_t i = 0; i < system->n_cores; i++) {
        fputs(i == 0 ? "" : ",", t->file);
        core(emit_begin(t), system->cores[i], now_ns);
        emit_put(t, false);
    }
    fputs("],\"tasks\":[", t->file);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        fputs(i == 0 ? "" : ",", t->file);
        task(emit_begin(t), &system->tasks[i]);
        emit_put(t, false);
    }
    fputs("],\"channels\":[", t->file);
    for (uint32_t i = 0; i < system->n_channels; i++) {
        fputs(i == 0 ? "" : ",", t->file);
        channel(emit_begin(t), &system->channels[i]);
        emit_put(t, false);
    }
    fputs("],", t->file);
    struct members *out = emit_begin(t);
    number(out, "time_ns", now_ns);
    number(out, "live", wb_word_load(&system->live, WB_ACQUIRE));
    decider(out, system);
    emit_energy(out, system);
    emit_put(t, true);
}

void emit_status(struct teller *t, const struct wb_system *system)
{
    fputs("{\"status\":", t->file);
    status(t, system, wb_kernel_now_ns());
    fputs("}\n", t->file);
    fflush(t->file);
}

void emit_migration(struct teller *teller, const struct wb_system *system,
                    const struct wb_migration *m)
{
    static const char *const by[] = { "user", "task", "policy" };
    const struct wb_task *t = &system->tasks[m->task];
    struct members *out = emit_begin(teller);

    text(out, "task", t->name);
    number(out, "index", t->index);
    number(out, "source", m->source);
    number(out, "target", m->target);
    text(out, "status", emit_status_word((enum wb_status)m->status));
    number(out, "request_ns", m->request_ns);
    number(out, "parked_ns", m->parked_ns);
    number(out, "attached_ns", m->attached_ns);
    number(out, "running_ns", m->running_ns);
    number(out, "output_ns", m->output_ns);
    number(out, "copied_ns", m->copied_ns);
    number(out, "bytes", m->bytes);
    text(out, "mode", emit_mode_word((enum wb_mode)m->mode));
    text(out, "by", by[m->by]);
    emit_finish(teller, "migration");
}

void emit_migrated(struct teller *teller, const char *id, const struct wb_task *t, uint32_t to,
                   enum wb_status outcome, const char *why)
{
    struct members *out = emit_begin(teller);

    text(out, "id", id);
    text(out, "task", t != NULL ? t->name : "");
    number(out, "index", t != NULL ? t->index : 0);
    number(out, "core", to);
    text(out, "status", emit_status_word(outcome));
    text(out, "why",
         why != NULL        ? why
         : outcome == WB_OK ? ""
         : t == NULL        ? "there is no such task"
                            : wb_status_text(outcome));
    emit_finish(teller, "migrated");
}

void emit_set(struct teller *teller, const char *id, bool ok, const char *why)
{
    struct members *out = emit_begin(teller);

    text(out, "id", id);
    flag(out, "ok", ok);
    text(out, "why", why);
    emit_finish(teller, "set");
}

void emit_advice(struct teller *teller, const struct wb_advice *advice)
{
    struct members *out = emit_begin(teller);

    number(out, "time_ns", advice->time_ns);
    text(out, "policy", advice->policy->name);
    number(out, "core", advice->core);
    text(out, "text", advice->text);
    emit_finish(teller, "advice");
}

void emit_death(struct teller *teller, const struct wb_host_event *event)
{
    struct members *out = emit_begin(teller);

    number(out, "core", event->core);
    number(out, "pid", (uint64_t)event->pid);
    number(out, "signal", (uint64_t)event->signal);
    number(out, "detected_ns", event->detected_ns);
    text(out, "by", event->by);
    text(out, "running", event->running != NULL ? event->running->name : "");
    number(out, "lost", event->lost);
    number(out, "restarted", event->restarted);
    number(out, "resumed", event->resumed);
    number(out, "moved", event->moved);
    flag(out, "returns", event->returns);
    text(out, "why", event->why != NULL ? event->why : "");
    emit_finish(teller, "core_died");
}

void emit_restart(struct teller *teller, const struct wb_host_event *event)
{
    struct members *out = emit_begin(teller);

    number(out, "core", event->core);
    number(out, "pid", (uint64_t)event->pid);
    number(out, "time_ns", event->detected_ns);
    number(out, "took_ns", event->took_ns);
    emit_finish(teller, "core_restarted");
}

// `null`: none was measured.
static void response(struct teller *teller, const struct wb_task *t)
{
    struct wb_response_times times;
    struct wb_response_part part;

    if (!wb_task_response(t, &times)) {
        fputs("null", teller->file);
        return;
    }
    struct members *out = emit_begin(teller);
    number(out, "n", times.n);
    number(out, "min_ns", times.min_ns);
    number(out, "mean_ns", times.mean_ns);
    number(out, "p50_ns", times.p50_ns);
    number(out, "p99_ns", times.p99_ns);
    number(out, "max_ns", times.max_ns);
    yyjson_mut_val *histogram = list(out, "histogram");
    for (uint32_t at = 0; wb_task_response_next(t, &at, &part);) {
        yyjson_mut_val *row = yyjson_mut_arr_add_arr(out->doc, histogram);
        yyjson_mut_arr_add_uint(out->doc, row, part.from_ns);
        yyjson_mut_arr_add_uint(out->doc, row, part.to_ns);
        yyjson_mut_arr_add_uint(out->doc, row, part.n);
    }
    emit_put(teller, false);
}

static void responses(struct teller *teller, const struct wb_system *system)
{
    fputs(",\"responses\":[", teller->file);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        fputs(i == 0 ? "" : ",", teller->file);
        response(teller, &system->tasks[i]);
    }
    fputs("],", teller->file);
}

void emit_end(struct teller *teller, const struct wb_system *system, uint64_t end_ns, bool ok)
{
    uint32_t events = 0;
    uint32_t migrations = wb_word_load(&system->record.migrations.dropped, WB_SEQ_CST);
    uint64_t latency_ns = 0;

    for (uint32_t i = 0; i < system->n_cores; i++) {
        events += wb_word_load(&system->cores[i]->record.events.dropped, WB_SEQ_CST);
        migrations += wb_word_load(&system->cores[i]->record.migrations.dropped, WB_SEQ_CST);
    }
    fputs("{\"end\":{\"status\":", teller->file);
    status(teller, system, end_ns);
    responses(teller, system);
    struct members *out = emit_begin(teller);
    number(out, "dropped_events", events);
    number(out, "dropped_migrations", migrations);
    if (wb_system_latency(system, &latency_ns))
        number(out, "latency_ns", latency_ns);
    flag(out, "ok", ok);
    emit_put(teller, true);
    fputs("}\n", teller->file);
    fflush(teller->file);
}
