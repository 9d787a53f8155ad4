// SPDX-License-Identifier: Apache-2.0
// Tasks: their life, what their kernel tells of them, checkpoints, time and periods.

#include "wb/task.h"

#include "gate.h"
#include "image.h"
#include "latency.h"
#include "mem.h"
#include "pipeline.h"
#include "wb/system.h"

struct wb_core *wb_core_here(struct wb_system *system)
{
    const uint32_t core = wb_kernel_core();
    return core < system->n_cores ? system->cores[core] : NULL;
}

// ---- Called by the kernel -----------------------------------------------------------------------

void wb_task_main(struct wb_task *task)
{
    if (task->period_ns != 0)
        wb_sleep_until(task->release_ns);
    const int result = task->entry(task);

    if (result != 0)
        wb_task_fail(task, "its function returned an error");
    wb_kernel_exit();
}

void wb_task_resumed(struct wb_task *task, uint64_t now_ns)
{
    const uint32_t core = wb_place_owner(atomic_load_explicit(&task->place, memory_order_relaxed));
    const uint32_t request = atomic_load_explicit(&task->request, memory_order_relaxed);

    atomic_store_explicit(&task->place, wb_place(WB_TASK_RUNNING, core), memory_order_relaxed);
    task->resumed_ns = now_ns;
    wb_counter_add(&task->stats.runs, 1);
    wb_record_event(task->system->cores[core], WB_EVENT_RUN, task->id, 0, 0, now_ns);
    // A preemptive kernel may also switch to it between its checkpoint and its departure.
    if (wb_request_phase(request) == WB_REQUEST_ACCEPTED && task->migration.attached_ns != 0)
        wb_migration_settle(task, now_ns);
}

void wb_task_count(struct wb_task *task, struct wb_core *core, uint64_t now_ns)
{
    const uint64_t ran_ns = now_ns - task->resumed_ns;
    const uint64_t polled_ns = task->poll_mark_ns < ran_ns ? task->poll_mark_ns : ran_ns;

    task->poll_mark_ns = 0;
    task->resumed_ns = now_ns;
    wb_counter_add(&task->stats.busy_ns, ran_ns - polled_ns);
    wb_counter_add(&core->stats.busy_ns, ran_ns - polled_ns);
    if (polled_ns != 0) {
        wb_counter_add(&task->stats.polling_ns, polled_ns);
        wb_counter_add(&core->stats.polling_ns, polled_ns);
    }
}

void wb_task_account(struct wb_task *task, struct wb_core *core, uint64_t now_ns)
{
    wb_task_count(task, core, now_ns);
    wb_counter_add(&core->stats.switches, 1);
}

// The place decides: should this kernel be killed right after it, recovery does the rest again.
static void end(struct wb_task *task, uint32_t core)
{
    // seq_cst against wb_migration_request(): one of the two sees the other.
    atomic_store_explicit(&task->place, wb_place(WB_TASK_ENDED, core), memory_order_seq_cst);
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        wb_port_shut(port);
    wb_latency_count(task, task->system->cores[core]);
    wb_gate_abandon(task);
    wb_heap_close(&task->heap);
    wb_shared_close(&task->shared);
    wb_migration_close(task);
    if (wb_migration_pending(task))
        wb_migration_cancel(task, WB_ERR_GONE);
    wb_system_task_over(task->system);
}

void wb_task_paused(struct wb_task *task, enum wb_task_state state, uint64_t now_ns)
{
    static const enum wb_event_kind kinds[] = { [WB_TASK_READY] = WB_EVENT_READY,
                                                [WB_TASK_BLOCKED] = WB_EVENT_BLOCK,
                                                [WB_TASK_ENDED] = WB_EVENT_END };
    const uint32_t owner = wb_place_owner(atomic_load_explicit(&task->place, memory_order_relaxed));
    struct wb_core *core = task->system->cores[owner];

    wb_task_account(task, core, now_ns);
    wb_record_event(core, kinds[state], task->id, 0, 0, now_ns);
    if (state == WB_TASK_ENDED)
        end(task, owner);
    else
        // Release: should this kernel die now, whoever adopts the task sees its whole context.
        atomic_store_explicit(&task->place, wb_place(state, owner), memory_order_release);
}

// ---- Called by the task -------------------------------------------------------------------------

static enum wb_status depart(struct wb_task *self)
{
    if (self->sync.held != 0)
        return WB_ERR_HELD;
    const enum wb_status ready = wb_pipeline_begin(self);
    const enum wb_status left = ready == WB_OK ? wb_kernel_depart() : ready;
    if (left != WB_OK)
        wb_pipeline_end(self);
    return left;
}

