// SPDX-License-Identifier: Apache-2.0
// The situations of the papers: what they moved by hand or by table, the policies move.
// with: check.c build.c kernel_stub.c snapshot.c
#include "check.h"
#include "snapshot.h"

static struct world w;

// holmbacka2013, section VI.A. A core that is busy all the time shares itself out.
TEST(of_four_large_videos_on_core_0_three_move_away)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, 0, 250000);
    world_decide(&w, wb_policy_find("spread"));
    CHECK(w.decision.n_moves == 3);
    world_apply(&w);
    for (uint32_t core = 0; core < 4; core++)
        CHECK(w.cores[core].load_ppm == 250000);
}

TEST(four_large_videos_stay_on_a_core_each_when_each_has_got_what_it_needs)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, i, 950000);
    world_decide(&w, wb_policy_find("spread"));
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
}

// holmbacka2013, section VI.B.
TEST(four_small_videos_are_collected_on_core_0_and_the_other_cores_slow_down)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, i, 180000);
    world_decide(&w, wb_policy_find("consolidate"));
    CHECK(w.decision.n_moves == 3);
    for (uint32_t i = 1; i < 4; i++) {
        CHECK(world_moved_to(&w, i) == 0);
        CHECK(world_point(&w, i) == 0);
    }
    CHECK(world_point(&w, 0) == UINT32_MAX);  // it is at its highest
}

TEST(four_videos_that_do_not_fit_on_one_core_are_collected_on_two)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, i, 350000);
    world_decide(&w, wb_policy_find("consolidate"));
    world_apply(&w);
    CHECK(world_in_use(&w) == 2 && world_highest(&w) == 700000);
}

TEST(videos_that_grow_after_they_were_collected_are_let_out_again)
{
    world_open(&w, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_add(&w, 0, 250000);
    w.cores[1].point = 0;
    world_decide(&w, wb_policy_find("consolidate"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 0) == 1);
    CHECK(world_point(&w, 1) == WORLD_POINTS - 1);
}

// acquaviva2008, section 6.3: from 450 to 900 frames per second the demodulator, task 3, moves to a
// second core; both cores run at their lowest frequency.
enum { RADIO_TASKS = 6, DEMODULATOR = 3 };
static const uint32_t low[] = { 0, 0, 0 }, one_core[RADIO_TASKS] = { 0 };
static const uint32_t two_cores[RADIO_TASKS] = { [DEMODULATOR] = 1 };
static const struct wb_table_row radio[] = { { 450000, low, one_core },
                                             { 900000, low, two_cores } };

static void open_radio(uint64_t rate_millihz)
{
    world_open(&w, 3);
    for (uint32_t i = 0; i < RADIO_TASKS; i++) {
        world_add(&w, 0, i == DEMODULATOR ? 60000 : 20000);
    }
    w.snapshot.rows = radio;
    w.snapshot.n_rows = 2;
    w.snapshot.rate_millihz = rate_millihz;
}

TEST(at_450_frames_per_second_the_radio_stays_on_one_core_at_its_lowest_frequency)
{
    open_radio(450000);
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 3 && world_point(&w, 0) == 0);
}

TEST(at_900_frames_per_second_the_demodulator_moves_and_nothing_else)
{
    open_radio(900000);
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, DEMODULATOR) == 1);
    world_apply(&w);
    w.snapshot.rate_millihz = 450000;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, DEMODULATOR) == 0);
}

TEST(above_the_last_rate_of_the_table_its_last_row_holds)
{
    open_radio(5000000);
    world_decide(&w, wb_policy_find("table"));
    CHECK(world_moved_to(&w, DEMODULATOR) == 1);
}

TEST(without_a_frame_rate_or_without_rows_the_table_decides_nothing)
{
    open_radio(0);
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
    open_radio(900000);
    w.snapshot.n_rows = 0;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
}

TEST(a_core_that_a_row_has_off_is_told_once_and_gets_its_point_back_by_another_row)
{
    static const uint32_t off[] = { 0, 0, WB_POINT_OFF };
    static const struct wb_table_row rows[] = { { 450000, off, one_core },
                                                { 900000, low, two_cores } };
    open_radio(450000);
    w.snapshot.rows = rows;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_points == 3 && world_point(&w, 2) == WB_POINT_OFF && w.text[0] == '\0');
    for (uint32_t core = 0; core < 3; core++)
        w.cores[core].point = 0;
    w.cores[2].off = true;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_points == 0);
    w.snapshot.rate_millihz = 900000;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_points == 1 && world_point(&w, 2) == 0);
}

TEST(the_table_moves_nothing_to_a_core_that_is_down)
{
    open_radio(900000);
    w.cores[1].up = false;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 2);
}

// nacul2007, section 4: static partitioning, and tasks that may run anywhere.
TEST(static_decides_nothing_whatever_the_loads)
{
    world_open(&w, 2);
    for (uint32_t i = 0; i < 8; i++)
        world_add(&w, 0, 900000);
    world_decide(&w, wb_policy_find("static"));
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
}
