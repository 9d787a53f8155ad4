// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "kernel_threads.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { MEMORY_BYTES = 8 << 20, PERIOD_NS = 1000000, SPINS = 200, LIMIT_S = 240 };

struct thread_task {
    pthread_t thread;
    sem_t go;              // posted by the core that lets it run
    struct wb_core *core;  // that core
    struct wb_task *next, *next_timed;
    uint64_t until_ns;
    bool started, blocked, woken;
};

struct thread_core {
    sem_t back;  // posted by the task that stops running
    struct wb_task *ready, *timed;
    enum wb_task_state became;  // what that task is now; OFFERED: it departs
};

_Static_assert(sizeof(struct thread_task) <= WB_KERNEL_TASK_BYTES, "too large");
_Static_assert(sizeof(struct thread_core) <= WB_KERNEL_CORE_BYTES, "too large");

// Every checkpoint looks.
struct wb_word wb_kernel_need_resched = { { 1 } };

static _Alignas(4096) unsigned char memory[MEMORY_BYTES];
static struct wb_system *the_system;
static uint64_t began_ns;
static _Thread_local struct wb_core *here;
static _Thread_local struct wb_task *self;

static struct thread_task *of_task(struct wb_task *task)
{
    return (struct thread_task *)(void *)task->kernel;
}

static struct thread_core *of_core(struct wb_core *core)
{
    return (struct thread_core *)(void *)core->kernel;
}

// ---- Ready tasks and timed blocks of a core -----------------------------------------------------

static void push(struct wb_task *task)
{
    struct wb_task **link = &of_core(here)->ready;

    while (*link != NULL && wb_sync_priority(&(*link)->sync) >= wb_sync_priority(&task->sync))
        link = &of_task(*link)->next;
    of_task(task)->next = *link;
    *link = task;
}

static struct wb_task *pop(uint32_t floor)
{
    struct wb_task *task = of_core(here)->ready;

    if (task == NULL || wb_sync_priority(&task->sync) < floor)
        return NULL;
    of_core(here)->ready = of_task(task)->next;
    return task;
}

static void forget_time(struct wb_task *task)
{
    struct wb_task **link = &of_core(here)->timed;

    while (*link != NULL && *link != task)
        link = &of_task(*link)->next_timed;
    if (*link != NULL)
        *link = of_task(task)->next_timed;
}

static void serve(void)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    wb_agent_serve(here);
    (void)wb_agent_tick(here, now_ns);
    for (struct wb_task *task = of_core(here)->timed, *next; task != NULL; task = next) {
        next = of_task(task)->next_timed;
        if (of_task(task)->until_ns <= now_ns)
            wb_kernel_unblock(task);
    }
}

// ---- Turns --------------------------------------------------------------------------------------

static void leave(enum wb_task_state state)
{
    struct thread_task *tt = of_task(self);

    of_core(here)->became = state;
    sem_post(&of_core(here)->back);
    if (state == WB_TASK_ENDED)
        pthread_exit(NULL);
    sem_wait(&tt->go);
    here = tt->core;
}

static void *start(void *task)
{
    self = task;
    here = of_task(self)->core;
    wb_task_main(self);
}

static void finish(struct wb_task *task, enum wb_task_state state)
{
    if (state == WB_TASK_OFFERED)
        wb_task_departed(task, wb_kernel_now_ns(), wb_kernel_now_ns());
    else
        wb_task_paused(task, state, wb_kernel_now_ns());
    if (state == WB_TASK_READY)
        push(task);
    if (state == WB_TASK_ENDED)
        pthread_join(of_task(task)->thread, NULL);
}

static void run(struct wb_task *task)
{
    struct thread_task *tt = of_task(task);

    wb_task_resumed(task, wb_kernel_now_ns());
    tt->core = here;
    if (tt->started)
        sem_post(&tt->go);
    else
        CHECK(pthread_create(&tt->thread, NULL, start, task) == 0);
    tt->started = true;
    sem_wait(&of_core(here)->back);
    finish(task, of_core(here)->became);
}

