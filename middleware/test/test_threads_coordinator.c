// SPDX-License-Identifier: Apache-2.0
// Agents, coordinator and launcher at once: reports, decisions and changes of the policy that
// really race.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"

enum { CORES = 3, WORKERS = 4, MOVES = 30, CHANGES = 2000 };

static struct wb_task *workers[WORKERS];
static struct wb_swapped inside[WORKERS];  // how many cores run the worker
static struct wb_swapped changes;

static bool is_over(void)
{
    if (wb_word_load(&changes, WB_SEQ_CST) < CHANGES)
        return false;
    for (int i = 0; i < WORKERS; i++)
        if (wb_task_migrations(workers[i]) < MOVES)
            return false;
    return true;
}

static int work(struct wb_task *self)
{
    while (!is_over()) {
        CHECK(wb_word_add(&inside[self->id], 1, WB_SEQ_CST) == 0);
        CHECK(wb_word_sub(&inside[self->id], 1, WB_SEQ_CST) == 1);
        wb_checkpoint();
        wb_yield();
    }
    return 0;
}

// Both halves of each parameter are of one choice: they are alike in all of them.
static void check_params(const int64_t *params, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        CHECK((uint32_t)params[i] == (uint32_t)((uint64_t)params[i] >> 32));
        CHECK(params[i] == params[0]);
    }
}

static void rotate(const struct wb_snapshot *snapshot, const int64_t *params,
                   struct wb_decision *decision)
{
    check_params(params, 3);
    CHECK(params[0] % 2 == 0);
    for (uint32_t i = 0; i < WORKERS; i++)
        if (snapshot->tasks[i].movable)
            wb_decide_move(decision, i, (snapshot->tasks[i].core + 1) % snapshot->n_cores);
}

static void pass_on(const struct wb_snapshot *snapshot, const int64_t *params,
                    struct wb_decision *decision)
{
    check_params(params, 2);
    CHECK(params[0] % 2 == 1);
    for (uint32_t i = 0; i < WORKERS; i++)
        if (snapshot->tasks[i].movable && snapshot->tasks[i].core == snapshot->self)
            wb_decide_move(decision, i, (snapshot->self + 1) % snapshot->n_cores);
}

static const struct wb_policy global = { .name = "rotate", .n_params = 3, .decide = rotate };
static const struct wb_policy local = {
    .name = "pass_on", .local = true, .n_params = 2, .decide = pass_on
};

static void choose(struct wb_system *system, uint32_t n)
{
    const int64_t value = (int64_t)((uint64_t)n << 32 | n);
    const int64_t params[3] = { value, value, value };

    CHECK(wb_system_set_policy(system, n % 2 == 0 ? &global : &local, params) == WB_OK);
}

// The launcher's part, played by a task: there is one writer.
static int change(struct wb_task *self)
{
    while (!is_over()) {
        choose(self->system, wb_word_add(&changes, 1, WB_SEQ_CST) + 2);
        wb_system_set_rate(self->system, wb_word_load(&changes, WB_SEQ_CST));
        wb_sleep_until(wb_now_ns() + 50000);
    }
    return 0;
}

TEST(policies_change_and_tasks_move_while_agents_report)
{
    static const char *const names[] = { "worker 0", "worker 1", "worker 2", "worker 3" };
    struct wb_system *s = threads_open(CORES);

    for (uint32_t i = 0; i < WORKERS; i++)
        workers[i] = build_task(s, names[i], i % CORES, 2, work);
    build_task(s, "changer", 0, 3, change);
    choose(s, 2);
    threads_run();

    for (int i = 0; i < WORKERS; i++)
        CHECK(wb_task_migrations(workers[i]) >= MOVES);
    for (uint32_t i = 0; i < CORES; i++)
        CHECK(wb_word_load(&s->cores[i]->report.periods, WB_SEQ_CST) > 0);
}
