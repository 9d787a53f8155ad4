// SPDX-License-Identifier: Apache-2.0
// wb_decision_check(), the registry and the parameters of policies.
// with: check.c build.c kernel_stub.c snapshot.c
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "snapshot.h"

static const struct wb_policy somebody = { .name = "somebody" };
static const struct wb_policy local = { .name = "local", .local = true };
static struct world w;

static void open_two(void)
{
    world_open(&w, 3);
    world_add(&w, 0, 100000);
    world_add(&w, 1, 100000);
    w.cores[2].up = false;
}

static bool finds(const struct wb_policy *policy, const char *text)
{
    const uint32_t dropped =
        wb_decision_check(&w.decision, &w.snapshot, policy, w.text, sizeof w.text);

    return dropped == 1 && strcmp(w.text, text) == 0;
}

static bool finds_in_move(uint32_t task, uint32_t core, const char *text)
{
    open_two();
    wb_decide_move(&w.decision, task, core);
    return finds(&somebody, text) && w.decision.n_moves == 0;
}

static bool finds_in_point(uint32_t core, uint32_t point, const char *text)
{
    open_two();
    wb_decide_point(&w.decision, core, point);
    return finds(&somebody, text) && w.decision.n_points == 0;
}

TEST(a_good_decision_stays_as_it_is)
{
    open_two();
    wb_decide_move(&w.decision, 0, 1);
    wb_decide_move(&w.decision, 1, 0);
    wb_decide_point(&w.decision, 1, 0);
    CHECK(wb_decision_check(&w.decision, &w.snapshot, &somebody, w.text, sizeof w.text) == 0);
    CHECK(w.text[0] == '\0' && w.decision.n_moves == 2 && w.decision.n_points == 1);
}

TEST(a_move_to_a_kind_of_core_that_the_task_does_not_run_on_is_dropped)
{
    open_two();
    w.cores[1].kind = 3;
    w.tasks[0].not_on = 1 << 3;
    wb_decide_move(&w.decision, 0, 1);
    CHECK(finds(&somebody, "it moved task 0 to core 1, of a kind that it does not run on"));
    CHECK(w.decision.n_moves == 0);
}

TEST(a_move_of_an_unknown_task_is_dropped)
{
    CHECK(finds_in_move(7, 0, "it moved task 7, of which there are 2"));
    CHECK(finds_in_move(UINT32_MAX, 0, "it moved task 4294967295, of which there are 2"));
}

TEST(a_move_to_an_unknown_core_is_dropped)
{
    CHECK(finds_in_move(1, 3, "it moved task 1 to core 3, of which there are 3"));
}

TEST(a_move_to_a_core_that_is_down_is_dropped)
{
    CHECK(finds_in_move(1, 2, "it moved task 1 to core 2, which is down"));
}

TEST(a_move_of_a_task_that_is_not_movable_is_dropped)
{
    open_two();
    w.tasks[0].movable = false;
    wb_decide_move(&w.decision, 0, 1);
    CHECK(finds(&somebody, "it moved task 0, which is not movable"));
}

TEST(of_two_moves_of_one_task_the_first_stays)
{
    open_two();
    wb_decide_move(&w.decision, 0, 1);
    wb_decide_move(&w.decision, 0, 0);
    CHECK(finds(&somebody, "it moved task 0 twice"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].core == 1);
}

TEST(an_operating_point_that_cannot_be_set_is_dropped)
{
    CHECK(finds_in_point(3, 0, "it set the point of core 3, of which there are 3"));
    CHECK(finds_in_point(2, 0, "it set the point of core 2, which is down"));
    CHECK(finds_in_point(1, 3, "it set core 1 to point 3, of which there are 3"));
    open_two();
    wb_decide_point(&w.decision, 1, 0);
    wb_decide_point(&w.decision, 1, 1);
    CHECK(finds(&somebody, "it set the point of core 1 twice") && w.points[0].point == 0);
}

TEST(a_local_policy_decides_for_its_own_core_only)
{
    open_two();
    w.snapshot.self = 1;
    wb_decide_move(&w.decision, 0, 1);
    wb_decide_move(&w.decision, 1, 0);
    CHECK(finds(&local, "it moved task 0 of core 0, but decides for core 1 only"));
    CHECK(w.decision.n_moves == 1 && w.moves[0].task == 1);
    wb_decide_point(&w.decision, 0, 0);
    CHECK(finds(&local, "it set the point of core 0, but decides for core 1 only"));
}

TEST(an_overflow_is_told_and_what_there_was_room_for_stays)
{
    open_two();
    w.decision.max_moves = 1;
    wb_decide_move(&w.decision, 0, 1);
    wb_decide_move(&w.decision, 1, 0);
    CHECK(finds(&somebody, "it decided more than 1 moves or 12 points"));
    CHECK(w.decision.n_moves == 1);
    open_two();
    w.decision.max_points = 0;
    wb_decide_point(&w.decision, 0, 0);
    CHECK(finds(&somebody, "it decided more than 32 moves or 0 points"));
}

