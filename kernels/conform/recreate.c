// SPDX-License-Identifier: Apache-2.0
// Tasks that are recreated: they take their memory along, lose no message, and whatever is killed
// on the way, they run on. Skipped where a kernel loads no programs.

#include "recreate.h"

#include <string.h>

enum { HEAP_BYTES = 64 << 10 };

static int no_entry(struct wb_task *self)
{
    suite_fail(self, __FILE__, __LINE__, "a task that is hosted has the entry of its program");
}

struct harness *recreate_open(uint32_t cores)
{
    return suite_open_with(&(struct harness_config){ .cores = cores, .poll_ns = 20000 },
                           sizeof(struct recreated));
}

struct wb_task *recreate_add(struct harness *h, const char *name, uint32_t core)
{
    if ((wb_kernel_can() & WB_CAN_RECREATE) == 0) {
        wb_test_skip("no program can be loaded here");
        harness_close(h);
        return NULL;
    }
    struct wb_task *task = suite_task(h, &(struct wb_task_config){ .name = name,
                                                                   .entry = no_entry,
                                                                   .core = core,
                                                                   .migratable = true,
                                                                   .restart = true,
                                                                   .mode = WB_RECREATE,
                                                                   .heap_bytes = HEAP_BYTES });

    if (harness_host(h, task, name))
        return task;
    wb_test_skip("no program was built for this processor");
    harness_close(h);
    return NULL;
}

bool recreate_in_processes(void)
{
    if (!harness_has_processes())
        wb_test_skip("a recreated task does not get its own process here");
    return harness_has_processes();
}

void recreate_wait_for_steps(struct harness *h, uint32_t more)
{
    const struct recreated *s = suite_state(h);
    const uint32_t steps = wb_word_load(&s->steps, WB_SEQ_CST);

    for (uint32_t ms = 0; wb_word_load(&s->steps, WB_SEQ_CST) < steps + more; ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        suite_go_on(h);
    }
}

enum wb_status recreate_move(struct harness *h, struct wb_task *task, uint32_t core)
{
    CHECK(wb_migration_request(task, core, WB_FOREVER, NULL) == WB_OK);
    for (uint32_t ms = 0; wb_migration_pending(task); ms++) {
        CHECK(ms < SUITE_LIMIT_MS);
        suite_go_on(h);
    }
    return wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST));
}

static struct harness *open_one(const char *name, struct wb_task **task)
{
    struct harness *h = recreate_open(2);

    *task = recreate_add(h, name, 0);
    return *task != NULL ? h : NULL;
}

static void end(struct harness *h)
{
    struct recreated *s = suite_state(h);

    wb_word_store(&s->end, 1, WB_SEQ_CST);
    suite_wait(h);
    CHECK(harness_programs(h) == 0);
    harness_close(h);
}

TEST(a_recreated_task_has_its_memory_on_the_target)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t target = (i + 1) % 2;
        recreate_wait_for_steps(h, 3);
        CHECK(recreate_move(h, task, target) == WB_OK);
        recreate_wait_for_steps(h, 3);
        CHECK(wb_word_load(&s->core, WB_SEQ_CST) == target && wb_task_core(task) == target);
    }
    CHECK(wb_word_load(&s->fresh, WB_SEQ_CST) == 1 &&
          wb_word_load(&s->incarnation, WB_SEQ_CST) == 9);
    CHECK(wb_task_migrations(task) == 8 && task->restarts == 0);
    CHECK(harness_programs(h) == 1);
    end(h);
}

TEST(a_recreation_waits_while_the_task_holds_a_mutex)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    wb_word_store(&s->hold, 1, WB_SEQ_CST);
    harness_start(h);
    recreate_wait_for_steps(h, 2);
    CHECK(recreate_move(h, task, 1) == WB_ERR_HELD);
    recreate_wait_for_steps(h, 2);
    CHECK(wb_task_core(task) == 0 && wb_word_load(&s->incarnation, WB_SEQ_CST) == 1);
    end(h);
}

TEST(a_recreation_that_finds_the_transfer_buffer_taken_leaves_the_task_on_its_source)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    recreate_wait_for_steps(h, 2);
    wb_word_store(&harness_system(h)->transfer_owner, 99, WB_SEQ_CST);
    CHECK(recreate_move(h, task, 1) == WB_ERR_FULL);
    recreate_wait_for_steps(h, 2);
    CHECK(wb_task_core(task) == 0 && wb_word_load(&s->incarnation, WB_SEQ_CST) == 1);
    wb_word_store(&harness_system(h)->transfer_owner, 0, WB_SEQ_CST);
    CHECK(recreate_move(h, task, 1) == WB_OK);
    end(h);
}

// ---- Broken off ---------------------------------------------------------------------------------

TEST(a_target_without_memory_leaves_a_recreated_task_on_its_source)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    recreate_wait_for_steps(h, 2);
    // Before, it would not even start.
    suite_wait_for(h, &harness_system(h)->cores[1]->state, WB_CORE_UP);
    if (!harness_starve(h, 1, true)) {
        wb_test_skip("a kernel's memory cannot be limited here");
        end(h);
        return;
    }
    CHECK(recreate_move(h, task, 1) == WB_ERR_NOMEM);
    recreate_wait_for_steps(h, 2);
    CHECK(wb_task_core(task) == 0 && wb_word_load(&s->fresh, WB_SEQ_CST) == 1);
    CHECK(harness_starve(h, 1, false));
    CHECK(recreate_move(h, task, 1) == WB_OK);
    recreate_wait_for_steps(h, 2);
    CHECK(wb_task_core(task) == 1 && wb_word_load(&s->fresh, WB_SEQ_CST) == 1);
    end(h);
}

