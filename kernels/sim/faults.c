// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include "private.h"
#include "sim_host.h"

static bool is_of_doorbells(enum fault_kind kind)
{
    return kind == FAULT_DROP || kind == FAULT_DELAY || kind == FAULT_REPEAT;
}

// Soon: the task that has been preempted has left its core by then, and another has it.
static void on_preempted(uint32_t core)
{
    enum { SOON_NS = 300 };
    const struct faults *faults = sim.faults;

    sim.faults->struck = true;
    if (faults->fault.kind == FAULT_LEAVE)
        sim_push_in((uint64_t)SOON_NS * PS_PER_NS, EVENT_FAULT, core);
}

static bool holds_up(const struct fault *fault)
{
    return fault->kind == FAULT_HOLD || fault->kind == FAULT_LEAVE;
}

static void plan_preemption(const struct fault *fault)
{
    sim_preempt();
    if (holds_up(fault))
        sim_hold_up_at(fault->at, (uint64_t)fault->ns * PS_PER_NS);
    else if (fault->kind == FAULT_NONE)
        sim_hold_up_at(UINT64_MAX, 0);
    else
        sim_hold_up(fault->at);
    sim.holdups.on_preempted = holds_up(fault) ? on_preempted : NULL;
}

void faults_plan(struct faults *faults, struct wb_host *host, const struct fault *fault)
{
    *faults = (struct faults){ .fault = *fault, .host = host };
    sim.faults = faults;
    sim.careful = true;
    // A kernel that is stopped at any moment has a task that can be left at that moment.
    for (uint32_t i = 0; i < sim.system->n_cores; i++)
        sim.cores[i].skips.takes_steps = false;
    if (fault->preempts)
        plan_preemption(fault);
    const bool at_step = fault->kind != FAULT_NONE && !is_of_doorbells(fault->kind);
    sim_count(at_step && !holds_up(fault) ? fault->at : UINT64_MAX);
}

uint64_t faults_steps(void)
{
    return UINT64_MAX - sim.charges.fuel;
}

void faults_ring(struct sim_core *core, uint64_t at_ps)
{
    struct faults *faults = sim.faults;
    const struct fault *fault = &faults->fault;
    const uint64_t later_ps = at_ps + (uint64_t)fault->ns * PS_PER_NS;

    if (++faults->doorbells != fault->at || !is_of_doorbells(fault->kind)) {
        sim_push(at_ps, EVENT_RING, core->core->index);
        return;
    }
    faults->struck = true;
    if (fault->kind == FAULT_REPEAT)
        sim_push(at_ps, EVENT_RING, core->core->index);
    else
        core->irq.rung = false;
    if (fault->kind != FAULT_DROP)
        sim_push(later_ps, EVENT_RING, core->core->index);
}

uint64_t faults_moments(void)
{
    return sim.holdups.moments;
}

void faults_stop(uint32_t core)
{
    if (sim.faults->fault.kind == FAULT_RETURN)
        sim_start_again(&sim.cores[core]);
    else
        sim_host_kill(sim.faults->host, core);
}

// As the kernels of an emulator: none is given what another leaves that has died with it.
static void stop_all(const struct faults *faults)
{
    const uint32_t n = sim.system->n_cores;

    for (uint32_t i = 0; i < n; i++) {
        sim.system->cores[i]->returns = true;
        wb_word_store(&sim.system->cores[i]->state, WB_CORE_DEAD, WB_SEQ_CST);
    }
    for (uint32_t i = 0; i < n; i++)
        sim_host_kill(faults->host, i);
    for (uint32_t i = 0; i < n; i++) {
        wb_word_store(&sim.system->cores[i]->state, WB_CORE_DOWN, WB_SEQ_CST);
        sim_push_in((i + 1) * (uint64_t)faults->fault.ns * PS_PER_NS, EVENT_FAULT, i);
    }
}

// As other threads would, in the midst of what a core does: it notices nothing of them.
static void act(const struct faults *faults)
{
    struct wb_system *system = sim.system;

    switch (faults->fault.kind) {
    case FAULT_KILL:
        sim_host_kill(faults->host, faults->fault.core);
        break;
    case FAULT_RETURN:
        stop_all(faults);
        break;
    case FAULT_CANCEL:
        for (uint32_t i = 0; i < system->n_tasks; i++)
            wb_migration_cancel(&system->tasks[i], WB_ERR_TIMEOUT);
        break;
    default:
        sim.odd_clock = true;
        break;
    }
}

void faults_strike(void)
{
    struct sim_core *here = sim.here;
    struct wb_task *self = sim.self;

    // The launcher's own steps: it does one thing after the other.
    if (here == NULL) {
        sim.charges.fuel = 1;
        return;
    }
    sim.faults->struck = true;
    sim_execute_launcher();
    act(sim.faults);
    sim_execute(here, self);
    if (here->dead)
        sim_abandon();
}

// How far its clock is ahead; behind if negative.
static int64_t skew_ns(void)
{
    const struct fault *fault = &sim.faults->fault;
    return sim.here != NULL && sim.here->core->index == fault->core ? fault->ns : 0;
}

// No clock shows a time from before it was started.
static uint64_t shift(uint64_t ns, int64_t by_ns)
{
    return by_ns < 0 && ns <= (uint64_t)-by_ns ? 1 : ns + (uint64_t)by_ns;
}

uint64_t faults_now_ns(void)
{
    return shift(sim_now_ns(), skew_ns());
}

uint64_t faults_true_ns(uint64_t ns)
{
    return shift(ns, -skew_ns());
}

void faults_look(void)
{
    for (uint32_t i = 0; i < sim.system->n_cores; i++)
        if (!sim.cores[i].dead)
            sim_push(sim.engine->now_ps, EVENT_RING, i);
}
