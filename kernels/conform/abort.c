// SPDX-License-Identifier: Apache-2.0
// A migration that is broken off at each of its steps, by a time limit or by a death: the task runs
// on somewhere, and nobody waits for ever.

#include "suite.h"

enum { SOURCE, TARGET, ASKERS };

struct state {
    struct wb_word busy_runs, release_busy;      // the task that keeps the target busy
    struct wb_word victim_runs, release_victim;  // in front of the victim's checkpoint
    struct wb_word asked, end;
    WB_STORED(int32_t) answer;
    struct wb_swapped beats;  // the victim's checkpoints
};

// Keeps its core from looking at its inbox.
static int busy(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    harness_irq_save(true);
    wb_word_store(&s->busy_runs, 1, WB_SEQ_CST);
    while (wb_word_load(&s->release_busy, WB_SEQ_CST) == 0)
        suite_relax();
    harness_irq_save(false);
    return 0;
}

static int victim(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    wb_word_store(&s->victim_runs, 1, WB_SEQ_CST);
    while (wb_word_load(&s->release_victim, WB_SEQ_CST) == 0)
        suite_relax();
    while (wb_word_load(&s->end, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        wb_word_add(&s->beats, 1, WB_SEQ_CST);
        suite_relax();
    }
    return 0;
}

static int asker(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = wb_task_find(wb_task_app(self), "victim", 0);

    while (wb_word_load(&s->victim_runs, WB_SEQ_CST) == 0 ||
           wb_word_load(&s->busy_runs, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    wb_word_store(&s->asked, 1, WB_SEQ_CST);
    wb_word_store(&s->answer, wb_migrate(task, TARGET, WB_FOREVER), WB_SEQ_CST);
    wb_word_store(&s->asked, 2, WB_SEQ_CST);
    return 0;
}

// The victim on the source, a task that keeps the target busy, and one that asks from elsewhere.
static struct harness *open_three(uint64_t offer_timeout_ns)
{
    struct harness *h = suite_open_with(
        &(struct harness_config){
            .cores = 3, .poll_ns = 20000, .offer_timeout_ns = offer_timeout_ns },
        sizeof(struct state));

    suite_task(h, &(struct wb_task_config){
                      .name = "victim", .entry = victim, .core = SOURCE, .migratable = true });
    suite_task(h, &(struct wb_task_config){
                      .name = "busy", .entry = busy, .core = TARGET, .priority = 12 });
    suite_task(h, &(struct wb_task_config){
                      .name = "asker", .entry = asker, .core = ASKERS, .priority = 12 });
    return h;
}

static struct wb_task *victim_of(struct harness *h)
{
    return wb_task_find(&harness_system(h)->app, "victim", 0);
}

// Everything runs, the request is made, and the victim is short of its checkpoint.
static void start_and_ask(struct harness *h)
{
    harness_start(h);
    // Whole, that is: who is killed while it writes a request has asked for nothing.
    while (!wb_migration_requested(victim_of(h)))
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
}

// The victim is parked, and the target does not come to take it.
static void start_and_offer(struct harness *h)
{
    struct state *s = suite_state(h);

    start_and_ask(h);
    wb_word_store(&s->release_victim, 1, WB_SEQ_CST);
    suite_wait_for_state(h, victim_of(h), WB_TASK_OFFERED);
}

// The victim still does its work, on `core`, and everything comes to its end.
static void expect_it_runs_on(struct harness *h, uint32_t core)
{
    struct state *s = suite_state(h);
    const uint32_t beats = wb_word_load(&s->beats, WB_SEQ_CST);

    for (uint32_t ms = 0; wb_word_load(&s->beats, WB_SEQ_CST) < beats + 3; ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    }
    CHECK(wb_task_core(victim_of(h)) == core);
    CHECK(!wb_migration_pending(victim_of(h)));
    wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
    wb_word_store(&s->end, 1, WB_SEQ_CST);
    suite_wait(h);
}

// ---- Withdrawn ----------------------------------------------------------------------------------

TEST(a_request_withdrawn_before_the_checkpoint_leaves_the_task_on_its_source)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_ask(h);
    wb_migration_cancel(victim_of(h), WB_ERR_TIMEOUT);
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_TIMEOUT);
    wb_word_store(&s->release_victim, 1, WB_SEQ_CST);
    expect_it_runs_on(h, SOURCE);
    CHECK(wb_task_migrations(victim_of(h)) == 0);
    harness_close(h);
}

TEST(an_offer_that_a_busy_target_does_not_take_in_time_goes_back)
{
    struct harness *h = open_three(3000000);
    struct state *s = suite_state(h);

    start_and_ask(h);
    wb_word_store(&s->release_victim, 1, WB_SEQ_CST);
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_TIMEOUT);
    // It had left: otherwise there was nothing to take back.
    CHECK(wb_counter_get(&victim_of(h)->stats.refused) == 1);
    expect_it_runs_on(h, SOURCE);
    harness_close(h);
}