void wb_checkpoint_enter(void)
{
    struct wb_task *self = wb_kernel_self();
    uint32_t request = atomic_load_explicit(&self->request, memory_order_relaxed);

    wb_kernel_charge(WB_ACTION_CHECKPOINT, 1);
    // Acquire: what the requester filled in. Failing means that it was withdrawn this moment.
    if (wb_request_phase(request) == WB_REQUEST_PENDING &&
        atomic_compare_exchange_strong_explicit(
            &self->request, &request,
            wb_request(WB_REQUEST_ACCEPTED, wb_request_core(request), wb_request_number(request)),
            memory_order_acquire, memory_order_relaxed)) {
        const enum wb_status left = depart(self);
        if (left != WB_OK) {
            wb_counter_add(&self->stats.refused, 1);
            wb_migration_finish(self, left);
        }
    }
    if (wb_image_is_due(self))
        wb_kernel_capture();
    else
        wb_kernel_yield(wb_sync_priority(&self->sync) + 1);
}

uint64_t wb_now_ns(void)
{
    return wb_kernel_now_ns();
}

void wb_yield(void)
{
    wb_kernel_yield(wb_sync_priority(&wb_kernel_self()->sync));
}

void wb_sleep_until(uint64_t time_ns)
{
    while (wb_kernel_now_ns() < time_ns)
        (void)wb_kernel_block(time_ns);
}

struct rhythm {
    uint64_t period_ns, deadline_ns;  // 0: none
};

// A task that follows the frame rate has the period and, in proportion, the deadline of a frame.
static struct rhythm next_rhythm(const struct wb_task *task)
{
    const uint64_t rate_millihz =
        task->follows_rate ? atomic_load_explicit(&task->system->rate_millihz, memory_order_relaxed)
                           : 0;
    const uint64_t period_ns = rate_millihz != 0 ? 1000000000000 / rate_millihz : task->period_ns;

    if (task->period_ns == 0 || task->relative_deadline_ns == task->period_ns)
        return (struct rhythm){ period_ns, period_ns };
    if (period_ns == task->period_ns)
        return (struct rhythm){ period_ns, task->relative_deadline_ns };
    return (struct rhythm){ period_ns, wb_part(period_ns, task->relative_deadline_ns * WB_PPM /
                                                              task->period_ns) };
}

static void count_miss(struct wb_task *self, uint64_t late_ns, uint64_t now_ns)
{
    wb_counter_add(&self->stats.misses, 1);
    if (late_ns > wb_counter_get(&self->stats.worst_late_ns))
        wb_counter_set(&self->stats.worst_late_ns, late_ns);
    wb_record_event(wb_core_here(self->system), WB_EVENT_MISS, self->id, 0, late_ns, now_ns);
}

// Jobs are released at start + offset + k * period (acquaviva2008 section 6.3: a frame that is not
// there when the consumer's period ends is a deadline miss). The frame rate may change between two
// jobs; the deadline of a job is that of its release.
bool wb_period_end(struct wb_task *self, bool *met)
{
    wb_kernel_charge(WB_ACTION_JOB, 1);
    const uint64_t now_ns = wb_kernel_now_ns();
    const uint64_t deadline_ns = self->release_ns + self->job_deadline_ns;
    const struct rhythm next = next_rhythm(self);

    *met = self->job_deadline_ns == 0 || now_ns <= deadline_ns;
    wb_counter_add(&self->stats.jobs, 1);
    if (!*met)
        count_miss(self, now_ns - deadline_ns, now_ns);
    if (self->job_deadline_ns == 0)
        self->release_ns = now_ns;  // its periods begin now, if they do
    self->job_deadline_ns = next.deadline_ns;
    self->release_ns += next.period_ns;
    return next.period_ns != 0;
}

bool wb_period_wait(struct wb_task *self)
{
    bool met;

    if (wb_period_end(self, &met))
        wb_sleep_until(self->release_ns);
    return met;
}

bool wb_task_is_periodic(const struct wb_task *self)
{
    return next_rhythm(self).period_ns != 0;
}

bool wb_stopping(const struct wb_task *self)
{
    return atomic_load_explicit(&self->system->stopping, memory_order_relaxed) != 0;
}

const char *wb_task_name(const struct wb_task *self)
{
    return self->name;
}

uint32_t wb_task_index(const struct wb_task *self)
{
    return self->index;
}

uint32_t wb_task_core(const struct wb_task *self)
{
    return wb_place_owner(atomic_load_explicit(&self->place, memory_order_relaxed));
}

uint64_t wb_task_migrations(const struct wb_task *self)
{
    return wb_counter_get(&self->stats.migrations);
}

struct wb_app *wb_task_app(const struct wb_task *self)
{
    return &self->system->app;
}

struct wb_task *wb_task_find(const struct wb_app *app, const char *name, uint32_t index)
{
    struct wb_system *system = app->system;

    for (uint32_t i = 0; i < system->n_tasks; i++)
        if (system->tasks[i].index == index && wb_text_equal(system->tasks[i].name, name))
            return &system->tasks[i];
    return NULL;
}

void *wb_task_state(const struct wb_task *self)
{
    return self->state;
}

void wb_task_set_state(struct wb_task *self, void *state)
{
    self->state = state;
}

void wb_task_fail(struct wb_task *self, const char *text)
{
    wb_system_fault(self->system, WB_FAULT_TASK, self, text);
    wb_kernel_halt();
}
