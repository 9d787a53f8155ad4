// SPDX-License-Identifier: Apache-2.0
// Emulated frequencies on real kernels. Only bounds that hold on a busy machine are checked: a core
// may always be slower than it is emulated to be, never faster. It finds recreated.task beside
// itself.

#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "host.h"
#include "private.h"
#include "recreated.h"
#include "wb/launcher.h"
#include "wb/system.h"
#include "wb/wb.h"

enum { MS = 1000000, STACK_BYTES = 64 << 10, PATIENCE_MS = 60000 };

struct shared {                  // globally visible
    struct recreated recreated;  // first: programs know nothing else
    uint64_t ran_ns, took_ns;
    uint32_t points_seen[3];
    struct wb_word stage;
};

static const struct wb_point quarter[] = {
    { .hz = 100000000, .active_uw = 84000, .idle_uw = 84000 },
    { .hz = 400000000, .active_uw = 1000000, .idle_uw = 1000000 }
};
static const struct wb_point thousandth[] = { { .hz = 1000000 }, { .hz = 1000000000 } };
static struct wb_host *host;

// Two cores on one processor, the first of which begins at its lowest point.
static struct shared *open_cores(enum frequency_mode mode, const struct wb_point *points)
{
    static unsigned int cpus[2];
    const struct wb_host_config config = {
        .system = { .cores = 2, .tasks = 2, .channels = 1, .ports = 2 },
        .memory_bytes = 1 << 20,
        .stacks_bytes = (size_t)2 * STACK_BYTES,
        .cpus = cpus,
    };

    cpus[0] = cpus[1] = (unsigned int)sched_getcpu();  // one that is allowed
    frequency_use(mode);
    CHECK(wb_host_open(&host, &config) == WB_OK);
    struct wb_system *system = wb_host_system(host);
    CHECK(wb_core_set_points(system->cores[0], points, 2, 0) == WB_OK);
    CHECK(wb_core_set_points(system->cores[1], points, 2, 1) == WB_OK);
    system->app.state = wb_app_alloc(&system->app, sizeof(struct shared));
    CHECK(system->app.state != NULL);
    return system->app.state;
}

static struct wb_task *add(const char *name, wb_task_entry *entry, uint64_t deadline_ns)
{
    struct wb_task *task;
    const struct wb_task_config config = { .name = name,
                                           .entry = entry,
                                           .migratable = true,
                                           .stack = wb_host_stack(host, STACK_BYTES),
                                           .stack_bytes = STACK_BYTES,
                                           .heap_bytes = 4096,
                                           .period_ns = deadline_ns };

    CHECK(wb_task_add(wb_host_system(host), &config, &task) == WB_OK);
    return task;
}

static int no_entry(struct wb_task *self)
{
    wb_task_fail(self, "it has the entry of its program");
}

// As add(), but recreated: it lives in a process of its own.
static struct wb_task *add_hosted(const char *entry, uint64_t deadline_ns)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    struct wb_task *task = add(entry, no_entry, deadline_ns);

    CHECK(n > 0);
    path[n] = '\0';
    strcpy(strrchr(path, '/') + 1, "recreated.task");
    task->mode = WB_RECREATE;
    task->restart = true;
    CHECK(wb_host_program(host, path) == WB_OK);
    CHECK(wb_host_recreates(host, task, entry, path, sizeof path) == WB_OK);
    return task;
}

static void run(void)
{
    uint32_t bad_core;

    CHECK(wb_host_start(host, &bad_core) == WB_OK);
    CHECK(wb_host_wait(host, PATIENCE_MS).kind == WB_HOST_ENDED);
}

static uint64_t processor_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void compute_ns(uint64_t ns)
{
    const uint64_t end_ns = processor_ns() + ns;

    while (processor_ns() < end_ns)
        ;
}

static int worker(struct wb_task *self)
{
    struct shared *s = wb_task_app(self)->state;
    const uint64_t began_ns = wb_now_ns(), ran_ns = processor_ns();

    while (wb_now_ns() - began_ns < 400 * MS)
        wb_checkpoint();
    s->ran_ns = processor_ns() - ran_ns;
    s->took_ns = wb_now_ns() - began_ns;
    return 0;
}

// Beyond its part: a slice, and what it may make good.
static bool ran_its_part(uint64_t ran_ns, uint64_t took_ns)
{
    return took_ns != 0 && ran_ns <= took_ns / 4 + 20 * MS;
}

static bool worker_runs_its_part(void)
{
    const struct shared *s = open_cores(FREQUENCY_EMULATE, quarter);
    const struct wb_task *task = add("worker", worker, 0);

    run();
    const bool part = ran_its_part(s->ran_ns, s->took_ns);
    CHECK(wb_counter_get(&task->stats.busy_ns) >= s->took_ns);
    wb_host_close(host);
    return part;
}

