// SPDX-License-Identifier: Apache-2.0
// Modules on a board: what is refused, and what a task finds when it has been loaded again.

#include <stdio.h>
#include <string.h>

#include "freertos_board.h"
#include "freertos_modules.h"
#include "odd.h"
#include "recreate.h"

enum { MOVES = 300 };

static char why[WB_MODULE_WHY_BYTES];

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 1;
}

static struct wb_task *add(struct harness *h)
{
    return suite_task(h, &(struct wb_task_config){ .name = "bird",
                                                   .index = harness_system(h)->n_tasks,
                                                   .entry = never_runs,
                                                   .migratable = true,
                                                   .restart = true,
                                                   .mode = WB_RECREATE });
}

// ---- Refused ------------------------------------------------------------------------------------

static void expect_refusal(const char *module, const char *entry, const char *said)
{
    struct harness *h = suite_open(2, 0);

    CHECK(wb_freertos_recreates(add(h), module, entry, why) == WB_ERR_INVAL);
    if (strcmp(why, said) != 0)
        wb_test_fail(why, 0, said);
    harness_close(h);
}

TEST(a_module_with_an_unknown_symbol_is_refused_before_the_start)
{
    expect_refusal("unlinkable", "stranger",
                   "module unlinkable: symbol no_such_function is unknown: link it into the "
                   "module, or have the kernel export it by WB_EXPORT(no_such_function)");
}

TEST(a_module_for_another_machine_is_refused_before_the_start)
{
    expect_refusal("foreign", "stepper",
                   "module foreign: it is for machine 243 of 32 bits, little-endian, not for Arm "
                   "of 32 bits: compile it for this board");
}

TEST(a_module_that_is_cut_off_is_refused_before_the_start)
{
    expect_refusal("cut_off", "stepper",
                   "module cut_off: its table of sections reaches beyond its end: it is cut off");
}

TEST(a_module_without_the_task_is_refused_before_the_start)
{
    expect_refusal("odd", "stepper",
                   "module odd: it has no function stepper: it must not be static");
}

TEST(a_module_that_is_not_in_the_image_is_refused_before_the_start)
{
    expect_refusal("absent", "stepper",
                   "module absent: it is not in this image: add it by whimbrel_modules()");
}

TEST(recreated_tasks_that_need_more_addresses_than_there_are_are_refused)
{
    enum { MOST_OF_THEM = 10 << 20 };
    struct harness *h = suite_open(1, 0);
    struct wb_task *tasks[] = { add(h), add(h) };

    tasks[0]->stack_bytes = tasks[1]->stack_bytes = MOST_OF_THEM;
    CHECK(wb_freertos_recreates(tasks[0], "odd", "keeper", why) == WB_OK);
    CHECK(wb_freertos_recreates(tasks[1], "odd", "keeper", why) == WB_ERR_NOMEM);
    CHECK(strcmp(why, "module odd: there are no addresses left for it") == 0);
    harness_close(h);
}

// ---- Loaded -------------------------------------------------------------------------------------

static void expect_alone(uint32_t core, uint32_t other)
{
    CHECK(board_mapped_bytes(core) != 0);
    CHECK(board_mapped_bytes(other) == 0);
}

TEST(a_task_finds_its_heap_its_code_and_its_constants_after_each_of_hundreds_of_recreations)
{
    struct harness *h = suite_open(2, sizeof(struct odd));
    struct odd *s = suite_state(h);
    struct wb_task *task = add(h);
    const uint32_t moves = suite_count(MOVES);

    CHECK(wb_freertos_recreates(task, "odd", "keeper", why) == WB_OK);
    harness_start(h);
    suite_wait_for(h, &s->incarnation, 1);
    const size_t bytes = board_mapped_bytes(0);
    for (uint32_t i = 0; i < moves; i++) {
        const uint32_t target = (i + 1) % 2;
        CHECK(recreate_move(h, task, target) == WB_OK);
        suite_wait_for(h, &s->incarnation, i + 2);
        expect_alone(target, 1 - target);
        CHECK(board_mapped_bytes(target) == bytes);
    }
    wb_word_store(&s->end, 1, WB_SEQ_CST);
    suite_wait(h);
    CHECK(board_mapped_bytes(0) == 0 && board_mapped_bytes(1) == 0);
    CHECK(task->restarts == 0 && wb_task_migrations(task) == moves);
    harness_close(h);
}

TEST(a_module_in_thumb_state_calls_a_kernel_in_arm_state)
{
    struct harness *h = recreate_open(2);
    struct recreated *s = suite_state(h);
    struct wb_task *task = add(h);

    CHECK(wb_freertos_recreates(task, "thumb", "stepper", why) == WB_OK);
    harness_start(h);
    for (uint32_t i = 0; i < 8; i++) {
        recreate_wait_for_steps(h, 2);
        CHECK(recreate_move(h, task, (i + 1) % 2) == WB_OK);
    }
    suite_wait_for(h, &s->incarnation, 9);
    wb_word_store(&s->end, 1, WB_SEQ_CST);
    suite_wait(h);
    harness_close(h);
}

TEST(the_code_of_a_module_cannot_be_written)
{
    struct harness *h = suite_open(1, sizeof(struct odd));
    const struct wb_fault *fault = &harness_system(h)->fault;
    struct wb_task *task = add(h);

    CHECK(wb_freertos_recreates(task, "odd", "writer", why) == WB_OK);
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_FAULT);
    CHECK(fault->kind == WB_FAULT_MEMORY && fault->task == task->id);
    harness_close(h);
}

TEST(a_task_that_cannot_be_loaded_where_it_begins_ends_the_run_with_its_name)
{
    struct harness *h = suite_open(2, sizeof(struct odd));
    const struct wb_fault *fault = &harness_system(h)->fault;
    struct wb_task *task = add(h);

    CHECK(wb_freertos_recreates(task, "odd", "keeper", why) == WB_OK);
    board_limit_mapping(0, 64 << 10);
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_FAULT);
    board_limit_mapping(0, SIZE_MAX);
    CHECK(fault->kind == WB_FAULT_TASK && fault->task == task->id);
    CHECK(strstr(fault->text, "module odd: there are no 1") != NULL);
    harness_close(h);
}