TEST(an_offer_that_is_withdrawn_goes_back_with_the_reason)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_offer(h);
    wb_migration_cancel(victim_of(h), WB_ERR_GONE);
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_GONE);
    expect_it_runs_on(h, SOURCE);
    harness_close(h);
}

TEST(an_offer_is_taken_when_the_target_comes_to_look)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_offer(h);
    wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_OK);
    expect_it_runs_on(h, TARGET);
    harness_close(h);
}

TEST(withdrawing_and_taking_at_the_same_time_has_one_winner)
{
    const uint32_t rounds = suite_count(25);
    uint32_t random = 9;

    for (uint32_t i = 0; i < rounds; i++) {
        struct harness *h = open_three(0);
        struct state *s = suite_state(h);

        start_and_offer(h);
        wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
        suite_compute(suite_random(&random) % 20000);
        wb_migration_cancel(victim_of(h), WB_ERR_TIMEOUT);
        suite_wait_for(h, &s->asked, 2);
        const bool moved = wb_word_load(&s->answer, WB_SEQ_CST) == WB_OK;
        CHECK(moved || wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_TIMEOUT);
        expect_it_runs_on(h, moved ? TARGET : SOURCE);
        CHECK(wb_task_migrations(victim_of(h)) == moved);
        harness_close(h);
    }
}

// ---- Killed -------------------------------------------------------------------------------------

TEST(a_target_killed_before_the_checkpoint_leaves_the_task_on_its_source)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_ask(h);
    if (!suite_kill(h, TARGET))
        return;
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_GONE);
    wb_word_store(&s->release_victim, 1, WB_SEQ_CST);
    expect_it_runs_on(h, SOURCE);
    harness_close(h);
}

TEST(a_target_killed_before_it_takes_the_offer_gives_the_task_back)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_offer(h);
    if (!suite_kill(h, TARGET))
        return;
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_GONE);
    expect_it_runs_on(h, SOURCE);
    harness_close(h);
}

TEST(a_source_killed_after_the_offer_does_not_take_the_task_along)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_offer(h);
    if (!suite_kill(h, SOURCE))
        return;
    wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_OK);
    expect_it_runs_on(h, TARGET);
    harness_close(h);
}

TEST(an_offer_withdrawn_after_its_source_was_killed_ends_on_a_living_core)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_offer(h);
    if (!suite_kill(h, SOURCE))
        return;
    wb_migration_cancel(victim_of(h), WB_ERR_TIMEOUT);
    wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
    suite_wait_for(h, &s->asked, 2);
    expect_it_runs_on(h, wb_task_core(victim_of(h)));
    CHECK(wb_task_core(victim_of(h)) != SOURCE);
    harness_close(h);
}

TEST(an_offer_whose_source_and_target_are_killed_ends_on_the_last_core)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_offer(h);
    if (!suite_kill(h, SOURCE))
        return;
    CHECK(suite_kill(h, TARGET));
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_GONE);
    expect_it_runs_on(h, ASKERS);
    harness_close(h);
}

TEST(a_source_killed_before_the_checkpoint_answers_the_requester)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_ask(h);
    if (!suite_kill(h, SOURCE))
        return;
    suite_wait_for(h, &s->asked, 2);
    CHECK(wb_word_load(&s->answer, WB_SEQ_CST) == WB_ERR_GONE);
    CHECK(wb_task_state_of(wb_word_load(&victim_of(h)->owner_state, WB_SEQ_CST)) == WB_TASK_LOST);
    wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
    suite_wait(h);
    harness_close(h);
}

TEST(a_requester_killed_meanwhile_holds_nothing_up)
{
    struct harness *h = open_three(0);
    struct state *s = suite_state(h);

    start_and_ask(h);
    if (!suite_kill(h, ASKERS))
        return;
    wb_word_store(&s->release_busy, 1, WB_SEQ_CST);
    wb_word_store(&s->release_victim, 1, WB_SEQ_CST);
    while (wb_migration_pending(victim_of(h)))
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    expect_it_runs_on(h, TARGET);
    harness_close(h);
}