TEST(the_good_rest_keeps_its_order_and_every_bad_part_is_told)
{
    open_two();
    wb_decide_move(&w.decision, 9, 0);
    wb_decide_move(&w.decision, 1, 0);
    wb_decide_move(&w.decision, 1, 0);
    wb_decide_move(&w.decision, 0, 1);
    wb_decide_point(&w.decision, 0, 5);
    wb_decide_point(&w.decision, 1, 1);
    CHECK(wb_decision_check(&w.decision, &w.snapshot, &somebody, w.text, sizeof w.text) == 3);
    CHECK(strcmp(w.text, "it moved task 9, of which there are 2; it moved task 1 twice; "
                         "it set core 0 to point 5, of which there are 3") == 0);
    CHECK(w.decision.n_moves == 2 && w.moves[0].task == 1 && w.moves[1].task == 0);
    CHECK(w.decision.n_points == 1 && w.points[0].core == 1);
}

TEST(a_description_is_cut_off_where_there_is_no_more_room)
{
    char text[16];

    for (size_t bytes = 0; bytes <= sizeof text; bytes++) {
        open_two();
        memset(text, 'x', sizeof text);
        wb_decide_move(&w.decision, 7, 0);
        CHECK(wb_decision_check(&w.decision, &w.snapshot, &somebody, text, bytes) == 1);
        CHECK(bytes == 0 || strlen(text) == bytes - 1);
        CHECK(bytes == sizeof text || text[bytes] == 'x');
    }
    CHECK(strcmp(text, "it moved task 7") == 0);
}

TEST(what_is_decided_counts_for_what_is_decided_next)
{
    open_two();
    CHECK(wb_decision_core(&w.decision, &w.snapshot, 0) == 0);
    wb_decide_move(&w.decision, 0, 1);
    CHECK(wb_decision_core(&w.decision, &w.snapshot, 0) == 1);
    CHECK(wb_decision_load_ppm(&w.decision, &w.snapshot, 0) == 0);
    CHECK(wb_decision_load_ppm(&w.decision, &w.snapshot, 1) == 200000);
    w.cores[0].load_ppm = 50000;  // read at another time than its task's
    CHECK(wb_decision_load_ppm(&w.decision, &w.snapshot, 0) == 0);
}

TEST(every_policy_is_found_by_its_name_and_they_are_in_order)
{
    uint32_t n = 0;

    for (; wb_policy_at(n) != NULL; n++) {
        CHECK(wb_policy_find(wb_policy_at(n)->name) == wb_policy_at(n));
        CHECK(n == 0 || strcmp(wb_policy_at(n - 1)->name, wb_policy_at(n)->name) < 0);
        CHECK(wb_policy_at(n)->help != NULL && wb_policy_at(n)->decide != NULL);
    }
    CHECK(n == 9 && wb_policy_at(UINT32_MAX) == NULL);
    CHECK(wb_policy_find("nobody") == NULL && wb_policy_find("") == NULL);
    CHECK(wb_policy_find("gossip")->local && !wb_policy_find("balance")->local);
}

TEST(every_default_is_in_its_range_and_may_be_set_as_text)
{
    for (uint32_t n = 0; wb_policy_at(n) != NULL; n++) {
        const struct wb_policy *policy = wb_policy_at(n);
        CHECK(policy->n_params <= WB_POLICY_PARAMS);
        wb_policy_defaults(policy, w.params);
        for (uint32_t i = 0; i < policy->n_params; i++) {
            const struct wb_policy_param *param = &policy->params[i];
            CHECK(w.params[i] == param->value && param->help != NULL);
            CHECK(param->least <= param->value && param->value <= param->most);
            snprintf(w.text, sizeof w.text, "%lld", (long long)param->least);
            CHECK(wb_policy_param_set(policy, w.params, param->name, w.text) == WB_OK);
            CHECK(w.params[i] == param->least);
        }
    }
}

static const struct wb_policy wide = {
    .name = "wide",
    .n_params = 2,
    .params = (const struct wb_policy_param[]){ { "any", "", 0, INT64_MIN, INT64_MAX },
                                                { "few", "", 3, -2, 5 } },
};

static bool refused(const char *key, const char *text)
{
    int64_t values[WB_POLICY_PARAMS];

    wb_policy_defaults(&wide, values);
    return wb_policy_param_set(&wide, values, key, text) == WB_ERR_INVAL && values[0] == 0 &&
           values[1] == 3;
}

static bool taken(uint32_t position, const char *text, int64_t value)
{
    int64_t values[WB_POLICY_PARAMS];

    wb_policy_defaults(&wide, values);
    return wb_policy_param_set(&wide, values, wide.params[position].name, text) == WB_OK &&
           values[position] == value;
}

TEST(a_parameter_takes_every_number_of_its_range)
{
    CHECK(taken(0, "0", 0) && taken(0, "-0", 0) && taken(0, "0012", 12));
    CHECK(taken(0, "9223372036854775807", INT64_MAX));
    CHECK(taken(0, "-9223372036854775808", INT64_MIN));
    CHECK(taken(1, "-2", -2) && taken(1, "5", 5));
}

TEST(an_unknown_parameter_is_refused)
{
    CHECK(refused("nothing", "1") && refused("", "1") && refused("an", "1"));
}

TEST(a_text_that_is_no_number_is_refused)
{
    CHECK(refused("any", "") && refused("any", "-") && refused("any", "1x") &&
          refused("any", " 1") && refused("any", "+1") && refused("any", "1.5") &&
          refused("any", "--1"));
}

TEST(a_number_out_of_range_is_refused)
{
    CHECK(refused("few", "-3") && refused("few", "6"));
    CHECK(refused("any", "9223372036854775808") && refused("any", "-9223372036854775809"));
    CHECK(refused("any", "99999999999999999999999"));
}