static void *loop(void *core)
{
    const struct timespec pause = { .tv_nsec = 20000 };

    here = core;
    sem_init(&of_core(here)->back, 0, 0);
    wb_word_store(&here->state, WB_CORE_UP, WB_SEQ_CST);
    while (wb_word_load(&the_system->live, WB_SEQ_CST) != 0) {
        serve();
        struct wb_task *task = pop(0);
        if (task != NULL)
            run(task);
        else
            nanosleep(&pause, NULL);
    }
    wb_word_store(&here->state, WB_CORE_STOPPED, WB_SEQ_CST);
    return NULL;
}

// ---- For the tests ------------------------------------------------------------------------------

struct wb_system *threads_open(uint32_t cores)
{
    memset(memory, 0, sizeof memory);
    CHECK(wb_system_init(&the_system, memory, sizeof memory,
                         &(struct wb_system_config){ .cores = cores,
                                                     .tasks = 80,  // enough for an index of waiters
                                                     .channels = 8,
                                                     .ports = 32,
                                                     .core_align = WB_LINE_BYTES,
                                                     .agent_period_ns = PERIOD_NS,
                                                     .record_migrations = 16,
                                                     .offer_timeout_ns = 20000000,
                                                     .shared_bytes = 512 << 10 }) == WB_OK);
    return the_system;
}

void threads_run(void)
{
    pthread_t loops[8];

    alarm(LIMIT_S);
    CHECK(the_system->n_cores <= 8);
    began_ns = wb_kernel_now_ns();
    CHECK(wb_system_reserve(the_system) && wb_system_start(the_system, began_ns) == WB_OK);
    for (uint32_t i = 0; i < the_system->n_cores; i++)
        CHECK(pthread_create(&loops[i], NULL, loop, the_system->cores[i]) == 0);
    for (uint32_t i = 0; i < the_system->n_cores; i++)
        CHECK(pthread_join(loops[i], NULL) == 0);
    alarm(0);
}

bool threads_are_late(void)
{
    return wb_kernel_now_ns() - began_ns > 1000000000;
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return self;
}

uint32_t wb_kernel_core(void)
{
    return here != NULL ? here->index : WB_CORE_NONE;
}

uint64_t wb_kernel_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    sem_init(&of_task(task)->go, 0, 0);
    return WB_OK;
}

void wb_kernel_attach(struct wb_task *task)
{
    of_task(task)->blocked = false;
    of_task(task)->woken = true;
    push(task);
}

enum wb_status wb_kernel_depart(void)
{
    leave(WB_TASK_OFFERED);
    return WB_OK;
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    struct thread_task *tt = of_task(self);

    serve();
    if (!tt->woken && wb_kernel_now_ns() < until_ns) {
        tt->blocked = true;
        tt->until_ns = until_ns;
        if (until_ns != WB_FOREVER) {
            tt->next_timed = of_core(here)->timed;
            of_core(here)->timed = self;
        }
        leave(WB_TASK_BLOCKED);
    }
    tt->woken = false;
    return wb_kernel_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

void wb_kernel_unblock(struct wb_task *task)
{
    of_task(task)->woken = true;
    if (!of_task(task)->blocked)
        return;
    of_task(task)->blocked = false;
    forget_time(task);
    push(task);
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    struct wb_task **link = &of_core(here)->ready;

    while (*link != NULL && *link != task)
        link = &of_task(*link)->next;
    if (*link == NULL)
        return;
    *link = of_task(task)->next;
    push(task);
}

void wb_kernel_yield(uint32_t floor)
{
    serve();
    if (of_core(here)->ready != NULL && wb_sync_priority(&of_core(here)->ready->sync) >= floor)
        leave(WB_TASK_READY);
    else
        sched_yield();  // to the cores that share the processor
}

bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)until_ns;
    if (of_core(here)->ready != NULL || ++spin->turns > SPINS)
        return false;
    if (spin->turns % 16 == 0)
        sched_yield();
    return true;
}

void wb_kernel_capture(void)
{
    leave(WB_TASK_READY);  // no test on threads keeps images
}

void wb_kernel_exit(void)
{
    leave(WB_TASK_ENDED);
    __builtin_unreachable();
}

void wb_kernel_halt(void)
{
    wb_test_fail(__FILE__, __LINE__, the_system->fault.text);
}
