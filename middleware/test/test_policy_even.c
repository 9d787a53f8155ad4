// SPDX-License-Identifier: Apache-2.0
// The policies that even out loads: balance, sticky, gossip, spread.
// with: check.c build.c kernel_stub.c snapshot.c
#include "check.h"
#include "snapshot.h"

static const char *const evening[] = { "balance", "gossip", "spread", "sticky" };
static struct world w;

static const struct wb_policy *policy(const char *name)
{
    return wb_policy_find(name);
}

// Each of the policies that even out, on the same system.
static void none_moves(void (*open)(void))
{
    for (uint32_t i = 0; i < sizeof evening / sizeof *evening; i++) {
        open();
        world_decide_all(&w, policy(evening[i]));
        CHECK(w.decision.n_moves == 0);
    }
}

static void open_pair(void)
{
    world_open(&w, 2);
    world_add(&w, 0, 500000);
    world_add(&w, 0, 450000);
}

static void open_one_core(void)
{
    world_open(&w, 1);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, 0, 500000);
}

static void open_no_task(void)
{
    world_open(&w, 4);
}

static void open_nothing_movable(void)
{
    open_pair();
    w.tasks[0].movable = w.tasks[1].movable = false;
}

static void open_others_down(void)
{
    open_pair();
    w.cores[1].up = false;
}

static void open_all_down(void)
{
    open_others_down();
    w.cores[0].up = false;
}

static void open_all_equal(void)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 8; i++)
        world_add(&w, i % 4, 500000);
}

static void open_one_large(void)
{
    world_open(&w, 4);
    world_add(&w, 2, 1000000);
}

static void open_idle(void)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 8; i++)
        world_add(&w, 0, 0);
}

TEST(nothing_moves_where_nothing_can_be_gained)
{
    none_moves(open_one_core);
    none_moves(open_no_task);
    none_moves(open_nothing_movable);
    none_moves(open_others_down);
    none_moves(open_all_down);
    none_moves(open_all_equal);
    none_moves(open_one_large);
    none_moves(open_idle);
}

TEST(two_tasks_of_one_core_end_on_two)
{
    for (uint32_t i = 0; i < sizeof evening / sizeof *evening; i++) {
        open_pair();
        world_decide_all(&w, policy(evening[i]));
        CHECK(w.decision.n_moves == 1);
        world_apply(&w);
        CHECK(world_highest(&w) == 500000);
    }
}

TEST(under_overload_every_core_gets_its_share)
{
    for (uint32_t i = 0; i < sizeof evening / sizeof *evening; i++) {
        world_open(&w, 4);
        for (uint32_t task = 0; task < 16; task++)
            world_add(&w, 0, 500000);
        CHECK(world_settle(&w, policy(evening[i]), 32) <= 32);
        CHECK(world_highest(&w) == 2000000);
    }
}

TEST(spread_leaves_a_core_alone_that_is_not_overloaded_and_raises_its_point)
{
    world_open(&w, 2);
    world_add(&w, 0, 500000);
    world_add(&w, 0, 300000);
    w.cores[0].point = 1;
    world_decide(&w, policy("spread"));
    CHECK(w.decision.n_moves == 0 && world_point(&w, 0) == 2 && world_point(&w, 1) == UINT32_MAX);
    world_decide_with(&w, policy("spread"), "limit_ppm", "700000");
    CHECK(w.decision.n_moves == 1);
}

// Finn and Horowitz, 1979: highest <= max(largest task, 2m/(m + 1) * mean) with m cores.
TEST(spread_ends_within_its_bound_when_everything_may_move)
{
    for (uint32_t seed = 1; seed < 1000; seed++) {
        uint32_t state = seed, largest = 0;
        const uint32_t cores = 1 + world_next(&state) % WORLD_CORES;
        uint64_t sum = 0;
        world_open(&w, cores);
        for (uint32_t i = 0; i < WORLD_TASKS; i++) {
            const uint32_t load = world_next(&state) % 400000;
            world_add(&w, world_next(&state) % cores, load);
            sum += load;
            largest = load > largest ? load : largest;
        }
        do {
            world_decide_with(&w, policy("spread"), "limit_ppm", "0");
            world_apply(&w);
        } while (w.decision.n_moves > 0);
        const uint64_t highest = world_highest(&w);
        CHECK(highest <= largest || highest * (cores + 1) <= 2 * sum);
    }
}

TEST(balance_moves_the_task_that_halves_the_difference)
{
    world_open(&w, 2);
    world_add(&w, 0, 500000);
    const uint32_t half = world_add(&w, 0, 300000);
    world_add(&w, 1, 200000);
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, half) == 1);
}

TEST(balance_leaves_differences_below_its_threshold)
{
    open_pair();
    world_decide_with(&w, policy("balance"), "threshold_ppm", "949999");
    CHECK(w.decision.n_moves == 1);
    world_decide_with(&w, policy("balance"), "threshold_ppm", "950000");
    CHECK(w.decision.n_moves == 0);
}

