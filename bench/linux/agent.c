// SPDX-License-Identifier: Apache-2.0
// What an agent and the coordinator take from the application, against the limit that
// acquaviva2008 states for its daemons (section 6.1, figure 6: less than 0.25 % of a core of 100
// MHz at 100 Hz with 16 tasks).
//
// A task calls the tick of its kernel as if an hour had passed each time, and empties the caches
// before it, as an application would do in ten milliseconds. With and without a policy take turns;
// the difference is the coordinator's. The part of a core at each frequency follows from the time
// per tick; the interrupt that brings it about is the last row.

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "bench.h"

enum {
    TASKS_MOST = 16,
    STACK_BYTES = 64 << 10,
    CACHE_BYTES = 4 << 20,
    LIMIT_PPM = 2500,
    RATE_MILLIHZ = 450000,
};

static const uint64_t period_ns = 3600000000000;

struct shared {
    struct bench_samples *agent, *both;
    uint32_t wanted;
    unsigned char *cache;
};

static void empty_caches(volatile unsigned char *cache)
{
    for (uint32_t i = 0; i < CACHE_BYTES; i += 64)
        cache[i]++;
}

static void choose(struct wb_system *system, const struct wb_policy *policy)
{
    if (wb_system_set_policy(system, policy, NULL) != WB_OK)
        bench_fail("no policy can decide");
}

// `now_ns` is what the agent is told.
static void tick(const struct shared *shared, struct bench_samples *samples, uint64_t now_ns)
{
    struct wb_core *core = wb_kernel_self()->system->cores[0];

    empty_caches(shared->cache);
    const uint64_t from_ns = wb_now_ns();
    (void)wb_agent_tick(core, now_ns);
    bench_samples_add(samples, (double)(wb_now_ns() - from_ns));
}

static int tick_on(struct wb_task *self)
{
    const struct shared *shared = wb_task_app(self)->state;
    uint64_t now_ns = wb_now_ns();

    for (uint32_t i = 0; i < shared->wanted; i++) {
        choose(self->system, NULL);
        tick(shared, shared->agent, now_ns += period_ns);
        // The paper's policy: a look into a table for the frame rate.
        choose(self->system, wb_policy_find("table"));
        tick(shared, shared->both, now_ns += period_ns);
    }
    return 0;
}

static int come_and_go(struct wb_task *self)
{
    (void)self;
    return 0;
}

static void open_system(struct bench_system *b, const struct bench_options *options, uint32_t tasks)
{
    const struct wb_host_config config = {
        .system = { .cores = 1, .tasks = tasks, .agent_period_ns = period_ns },
        .memory_bytes = CACHE_BYTES + (4 << 20),
        .stacks_bytes = (size_t)tasks * STACK_BYTES,
        .cpus = options->cpu,
        .spin_ns = 0,
    };

    bench_open_as(b, &config);
    for (uint32_t i = 0; i < tasks; i++)
        bench_task_with(b, &(struct wb_task_config){
                               .name = "t", .index = i, .entry = i == 0 ? tick_on : come_and_go });
}

static void add_table(struct wb_system *system)
{
    static const uint32_t cores[TASKS_MOST], points[1];
    static const struct wb_table_row table[2] = {
        { RATE_MILLIHZ, points, cores },
        { 2 * RATE_MILLIHZ, points, cores },
    };

    system->control.rows = table;
    system->control.n_rows = 2;
    wb_system_set_rate(system, RATE_MILLIHZ);
}

static void measure(const struct bench_options *options, uint32_t tasks, struct shared *shared)
{
    struct bench_system b;

    open_system(&b, options, tasks);
    add_table(b.system);
    shared->cache = wb_app_alloc(&b.system->app, CACHE_BYTES);
    if (shared->cache == NULL)
        bench_fail("no memory");
    bench_run(&b, shared);
}

static void rows(const char *what, uint32_t tasks, const struct bench_samples *ticks,
                 double less_ns)
{
    static const uint32_t hz[] = { 1, 10, 100 };
    char name[64];

    for (uint32_t i = 0; i < 3; i++) {
        struct bench_samples *ppm = bench_samples_new(ticks->n);
        for (uint32_t j = 0; j < ticks->n; j++) {
            const double ns = ticks->ns[j] > less_ns ? ticks->ns[j] - less_ns : 0;
            bench_samples_add(ppm, ns * hz[i] / 1000);
        }
        snprintf(name, sizeof name, "%s.%uHz.%utasks", what, hz[i], tasks);
        bench_limit_row(name, "ppm", ppm, "limit of acquaviva2008", LIMIT_PPM);
    }
}

// ---- The interrupt ------------------------------------------------------------------------------

static void do_nothing(int number)
{
    (void)number;
}

// A timer's signal and setting the timer again, as kernels/linux/alarm.c does it, from a loop.
static void interrupt_row(const struct bench_options *options)
{
    struct bench_samples *ppm = bench_samples_new(options->rounds * options->samples / 80);
    struct sigaction action = { .sa_handler = do_nothing }, before;
    const struct itimerspec soon = { .it_value.tv_nsec = 1 };
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };

    if (sigaction(SIGRTMIN, &action, &before) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        bench_fail("no timer");
    bench_pin(options->cpu[0]);
    for (uint32_t i = 0; i < ppm->room; i++) {
        const uint64_t from_ns = wb_now_ns();
        timer_settime(timer, 0, &soon, NULL);
        // The signal has been handled when the timer is off again.
        struct itimerspec left;
        do
            timer_gettime(timer, &left);
        while (left.it_value.tv_nsec != 0);
        bench_samples_add(ppm, (double)(wb_now_ns() - from_ns) / 10);
    }
    bench_unpin();
    timer_delete(timer);
    sigaction(SIGRTMIN, &before, NULL);
    bench_limit_row("agent.100Hz.interrupt", "ppm", ppm, "limit of acquaviva2008", LIMIT_PPM);
}

void bench_agent(const struct bench_options *options)
{
    const uint32_t wanted = options->samples / 80;

    for (uint32_t tasks = 8; tasks <= TASKS_MOST; tasks += 8) {
        struct shared shared = { bench_samples_new(options->rounds * wanted),
                                 bench_samples_new(options->rounds * wanted), wanted, NULL };
        for (uint32_t round = 0; round < options->rounds; round++)
            measure(options, tasks, &shared);
        rows("agent", tasks, shared.agent, 0);
        rows("coordinator", tasks, shared.both, bench_samples_median(shared.agent));
        bench_samples_free(shared.agent);
        bench_samples_free(shared.both);
    }
    interrupt_row(options);
}
