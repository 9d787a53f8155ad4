// SPDX-License-Identifier: Apache-2.0
// Policies on real kernels: agents report also what computes without leaving its core, decisions
// are carried out, and a coordinator that is killed is replaced.

#include "suite.h"

enum { PERIOD_NS = 2000000, WORKERS = 4, COORDINATOR = 1 };

struct state {
    struct wb_word done;
    struct wb_word queue;     // the task that is to move reaches no checkpoint while it is 0
    struct wb_word arrivals;  // times that it found itself on another core
};

static struct harness *open_cores(uint32_t cores)
{
    return suite_open_with(&(struct harness_config){ .cores = cores,
                                                     .poll_ns = 20000,
                                                     .agent_period_ns = PERIOD_NS,
                                                     .coordinator = COORDINATOR },
                           sizeof(struct state));
}

static void let(struct harness *h, const struct wb_policy *policy, int64_t param)
{
    int64_t params[WB_POLICY_PARAMS] = { param };

    if (policy->n_params > 1)
        wb_policy_defaults(policy, params);
    CHECK(wb_system_set_policy(harness_system(h), policy, params) == WB_OK);
}

// Supervises until a counter is above `least`.
static void wait_above(struct harness *h, const struct wb_word *word, uint32_t least)
{
    for (uint32_t ms = 0; wb_word_load(word, WB_SEQ_CST) <= least; ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    }
}

// ---- Loads --------------------------------------------------------------------------------------

static int compute(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint32_t home = wb_task_core(self);

    while (wb_word_load(&s->done, WB_SEQ_CST) == 0) {
        suite_compute(50000);
        wb_checkpoint();
        wb_yield();
        if (wb_task_core(self) != home)
            wb_word_store(&s->arrivals, 1, WB_SEQ_CST);
    }
    return 0;
}

static void add_workers(struct harness *h)
{
    static const char *const names[WORKERS] = { "w0", "w1", "w2", "w3" };

    for (uint32_t i = 0; i < WORKERS; i++)
        suite_task(
            h, &(struct wb_task_config){ .name = names[i], .entry = compute, .migratable = true });
}

static void ends_up_on_both_cores(const char *policy)
{
    struct harness *h = open_cores(2);
    struct state *s = suite_state(h);

    add_workers(h);
    let(h, wb_policy_find(policy), 0);
    harness_start(h);
    suite_wait_for(h, &s->arrivals, 1);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    suite_wait(h);
    harness_close(h);
}

TEST(balance_moves_a_task_off_an_overloaded_kernel)
{
    ends_up_on_both_cores("balance");
}

TEST(kernels_that_gossip_need_no_coordinator)
{
    ends_up_on_both_cores("gossip");
}

// The one task of core 0 never gives it up and makes no call but checkpoints; core 1 has none.
static int never_leave(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (wb_word_load(&s->done, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        suite_relax();
    }
    return 0;
}

TEST(agents_report_of_a_kernel_that_only_computes_and_of_one_that_only_sleeps)
{
    struct harness *h = open_cores(2);
    struct state *s = suite_state(h);
    struct wb_system *system = harness_system(h);
    const struct wb_task *task =
        suite_task(h, &(struct wb_task_config){ .name = "t", .entry = never_leave });

    harness_start(h);
    for (uint32_t i = 0; i < 2; i++)
        wait_above(h, &system->cores[i]->report.periods, 5);
    wait_above(h, &task->report.load_ppm, 900000);
    wait_above(h, &task->report.context_bytes, 0);
    CHECK(wb_word_load(&system->cores[1]->report.load_ppm, WB_SEQ_CST) == 0);
    CHECK(harness_preempts() || wb_counter_get(&task->stats.busy_ns) == 0);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    suite_wait(h);
    harness_close(h);
}

// ---- A coordinator that is killed ---------------------------------------------------------------

static void to_core(const struct wb_snapshot *snapshot, const int64_t *params,
                    struct wb_decision *decision)
{
    const uint32_t core = (uint32_t)params[0];

    if (snapshot->tasks[0].movable && snapshot->tasks[0].core != core)
        wb_decide_move(decision, 0, core);
}

static const struct wb_policy to_core_policy = { .name = "to_core",
                                                 .n_params = 1,
                                                 .decide = to_core };

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t core = wb_task_core(self);

    while (wb_word_load(&s->done, WB_SEQ_CST) == 0) {
        if (wb_word_load(&s->queue, WB_SEQ_CST) != 0)
            wb_checkpoint();
        suite_relax();
        if (wb_task_core(self) != core)
            wb_word_store(&s->arrivals, wb_word_load(&s->arrivals, WB_SEQ_CST) + 1, WB_SEQ_CST);
        core = wb_task_core(self);
    }
    return 0;
}

static struct wb_task *open_mover(struct harness **h)
{
    *h = open_cores(3);
    return suite_task(*h,
                      &(struct wb_task_config){
                          .name = "mover", .entry = mover, .migratable = true, .restart = true });
}

static void wait_for_core(struct harness *h, const struct wb_task *task, uint32_t core)
{
    for (uint32_t ms = 0; wb_task_core(task) != core; ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    }
}

TEST(a_migration_outlives_the_coordinator_that_asked_for_it)
{
    struct harness *h;
    const struct wb_task *task = open_mover(&h);
    struct state *s = suite_state(h);

    let(h, &to_core_policy, 2);
    harness_start(h);
    for (uint32_t ms = 0; !wb_migration_pending(task); ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    }
    if (!suite_kill(h, COORDINATOR))
        return;
    wb_word_store(&s->queue, 1, WB_SEQ_CST);
    wait_for_core(h, task, 2);
    // Its successor takes the policy as it is changed now.
    let(h, &to_core_policy, 0);
    wait_for_core(h, task, 0);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    suite_wait(h);
    harness_close(h);
}

TEST(a_coordinator_killed_at_any_time_is_replaced)
{
    uint32_t random = 77;

    for (uint32_t i = 0; i < suite_count(20); i++) {
        struct harness *h;
        (void)open_mover(&h);
        struct state *s = suite_state(h);

        wb_word_store(&s->queue, 1, WB_SEQ_CST);
        let(h, &suite_onwards, 0);
        harness_start(h);
        wait_above(h, &s->arrivals, 2);
        suite_compute(suite_random(&random) % (2 * PERIOD_NS));
        if (!suite_kill(h, COORDINATOR))
            return;
        const uint32_t arrivals = wb_word_load(&s->arrivals, WB_SEQ_CST);
        wait_above(h, &s->arrivals, arrivals + 3);
        CHECK(wb_word_load(&harness_system(h)->control.coordinator, WB_SEQ_CST) != COORDINATOR);
        wb_word_store(&s->done, 1, WB_SEQ_CST);
        suite_wait(h);
        harness_close(h);
    }
}

// ---- Changes while it runs ----------------------------------------------------------------------

TEST(a_policy_changed_at_run_time_decides_from_then_on)
{
    struct harness *h;
    const struct wb_task *task = open_mover(&h);
    struct state *s = suite_state(h);

    wb_word_store(&s->queue, 1, WB_SEQ_CST);
    harness_start(h);
    wait_above(h, &harness_system(h)->cores[COORDINATOR]->report.periods, 3);
    CHECK(wb_word_load(&s->arrivals, WB_SEQ_CST) == 0);
    for (uint32_t i = 0; i < 6; i++) {
        let(h, &to_core_policy, (i + 1) % 3);
        wait_for_core(h, task, (i + 1) % 3);
    }
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    suite_wait(h);
    harness_close(h);
}
