// SPDX-License-Identifier: Apache-2.0
#include "tell.h"

#include <inttypes.h>
#include <unistd.h>

#include "wb/port.h"

static void text(FILE *out, const char *s)
{
    putc('"', out);
    for (; *s != '\0'; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            putc('\\', out);
        if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void counter(FILE *out, const char *name, const struct wb_counter *value)
{
    number(out, name, wb_counter_get(value));
}

static void finish(FILE *out)
{
    fputs("}}\n", out);
    fflush(out);
}

const char *tell_status_word(enum wb_status status)
{
    static const char *const words[] = { "ok",   "full", "empty",  "timeout", "inval", "gone",
                                         "busy", "held", "pinned", "nomem",   "owner" };
    return words[-(int)status];
}

static const char *tell_mode_word(enum wb_mode mode)
{
    static const char *const words[] = { "handoff", "replicate", "recreate" };
    return words[mode];
}

void tell_error(FILE *out, const struct tell_error *error)
{
    fputs("{\"error\":{\"kind\":", out);
    text(out, error->kind);
    fputs(",\"task\":", out);
    text(out, error->task);
    number(out, "index", error->index);
    if (error->core == WB_CORE_NONE)
        fputs(",\"core\":null", out);
    else
        number(out, "core", error->core);
    fputs(",\"key\":", out);
    text(out, error->key);
    fputs(",\"text\":", out);
    text(out, error->text);
    finish(out);
}

void tell_started(FILE *out, struct wb_host *host, const unsigned int *cpus)
{
    const struct wb_system *system = wb_host_system(host);

    fprintf(out, "{\"started\":{\"pid\":%d,\"kernels\":[", (int)getpid());
    for (uint32_t i = 0; i < system->n_cores; i++)
        fprintf(out, "%s{\"core\":%" PRIu32 ",\"cpu\":%u,\"pid\":%d}", i == 0 ? "" : ",", i,
                cpus[i], (int)wb_host_pid(host, i));
    fputs("]", out);
    number(out, "gvm_bytes", wb_host_gvm_bytes(host));
    number(out, "start_ns", system->start_ns);
    fprintf(out, ",\"clock\":\"%s\"", wb_host_clock(host));
    finish(out);
}

static void core(FILE *out, const struct wb_core *c)
{
    static const char *const states[] = { "down", "up", "stopped", "dead" };

    fprintf(out, "{\"core\":%" PRIu32 ",\"state\":\"%s\"", c->index,
            states[atomic_load_explicit(&c->state, memory_order_acquire)]);
    counter(out, "busy_ns", &c->stats.busy_ns);
    counter(out, "polling_ns", &c->stats.polling_ns);
    counter(out, "switches", &c->stats.switches);
    counter(out, "sleeps", &c->stats.sleeps);
    counter(out, "notes", &c->stats.notes);
    number(out, "load_ppm", atomic_load_explicit(&c->report.busy_ppm, memory_order_relaxed));
    tell_core_power(out, c);
    putc('}', out);
}

// Over all kernels: what its mode reserves, and its images.
static uint64_t reserved_bytes(const struct wb_task *t)
{
    const uint64_t heap = (uint64_t)(t->heap.end - t->heap.base);
    const uint32_t replicas = t->mode == WB_REPLICATE ? t->system->n_cores : 1;
    return (heap + t->stack_bytes) * replicas + 2 * t->images.bytes;
}

static void task(FILE *out, const struct wb_task *t)
{
    static const char *const states[] = { "new",     "ready",    "running", "blocked",
                                          "offered", "returned", "ended",   "lost" };
    const uint32_t place = atomic_load_explicit(&t->place, memory_order_acquire);

    fprintf(out, "{\"task\":\"%s\",\"index\":%" PRIu32 ",\"core\":%" PRIu32 ",\"state\":\"%s\"",
            t->name, t->index, wb_place_owner(place), states[wb_place_state(place)]);
    counter(out, "busy_ns", &t->stats.busy_ns);
    counter(out, "polling_ns", &t->stats.polling_ns);
    counter(out, "runs", &t->stats.runs);
    counter(out, "jobs", &t->stats.jobs);
    counter(out, "misses", &t->stats.misses);
    counter(out, "worst_late_ns", &t->stats.worst_late_ns);
    counter(out, "migrations", &t->stats.migrations);
    counter(out, "refused", &t->stats.refused);
    number(out, "restarts", t->restarts);
    number(out, "heap_bytes", t->heap.used_bytes);
    number(out, "heap_peak_bytes", t->heap.peak_bytes);
    number(out, "context_bytes",
           atomic_load_explicit(&t->report.context_bytes, memory_order_relaxed));
    number(out, "load_ppm", atomic_load_explicit(&t->report.load_ppm, memory_order_relaxed));
    number(out, "shared_bytes", wb_shared_used_bytes(&t->shared));
    number(out, "shared_peak_bytes", t->shared.heap.peak_bytes);
    number(out, "shared_left", wb_shared_left_bytes(&t->shared));
    fprintf(out, ",\"mode\":\"%s\"", tell_mode_word(t->mode));
    counter(out, "images", &t->images.taken);
    number(out, "damaged", t->images.damaged);
    number(out, "replayed", t->images.replayed);
    number(out, "skipped", t->images.skipped);
    number(out, "reserved_bytes", reserved_bytes(t));
    putc('}', out);
}

static void channel(FILE *out, const struct wb_channel *c)
{
    const uint32_t low = atomic_load_explicit(&c->low, memory_order_relaxed);
    const uint64_t received = c->receiver != NULL ? wb_port_messages(c->receiver) : 0;
    uint64_t sent = 0;

    for (const struct wb_port *p = c->senders; p != NULL; p = p->next_of_channel)
        sent += wb_port_messages(p);
    fprintf(out, "{\"channel\":\"%s\"", c->name);
    number(out, "slots", c->slots);
    number(out, "depth", wb_channel_depth(c));
    number(out, "high", atomic_load_explicit(&c->high, memory_order_relaxed));
    if (low > c->slots)
        fputs(",\"low\":null", out);
    else
        number(out, "low", low);
    number(out, "sent", sent);
    number(out, "received", received);
    number(out, "bytes", received * c->slot_bytes);
    putc('}', out);
}

static void decider(FILE *out, const struct wb_system *system)
{
    const struct wb_policy *policy = wb_system_policy(system);

    fputs(",\"policy\":", out);
    text(out, policy != NULL ? policy->name : "");
    if (policy != NULL && !policy->local)
        number(out, "coordinator",
               atomic_load_explicit(&system->control.coordinator, memory_order_relaxed));
    else
        fputs(",\"coordinator\":null", out);
    number(out, "rate_millihz", atomic_load_explicit(&system->rate_millihz, memory_order_relaxed));
}

static void status(FILE *out, const struct wb_system *system)
{
    fprintf(out, "\"status\":{\"time_ns\":%" PRIu64, wb_kernel_now_ns());
    number(out, "live", atomic_load_explicit(&system->live, memory_order_acquire));
    decider(out, system);
    fputs(",\"cores\":[", out);
    for (uint32_t i = 0; i < system->n_cores; i++) {
        fputs(i == 0 ? "" : ",", out);
        core(out, system->cores[i]);
    }
    fputs("],\"tasks\":[", out);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        fputs(i == 0 ? "" : ",", out);
        task(out, &system->tasks[i]);
    }
    fputs("],\"channels\":[", out);
    for (uint32_t i = 0; i < system->n_channels; i++) {
        fputs(i == 0 ? "" : ",", out);
        channel(out, &system->channels[i]);
    }
    putc(']', out);
    tell_energy(out, system);
    putc('}', out);
}

void tell_status(FILE *out, const struct wb_system *system)
{
    putc('{', out);
    status(out, system);
    fputs("}\n", out);
    fflush(out);
}

void tell_migration(FILE *out, const struct wb_system *system, const struct wb_migration *m)
{
    static const char *const by[] = { "user", "task", "policy" };
    const struct wb_task *t = &system->tasks[m->task];

    fprintf(out, "{\"migration\":{\"task\":\"%s\",\"index\":%" PRIu32, t->name, t->index);
    number(out, "source", m->source);
    number(out, "target", m->target);
    fprintf(out, ",\"status\":\"%s\"", tell_status_word((enum wb_status)m->status));
    number(out, "request_ns", m->request_ns);
    number(out, "parked_ns", m->parked_ns);
    number(out, "attached_ns", m->attached_ns);
    number(out, "running_ns", m->running_ns);
    number(out, "output_ns", m->output_ns);
    number(out, "copied_ns", m->copied_ns);
    number(out, "bytes", m->bytes);
    fprintf(out, ",\"mode\":\"%s\",\"by\":\"%s\"", tell_mode_word((enum wb_mode)m->mode),
            by[m->by]);
    finish(out);
}

void tell_migrated(FILE *out, const char *id, const struct wb_task *t, uint32_t to,
                   enum wb_status outcome)
{
    fputs("{\"migrated\":{\"id\":", out);
    text(out, id);
    fprintf(out, ",\"task\":\"%s\",\"index\":%" PRIu32, t != NULL ? t->name : "",
            t != NULL ? t->index : 0);
    number(out, "core", to);
    fprintf(out, ",\"status\":\"%s\",\"why\":", tell_status_word(outcome));
    text(out, outcome == WB_OK ? ""
              : t == NULL      ? "there is no such task"
                               : wb_status_text(outcome));
    finish(out);
}

void tell_set(FILE *out, const char *id, bool ok, const char *why)
{
    fputs("{\"set\":{\"id\":", out);
    text(out, id);
    fprintf(out, ",\"ok\":%s,\"why\":", ok ? "true" : "false");
    text(out, why);
    finish(out);
}

void tell_advice(FILE *out, const struct wb_advice *advice)
{
    fprintf(out, "{\"advice\":{\"time_ns\":%" PRIu64 ",\"policy\":", advice->time_ns);
    text(out, advice->policy->name);
    number(out, "core", advice->core);
    fputs(",\"text\":", out);
    text(out, advice->text);
    finish(out);
}

void tell_death(FILE *out, const struct wb_host_event *event)
{
    fprintf(out, "{\"core_died\":{\"core\":%" PRIu32 ",\"pid\":%d,\"signal\":%d", event->core,
            (int)event->pid, event->signal);
    number(out, "detected_ns", event->detected_ns);
    fprintf(out, ",\"by\":\"%s\",\"running\":\"%s\"",
            event->by_robust_futex ? "robust-futex" : "pidfd",
            event->running != NULL ? event->running->name : "");
    number(out, "lost", event->lost);
    number(out, "restarted", event->restarted);
    number(out, "resumed", event->resumed);
    number(out, "moved", event->moved);
    finish(out);
}

void tell_end(FILE *out, const struct wb_system *system, bool ok)
{
    uint32_t events = 0;
    uint32_t migrations = atomic_load(&system->record.migrations.dropped);
    uint64_t latency_ns = 0;

    for (uint32_t i = 0; i < system->n_cores; i++) {
        events += atomic_load(&system->cores[i]->record.events.dropped);
        migrations += atomic_load(&system->cores[i]->record.migrations.dropped);
    }
    fputs("{\"end\":{", out);
    status(out, system);
    number(out, "dropped_events", events);
    number(out, "dropped_migrations", migrations);
    if (wb_system_latency(system, &latency_ns))
        number(out, "latency_ns", latency_ns);
    fprintf(out, ",\"ok\":%s", ok ? "true" : "false");
    finish(out);
}
