// SPDX-License-Identifier: Apache-2.0
#define _XOPEN_SOURCE 700
#include "one_process.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "check.h"
#include "wb/kernel.h"
#include "wb/launcher.h"

enum { TASKS_MAX = 16 };
enum after { GO_READY, GO_BLOCKED, GO_AWAY, GO_ENDED, GO_KILLED };

struct place {
    ucontext_t context;
    uint32_t core;
    bool ready, blocked, woken;
};

// Every checkpoint looks, so that every checkpoint is a step.
struct wb_word wb_kernel_need_resched = { { 1 } };

static struct {
    struct wb_system *system;
    struct wb_task *current;
    uint32_t core;
    enum after after;
    uint32_t steps, kill_at;
    ucontext_t loop;
    struct place places[TASKS_MAX];
} k;

static struct place *place_of(const struct wb_task *task)
{
    return &k.places[task->id];
}

static void leave(enum after after)
{
    k.after = after;
    swapcontext(&place_of(k.current)->context, &k.loop);
}

static struct wb_task *next_ready(uint32_t core, uint32_t floor)
{
    struct wb_task *best = NULL;

    for (uint32_t i = 0; i < k.system->n_tasks; i++) {
        struct wb_task *task = &k.system->tasks[i];

        if (k.places[i].ready && k.places[i].core == core &&
            wb_sync_priority(&task->sync) >= floor &&
            (!best || wb_sync_priority(&task->sync) > wb_sync_priority(&best->sync)))
            best = task;
    }
    return best;
}

static void run(struct wb_task *task)
{
    place_of(task)->ready = false;
    k.current = task;
    wb_task_resumed(task, k.steps);
    swapcontext(&k.loop, &place_of(task)->context);
    k.current = NULL;
    switch (k.after) {
    case GO_READY:
        wb_task_paused(task, WB_TASK_READY, k.steps);
        place_of(task)->ready = true;
        break;
    case GO_BLOCKED:
        wb_task_paused(task, WB_TASK_BLOCKED, k.steps);
        break;
    case GO_AWAY:
        wb_task_departed(task, k.steps, k.steps);
        break;
    case GO_ENDED:
        wb_task_paused(task, WB_TASK_ENDED, k.steps);
        break;
    case GO_KILLED:
        CHECK(wb_core_died(k.system, k.core) == 0);
        break;
    }
}

static bool turn(uint32_t core)
{
    struct wb_task *task;

    if (wb_word_load(&k.system->cores[core]->state, WB_SEQ_CST) == WB_CORE_DEAD)
        return false;
    k.core = core;
    const bool served = wb_agent_serve(k.system->cores[core]) > 0;
    task = next_ready(core, 0);
    if (task)
        run(task);
    k.core = WB_CORE_NONE;
    return task || served;
}

static void move_some_task(void)
{
    struct wb_task *task = &k.system->tasks[k.steps % k.system->n_tasks];
    const enum wb_status asked =
        wb_migration_request(task, 1 - wb_task_core(task), WB_FOREVER, NULL);

    CHECK(asked == WB_OK || asked == WB_ERR_BUSY || asked == WB_ERR_GONE);
}

uint32_t one_process_run(struct wb_system *system, uint32_t kill_at, uint32_t move_every)
{
    uint32_t moved = 0;

    CHECK(system->n_tasks <= TASKS_MAX && system->n_cores == 2);
    k.system = system;
    k.core = WB_CORE_NONE;
    k.steps = 0;
    k.kill_at = kill_at;
    CHECK(wb_system_start(system, 0) == WB_OK);
    for (uint32_t i = 0; i < system->n_cores; i++)
        wb_word_store(&system->cores[i]->state, WB_CORE_UP, WB_SEQ_CST);
    while (wb_word_load(&system->live, WB_SEQ_CST) > 0) {
        const bool first = turn(0), second = turn(1);

        CHECK(first || second);
        if (move_every != NEVER && k.steps / move_every > moved) {
            moved = k.steps / move_every;
            move_some_task();
        }
    }
    return k.steps;
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return k.current;
}

uint32_t wb_kernel_core(void)
{
    return k.core;
}

uint64_t wb_kernel_now_ns(void)
{
    return k.steps;
}

static void enter(void)
{
    wb_task_main(k.current);
}

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    struct place *place = place_of(task);

    *place = (struct place){ 0 };
    CHECK(getcontext(&place->context) == 0);
    place->context.uc_stack.ss_sp = task->stack;
    place->context.uc_stack.ss_size = task->stack_bytes;
    makecontext(&place->context, enter, 0);
    return WB_OK;
}

void wb_kernel_attach(struct wb_task *task)
{
    struct place *place = place_of(task);

    place->core = k.core;
    place->blocked = false;
    place->ready = place->woken = true;
}

enum wb_status wb_kernel_depart(void)
{
    leave(GO_AWAY);
    return WB_OK;
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    struct place *place = place_of(k.current);

    (void)until_ns;
    if (!place->woken) {
        place->blocked = true;
        leave(GO_BLOCKED);
    }
    place->woken = false;
    return WB_OK;
}

void wb_kernel_unblock(struct wb_task *task)
{
    struct place *place = place_of(task);

    place->woken = true;
    place->ready = place->ready || place->blocked;
    place->blocked = false;
}

void wb_kernel_yield(uint32_t floor)
{
    (void)wb_agent_serve(k.system->cores[k.core]);
    if (next_ready(k.core, floor))
        leave(GO_READY);
}

bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    return false;
}

void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    (void)action;
    (void)units;
    if (k.current && ++k.steps == k.kill_at)
        leave(GO_KILLED);
}

void wb_kernel_capture(void)
{
    leave(GO_READY);  // no test of this kernel keeps images
}

void wb_kernel_exit(void)
{
    leave(GO_ENDED);
    abort();
}

void wb_kernel_halt(void)
{
    fprintf(stderr, "task %u: %s\n", k.system->fault.task, k.system->fault.text);
    exit(1);
}
