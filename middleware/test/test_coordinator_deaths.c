// SPDX-License-Identifier: Apache-2.0
// Unit tests of the coordinator: who takes its part when its core dies.
// with: check.c build.c kernel_stub.c
#include "coordinator_case.h"

TEST(the_next_living_core_takes_the_part_of_a_dead_coordinator)
{
    setup();
    CHECK(coordinator() == 1);
    CHECK(wb_core_died(sys, 1) == 0);
    CHECK(coordinator() == 2);
    pass();
    CHECK(asked[1] == 0 && asked[2] == 1);
    CHECK(wb_core_died(sys, 2) == 0);
    CHECK(coordinator() == 0);
    pass();
    CHECK(asked[0] == 1);
}

TEST(an_agent_notices_a_dead_coordinator_by_itself)
{
    setup();
    wb_word_store(&sys->cores[1]->state, WB_CORE_DEAD, WB_SEQ_CST);
    pass();
    CHECK(coordinator() == 2 && asked[2] == 1 && asked[0] == 0);
}

TEST(the_death_of_another_core_leaves_the_coordinator)
{
    setup();
    CHECK(wb_core_died(sys, 2) == 0);
    CHECK(coordinator() == 1);
}

static void taken_in(struct wb_task *task)
{
    stub_serve(2);
    CHECK(wb_task_core(task) == 2);
}

TEST(a_migration_that_a_dead_coordinator_asked_for_completes)
{
    setup();
    decide_move(a->id, 2);
    pass();
    n_moves = 0;
    CHECK(wb_core_died(sys, 1) == 0);
    stub_run(a);
    stub.on_away = taken_in;
    wb_checkpoint();
    CHECK(wb_task_core(a) == 2 && !wb_migration_pending(a));
    CHECK(wb_outcome_status(wb_word_load(&a->outcome, WB_SEQ_CST)) == WB_OK &&
          a->settled.by == WB_BY_POLICY);
}

TEST(a_system_whose_coordinator_has_no_core_is_refused)
{
    static _Alignas(64) unsigned char memory[1 << 16];
    const struct wb_system_config config = { .cores = 2, .core_align = 64, .coordinator = 2 };

    CHECK(wb_system_init(&sys, memory, sizeof memory, &config) == WB_ERR_INVAL);
}