// Keeps its core from looking at its inbox, and the victim on offer.
static int busy(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);

    harness_irq_save(true);
    wb_word_store(&s->busy, 1, WB_SEQ_CST);
    while (wb_word_load(&s->release, WB_SEQ_CST) == 0)
        suite_relax();
    harness_irq_save(false);
    return 0;
}

// The task is parked, its process is gone, and the target does not come to take it.
static struct harness *open_offered(struct wb_task **task)
{
    struct harness *h = open_one("stepper", task);

    if (h == NULL)
        return NULL;
    struct recreated *s = suite_state(h);
    suite_task(
        h, &(struct wb_task_config){ .name = "busy", .entry = busy, .core = 1, .priority = 12 });
    harness_start(h);
    suite_wait_for(h, &s->busy, 1);
    recreate_wait_for_steps(h, 2);
    CHECK(wb_migration_request(*task, 1, WB_FOREVER, NULL) == WB_OK);
    suite_wait_for_state(h, *task, WB_TASK_OFFERED);
    CHECK(harness_programs(h) == 0);
    return h;
}

TEST(a_recreated_task_whose_offer_is_withdrawn_has_its_memory_on_its_source_again)
{
    struct wb_task *task;
    struct harness *h = open_offered(&task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    recreate_wait_for_steps(h, 3);
    CHECK(wb_task_core(task) == 0 &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_TIMEOUT);
    CHECK(wb_word_load(&s->fresh, WB_SEQ_CST) == 1 &&
          wb_word_load(&s->incarnation, WB_SEQ_CST) == 2);
    wb_word_store(&s->release, 1, WB_SEQ_CST);
    end(h);
}

TEST(a_source_killed_after_the_checkpoint_does_not_take_the_memory_along)
{
    struct wb_task *task;
    struct harness *h = open_offered(&task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    if (!suite_kill(h, 0))
        return;
    wb_word_store(&s->release, 1, WB_SEQ_CST);
    recreate_wait_for_steps(h, 3);
    CHECK(wb_task_core(task) == 1);
    CHECK(wb_word_load(&s->fresh, WB_SEQ_CST) == 1 &&
          wb_word_load(&s->incarnation, WB_SEQ_CST) == 2);
    end(h);
}

TEST(a_target_killed_before_it_takes_a_recreated_task_gives_it_back)
{
    struct wb_task *task;
    struct harness *h = open_offered(&task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    if (!suite_kill(h, 1))
        return;
    recreate_wait_for_steps(h, 3);
    CHECK(wb_task_core(task) == 0 &&
          wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_ERR_GONE);
    CHECK(wb_word_load(&s->fresh, WB_SEQ_CST) == 1 &&
          wb_word_load(&s->incarnation, WB_SEQ_CST) == 2);
    end(h);
}

// ---- Killed -------------------------------------------------------------------------------------

TEST(a_killed_kernel_makes_its_recreated_task_start_again_elsewhere_with_no_state)
{
    struct wb_task *task;
    struct harness *h = open_one("stepper", &task);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    recreate_wait_for_steps(h, 2);
    if (!suite_kill(h, 0))
        return;
    suite_wait_for(h, &s->fresh, 2);
    recreate_wait_for_steps(h, 1);
    CHECK(wb_task_core(task) == 1 && task->restarts == 1 &&
          wb_word_load(&s->incarnation, WB_SEQ_CST) == 1);
    end(h);
}

TEST(a_killed_program_starts_again_on_its_kernel)
{
    struct wb_task *task;
    struct harness *h = recreate_in_processes() ? open_one("stepper", &task) : NULL;

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    for (uint32_t i = 1; i <= 5; i++) {
        recreate_wait_for_steps(h, 1);
        CHECK(harness_kill_program(h, task));
        suite_wait_for(h, &s->fresh, i + 1);
        CHECK(wb_task_core(task) == 0 && task->restarts == i);
    }
    recreate_wait_for_steps(h, 1);
    CHECK(recreate_move(h, task, 1) == WB_OK);
    end(h);
}

static void expect_fault(const char *name, enum wb_fault_kind kind, const char *text)
{
    struct wb_task *task;
    struct harness *h = open_one(name, &task);

    if (h == NULL)
        return;
    const struct wb_fault *fault = &harness_system(h)->fault;
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_FAULT);
    CHECK(fault->kind == kind && fault->task == task->id && fault->core == 0);
    CHECK(strstr(fault->text, text) != NULL);
    harness_close(h);
}

TEST(a_program_that_touches_foreign_memory_ends_the_run_with_its_task_named)
{
    expect_fault("crasher", WB_FAULT_MEMORY, "at address 0x10");
}

TEST(a_program_that_overflows_its_stack_ends_the_run_with_its_task_named)
{
    expect_fault("overflower", WB_FAULT_STACK, "it overflowed its stack");
}

TEST(a_program_that_gives_up_ends_the_run_with_its_task_named)
{
    expect_fault("quitter", WB_FAULT_TASK, "its function returned an error");
}

TEST(a_program_that_ends_by_itself_ends_the_run_with_its_task_named)
{
    if (recreate_in_processes())
        expect_fault("leaver", WB_FAULT_TASK, "its process exited with status 7");
}