// An interruption at the end, charged to the task, is not made good any more. A busy machine
// interrupts again and again; a core that does not slow its tasks never holds.
static bool once_in_fifty(bool holds(void))
{
    for (int i = 0; i < 50; i++)
        if (holds())
            return true;
    return false;
}

TEST(an_emulated_core_runs_its_tasks_for_their_part_of_the_time)
{
    CHECK(once_in_fifty(worker_runs_its_part));
}

TEST(without_a_way_to_set_points_nothing_is_slowed)
{
    struct shared *s = open_cores(FREQUENCY_NONE, thousandth);

    add("worker", worker, 0);
    run();
    CHECK(s->took_ns < 10000ull * MS);
    wb_host_close(host);
}

static int jobs(struct wb_task *self)
{
    compute_ns(20 * MS);
    (void)wb_period_wait(self);
    return 0;
}

TEST(a_job_is_late_by_what_an_emulated_core_takes_longer)
{
    open_cores(FREQUENCY_EMULATE, quarter);
    const struct wb_task *task = add("jobs", jobs, 40 * MS);

    run();
    CHECK(wb_counter_get(&task->stats.misses) == 1);
    CHECK(wb_stamp_get(&task->stats.worst_late_ns) >= 30 * MS);
    wb_host_close(host);
}

static bool program_runs_its_part(void)
{
    const struct recreated *s = (struct recreated *)open_cores(FREQUENCY_EMULATE, quarter);

    add_hosted("computer", 0);
    run();
    const bool part = ran_its_part(s->ran_ns, s->took_ns);
    wb_host_close(host);
    return part;
}

TEST(an_emulated_core_runs_the_program_of_a_task_for_its_part_of_the_time)
{
    CHECK(once_in_fifty(program_runs_its_part));
}

TEST(a_job_of_a_program_is_late_by_what_an_emulated_core_takes_longer)
{
    open_cores(FREQUENCY_EMULATE, quarter);
    const struct wb_task *task = add_hosted("worker", 40 * MS);

    run();
    CHECK(wb_counter_get(&task->stats.misses) == 1);
    CHECK(wb_stamp_get(&task->stats.worst_late_ns) >= 30 * MS);
    wb_host_close(host);
}

static int debtor(struct wb_task *self)
{
    struct shared *s = wb_task_app(self)->state;

    compute_ns(30 * MS);
    wb_word_store(&s->stage, 1, WB_SEQ_CST);
    while (wb_task_core(self) == 0) {
        wb_sleep_until(wb_now_ns() + MS);
        wb_checkpoint();
    }
    return 0;
}

TEST(a_task_departs_at_once_though_its_core_owes_for_it)
{
    struct shared *s = open_cores(FREQUENCY_EMULATE, thousandth);
    struct wb_task *task = add("debtor", debtor, 0);
    uint32_t bad_core;

    CHECK(wb_host_start(host, &bad_core) == WB_OK);
    while (wb_word_load(&s->stage, WB_SEQ_CST) == 0)
        CHECK(wb_host_wait(host, 5).kind == WB_HOST_NOTHING);
    CHECK(wb_migration_request(task, 1, (uint64_t)PATIENCE_MS * MS, NULL) == WB_OK);
    CHECK(wb_host_wait(host, PATIENCE_MS).kind == WB_HOST_ENDED);
    // 30 ms a thousand times over.
    CHECK(clock_now_ns() < 25000ull * MS);
    CHECK(wb_counter_get(&task->stats.migrations) == 1);
    wb_host_close(host);
}

static int switcher(struct wb_task *self)
{
    struct shared *s = wb_task_app(self)->state;
    const struct wb_core *core = self->system->cores[0];

    s->points_seen[0] = wb_word_load(&core->point, WB_SEQ_CST);
    compute_ns(2 * MS);
    wb_kernel_set_point(1);
    s->points_seen[1] = wb_word_load(&core->point, WB_SEQ_CST);
    compute_ns(2 * MS);
    wb_kernel_set_point(7);
    s->points_seen[2] = wb_word_load(&core->point, WB_SEQ_CST);
    return 0;
}

TEST(a_core_says_which_point_it_has_taken_and_ignores_one_that_is_none)
{
    const struct shared *s = open_cores(FREQUENCY_EMULATE, quarter);
    const struct wb_core *core = wb_host_system(host)->cores[0];

    add("switcher", switcher, 0);
    run();
    CHECK(s->points_seen[0] == 0 && s->points_seen[1] == 1 && s->points_seen[2] == 1);
    for (uint32_t i = 0; i < 2; i++)
        CHECK(wb_core_residence(core, i, clock_now_ns()).active_ns >= 2 * MS);
    wb_host_close(host);
}

TEST(points_stay_where_they_are_when_nothing_sets_them)
{
    const struct shared *s = open_cores(FREQUENCY_NONE, quarter);

    add("switcher", switcher, 0);
    run();
    CHECK(s->points_seen[0] == 0 && s->points_seen[1] == 0);
    wb_host_close(host);
}
