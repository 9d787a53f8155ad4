// SPDX-License-Identifier: Apache-2.0
// The policy that docs/policies.md shows.
// with: check.c build.c kernel_stub.c snapshot.c policy_reserve.c
#include "check.h"
#include "snapshot.h"

extern const struct wb_policy wb_policy_reserve;

static struct world w;

static void open_three(void)
{
    world_open(&w, 3);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, 0, 100000);
    world_add(&w, 1, 150000);
    w.tasks[0].movable = false;
}

TEST(the_example_clears_its_core_and_leaves_what_is_pinned)
{
    open_three();
    world_decide(&w, &wb_policy_reserve);
    CHECK(w.decision.n_moves == 3);
    CHECK(world_moved_to(&w, 1) == 2 && world_moved_to(&w, 2) == 2 && world_moved_to(&w, 3) == 1);
    CHECK(wb_decision_check(&w.decision, &w.snapshot, &wb_policy_reserve, w.text, sizeof w.text) ==
          0);
    world_apply(&w);
    world_decide(&w, &wb_policy_reserve);
    CHECK(w.decision.n_moves == 0);
}

TEST(the_example_takes_its_parameter)
{
    open_three();
    world_decide_with(&w, &wb_policy_reserve, "core", "1");
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 4) == 2);
}

TEST(the_example_moves_nothing_when_no_other_core_is_up)
{
    open_three();
    w.cores[1].up = w.cores[2].up = false;
    world_decide(&w, &wb_policy_reserve);
    CHECK(w.decision.n_moves == 0);
}