TEST(balance_lets_a_task_settle)
{
    open_pair();
    w.tasks[0].here_ns = w.tasks[1].here_ns = 99999999;
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 0);
    w.tasks[0].here_ns = 100000000;
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 0) == 1);
}

// Of 950000 ppm on one core 500000 are left: 450000 ppm for 1000 ms are 450 ms.
TEST(balance_charges_the_cost_of_a_migration_against_its_gain)
{
    open_pair();
    w.tasks[0].migration_ns = w.tasks[1].migration_ns = 449999999;
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 1);
    w.tasks[0].migration_ns = w.tasks[1].migration_ns = 450000000;
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 0);
    world_decide_with(&w, policy("balance"), "horizon_ms", "1001");
    CHECK(w.decision.n_moves == 1);
}

// Core 2 is the least loaded, core 1 almost: task 0 has been there.
static void open_sticky(uint32_t load_of_1)
{
    world_open(&w, 3);
    world_add(&w, 0, 400000);
    world_add(&w, 0, 400000);
    world_add(&w, 1, load_of_1);
    world_add(&w, 2, 60000);
    w.tasks[2].movable = w.tasks[3].movable = false;
    w.tasks[0].last_core = 1;
    w.tasks[0].away_ns = 500000000;
}

TEST(sticky_takes_the_last_core_among_almost_equal_ones)
{
    open_sticky(100000);
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 0) == 1);
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].core == 2);
}

TEST(sticky_takes_the_least_loaded_when_the_last_core_has_much_more)
{
    open_sticky(120000);
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].core == 2);
}

TEST(sticky_forgets_the_last_core_when_the_caches_have_forgotten_the_task)
{
    open_sticky(100000);
    w.tasks[0].away_ns = 1000000001;
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].core == 2);
}

TEST(sticky_does_not_go_back_to_a_core_that_is_down)
{
    open_sticky(100000);
    w.cores[1].up = false;
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].core == 2);
}

TEST(sticky_takes_a_task_back_when_its_last_core_becomes_free)
{
    world_open(&w, 2);
    const uint32_t task = world_add(&w, 1, 60000);
    world_add(&w, 1, 20000);
    w.tasks[task].last_core = 0;
    world_decide(&w, policy("balance"));
    CHECK(w.decision.n_moves == 0);
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, task) == 0);
    world_apply(&w);
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 0);
}

TEST(sticky_lets_a_task_settle_before_it_takes_it_back)
{
    open_sticky(100000);
    w.tasks[0].here_ns = w.tasks[1].here_ns = 99999999;
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 0);
}

TEST(a_task_alone_on_its_core_does_not_wander_between_free_cores)
{
    world_open(&w, 3);
    world_add(&w, 0, 700000);
    w.tasks[0].last_core = 1;
    world_decide(&w, policy("sticky"));
    CHECK(w.decision.n_moves == 0);
}

TEST(gossip_gives_only_to_its_neighbours)
{
    world_open(&w, 12);
    world_add(&w, 0, 400000);
    world_add(&w, 0, 400000);
    for (uint32_t core = 1; core < 12; core++) {
        if (core != 3)
            world_add(&w, core, core == 4 ? 100000 : 200000);
    }
    w.snapshot.self = 0;  // its neighbours are 1, 2, 4, 8, 10, 11; the idle core 3 is none
    world_decide(&w, policy("gossip"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].core == 4);
}

TEST(of_two_cores_that_see_the_same_idle_one_only_the_more_loaded_gives)
{
    world_open(&w, 3);
    for (uint32_t i = 0; i < 3; i++) {
        world_add(&w, 0, 300000);
        world_add(&w, 1, 200000);
    }
    world_decide_all(&w, policy("gossip"));
    CHECK(w.decision.n_moves == 1);
    CHECK(w.tasks[w.moves[0].task].core == 0 && w.moves[0].core == 2);
}

TEST(two_equal_cores_do_not_exchange_tasks)
{
    open_all_equal();
    world_decide_all(&w, policy("gossip"));
    CHECK(w.decision.n_moves == 0);
}

TEST(gossip_keeps_its_threshold_and_lets_a_task_settle)
{
    open_pair();
    world_decide_with(&w, policy("gossip"), "threshold_ppm", "950000");
    CHECK(w.decision.n_moves == 0);
    w.tasks[0].here_ns = w.tasks[1].here_ns = 99999999;
    world_decide(&w, policy("gossip"));
    CHECK(w.decision.n_moves == 0);
    world_decide_with(&w, policy("gossip"), "settle_ms", "0");
    CHECK(w.decision.n_moves == 1);
}

TEST(gossip_carries_load_all_the_way_round_the_ring)
{
    world_open(&w, 12);
    for (uint32_t task = 0; task < 24; task++)
        world_add(&w, 5, 100000);
    CHECK(world_settle(&w, policy("gossip"), 64) <= 64);
    CHECK(world_in_use(&w) == 12);
    CHECK(world_highest(&w) <= 300000);
}
