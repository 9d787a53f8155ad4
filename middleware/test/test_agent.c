// SPDX-License-Identifier: Apache-2.0
// Unit tests of the agents' reports and of the operating points that they set. The policies are the
// test's own.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { PERIOD_NS = 1000 };

static const struct wb_point points[] = { { .hz = 100, .active_uw = 1, .idle_uw = 1 },
                                          { .hz = 250, .active_uw = 2, .idle_uw = 1 },
                                          { .hz = 500, .active_uw = 3, .idle_uw = 1 } };

static struct wb_system *sys;
static struct wb_task *a, *b;

static struct wb_system_config config(uint32_t cores)
{
    return (struct wb_system_config){ .cores = cores,
                                      .tasks = 8,
                                      .channels = 1,
                                      .ports = 2,
                                      .core_align = WB_LINE_BYTES,
                                      .record_migrations = 16,
                                      .offer_timeout_ns = 1000,
                                      .agent_period_ns = PERIOD_NS };
}

// `a` on core 0, `b` on core 1, time 10000, and every agent has had its first call.
static void setup(void)
{
    const struct wb_system_config two = config(2);

    sys = stub_open(&two);
    a = stub_task("a", 0);
    b = stub_task("b", 1);
    stub.now_ns = 10000;
    stub_start(sys);
    for (uint32_t i = 0; i < 2; i++)
        CHECK(wb_agent_tick(sys->cores[i], stub.now_ns) == stub.now_ns + PERIOD_NS);
}

static void tick(uint32_t core)
{
    stub.core = core;
    (void)wb_agent_tick(sys->cores[core], stub.now_ns);
}

static void run_for(struct wb_task *task, uint64_t ns)
{
    stub_run(task);
    stub.now_ns += ns;
    stub_pause(WB_TASK_READY);
}

static uint32_t load(const struct wb_task *task)
{
    return wb_word_load(&task->report.load_ppm, WB_SEQ_CST);
}

// Hands `a`, which runs, over to core 1.
static void move_a(void)
{
    CHECK(wb_migration_request(a, 1, WB_FOREVER, NULL) == WB_OK);
    const uint32_t request = wb_word_load(&a->request, WB_SEQ_CST);
    wb_word_store(&a->request, wb_request(WB_REQUEST_ACCEPTED, 1, wb_request_number(request)),
                  WB_SEQ_CST);
    stub_become(0, NULL);
    wb_task_departed(a, stub.now_ns, stub.now_ns);
    stub_serve(1);
    CHECK(wb_task_core(a) == 1);
}

// ---- Loads --------------------------------------------------------------------------------------

TEST(a_load_is_the_part_of_the_period_that_a_task_computed)
{
    setup();
    run_for(a, 250);
    stub.now_ns += 750;
    tick(0);
    CHECK(load(a) == 250000 && load(b) == 0);
    CHECK(wb_word_load(&sys->cores[0]->report.busy_ppm, WB_SEQ_CST) == 250000);
    CHECK(wb_word_load(&sys->cores[0]->report.load_ppm, WB_SEQ_CST) == 250000);
    CHECK(wb_word_load(&sys->cores[0]->report.periods, WB_SEQ_CST) == 1);
    stub.now_ns += PERIOD_NS;
    tick(0);
    CHECK(load(a) == 0 && wb_word_load(&sys->cores[0]->report.busy_ppm, WB_SEQ_CST) == 0);
}

TEST(a_task_that_has_not_left_its_core_counts_as_well)
{
    setup();
    stub.now_ns += 400;
    stub_run(a);
    stub.now_ns += 600;
    tick(0);
    CHECK(load(a) == 600000);
    stub.now_ns += PERIOD_NS;
    tick(0);
    CHECK(load(a) == 1000000 &&
          wb_word_load(&sys->cores[0]->report.busy_ppm, WB_SEQ_CST) == 1000000);
    stub.now_ns += 100;
    stub_pause(WB_TASK_BLOCKED);
    stub.now_ns += 900;
    tick(0);
    CHECK(load(a) == 100000);
}

TEST(polling_is_no_load)
{
    setup();
    stub_run(a);
    stub.now_ns += PERIOD_NS;
    a->poll_mark_ns = 300;
    tick(0);
    CHECK(load(a) == 700000);
    stub_pause(WB_TASK_READY);
    stub.now_ns += PERIOD_NS;
    tick(0);
    CHECK(load(a) == 0);
}

TEST(a_tick_that_comes_late_divides_by_the_time_that_passed)
{
    setup();
    stub_run(a);
    stub.now_ns += 4 * PERIOD_NS;
    stub_pause(WB_TASK_READY);
    stub.now_ns += 4 * PERIOD_NS;
    stub.core = 0;
    CHECK(wb_agent_tick(sys->cores[0], stub.now_ns) == stub.now_ns + PERIOD_NS);
    CHECK(load(a) == 500000);
}

TEST(ticks_stay_in_step_and_do_nothing_before_their_time)
{
    setup();
    const uint64_t due_ns = stub.now_ns + PERIOD_NS;
    stub.now_ns = due_ns - 1;
    CHECK(wb_agent_tick(sys->cores[0], stub.now_ns) == due_ns);
    CHECK(wb_word_load(&sys->cores[0]->report.periods, WB_SEQ_CST) == 0);
    stub.now_ns = due_ns + 300;
    CHECK(wb_agent_tick(sys->cores[0], stub.now_ns) == due_ns + PERIOD_NS);
    CHECK(wb_word_load(&sys->cores[0]->report.periods, WB_SEQ_CST) == 1);
}

TEST(without_a_period_agents_never_report)
{
    sys = stub_system(1);
    stub_start(sys);
    CHECK(wb_agent_tick(sys->cores[0], 1) == WB_FOREVER);
}

TEST(a_load_is_counted_at_the_highest_frequency)
{
    setup();
    sys->cores[0]->points = points;
    sys->cores[0]->n_points = 3;
    wb_word_store(&sys->cores[0]->point, 1, WB_SEQ_CST);
    run_for(a, 600);
    stub.now_ns += 400;
    tick(0);
    CHECK(load(a) == 300000);
    CHECK(wb_word_load(&sys->cores[0]->report.busy_ppm, WB_SEQ_CST) == 600000);
}

TEST(a_load_is_exact_across_a_change_of_frequency)
{
    setup();
    sys->cores[0]->points = points;
    sys->cores[0]->n_points = 3;
    wb_word_store(&sys->cores[0]->point, 2, WB_SEQ_CST);
    stub_run(a);
    stub.now_ns += 500;
    wb_word_init(&sys->cores[0]->wanted_point, 0);
    CHECK(wb_agent_serve(sys->cores[0]) == 0 && stub.points == 1);
    CHECK(wb_word_load(&sys->cores[0]->point, WB_SEQ_CST) == 0);
    stub.now_ns += 500;
    tick(0);
    CHECK(load(a) == 600000);
}

TEST(a_load_is_exact_across_a_migration)
{
    setup();
    sys->cores[0]->points = sys->cores[1]->points = points;
    sys->cores[0]->n_points = sys->cores[1]->n_points = 3;
    wb_word_store(&sys->cores[0]->point, 2, WB_SEQ_CST);
    stub_run(a);
    stub.now_ns += 400;
    move_a();
    stub_become(1, NULL);
    run_for(a, 600);
    tick(1);
    CHECK(load(a) == 400000 + 600000 / 5);
    tick(0);
    CHECK(load(a) == 520000 && wb_word_load(&sys->cores[0]->report.load_ppm, WB_SEQ_CST) == 0);
}

// Its new core's tick would divide what little time there was since the last report by itself.
TEST(a_task_that_has_just_come_is_reported_a_period_later)
{
    setup();
    run_for(a, 500);
    stub.now_ns += 500;
    tick(0);
    CHECK(load(a) == 500000);
    stub.now_ns += 100;
    stub_run(a);
    move_a();
    tick(1);
    CHECK(load(a) == 500000);
    stub_become(1, NULL);
    run_for(a, 900);
    stub.now_ns += 100;
    tick(1);
    // 900 of the 1100 since the last report; the tick at 11100 was late and 12000 is in step.
    CHECK(load(a) == 900 * 1000000 / 1100);
}

TEST(a_report_says_where_a_task_was_before_and_since_when_it_is_here)
{
    setup();
    CHECK(wb_word_load(&a->report.last_core, WB_SEQ_CST) == 0);
    CHECK(wb_stamp_get(&a->report.since_ns) == 10000);
    stub.now_ns += 70;
    stub_run(a);
    move_a();
    CHECK(wb_word_load(&a->report.last_core, WB_SEQ_CST) == 0 && wb_task_core(a) == 1);
    CHECK(wb_stamp_get(&a->report.since_ns) == 10070);
    stub.now_ns += 30;
    stub_run(a);
    CHECK(wb_word_load(&a->report.migration_ns, WB_SEQ_CST) == 30);
}

TEST(memory_in_use_is_reported_per_task_and_per_core)
{
    setup();
    stub_run(a);
    CHECK(wb_malloc(100) != NULL);
    stub_pause(WB_TASK_READY);
    stub.now_ns += PERIOD_NS;
    tick(0);
    const uint32_t bytes = wb_word_load(&a->report.context_bytes, WB_SEQ_CST);
    CHECK(bytes == a->heap.used_bytes + a->stack_bytes && a->heap.used_bytes >= 100);
    CHECK(wb_word_load(&sys->cores[0]->report.context_bytes, WB_SEQ_CST) == bytes);
}

TEST(a_temperature_is_passed_on)
{
    setup();
    CHECK(wb_word_load(&sys->cores[0]->report.temperature_mc, WB_SEQ_CST) == WB_NO_TEMPERATURE);
    stub.temperature_mc = -1500;
    stub.now_ns += PERIOD_NS;
    tick(0);
    CHECK(wb_word_load(&sys->cores[0]->report.temperature_mc, WB_SEQ_CST) == -1500);
}

TEST(the_memory_that_a_system_asks_for_includes_its_agents)
{
    static _Alignas(64) unsigned char memory[1 << 18];

    for (uint32_t cores = 1; cores <= STUB_CORES; cores++) {
        struct wb_system_config wanted = config(cores);
        const size_t bytes = wb_system_bytes(&wanted);
        CHECK(bytes <= sizeof memory);
        memset(memory, 0, sizeof memory);
        CHECK(wb_system_init(&sys, memory, bytes, &wanted) == WB_OK);
        CHECK(wb_system_init(&sys, memory, bytes - 1, &wanted) == WB_ERR_NOMEM);
        wanted.agent_period_ns = 0;
        CHECK(wb_system_bytes(&wanted) < bytes);
    }
}

// ---- Operating points ---------------------------------------------------------------------------

TEST(an_operating_point_is_set_once_by_its_own_core)
{
    setup();
    sys->cores[1]->points = points;
    sys->cores[1]->n_points = 3;
    wb_word_init(&sys->cores[1]->wanted_point, 2);
    stub_serve(0);
    CHECK(stub.points == 0);
    stub_serve(1);
    stub_serve(1);
    CHECK(stub.points == 1 && wb_word_load(&sys->cores[1]->point, WB_SEQ_CST) == 2);
}

TEST(a_point_that_does_not_exist_or_is_set_already_is_left_alone)
{
    setup();
    sys->cores[0]->points = points;
    sys->cores[0]->n_points = 3;
    wb_word_init(&sys->cores[0]->wanted_point, 3);
    stub_serve(0);
    wb_word_init(&sys->cores[0]->wanted_point, 0);
    stub_serve(0);
    CHECK(stub.points == 0);
}

TEST(a_core_that_is_to_be_off_goes_to_its_lowest_point_and_is_asked_for_nothing_more)
{
    setup();
    sys->cores[0]->points = points;
    sys->cores[0]->n_points = 3;
    wb_word_store(&sys->cores[0]->point, 2, WB_SEQ_CST);
    wb_word_init(&sys->cores[0]->wanted_point, WB_POINT_OFF);
    CHECK(wb_core_is_let_off(sys->cores[0]));
    stub_serve(0);
    stub_serve(0);
    CHECK(stub.points == 1 && wb_word_load(&sys->cores[0]->point, WB_SEQ_CST) == 0);
    CHECK(sys->cores[0]->report.obeyed_point == WB_POINT_OFF);
    // One whose points are not known has none to go to.
    wb_word_init(&sys->cores[1]->wanted_point, WB_POINT_OFF);
    stub_serve(1);
    CHECK(stub.points == 1 && sys->cores[1]->report.obeyed_point == WB_POINT_OFF);
    wb_word_init(&sys->cores[0]->wanted_point, 1);
    CHECK(!wb_core_is_let_off(sys->cores[0]));
    stub_serve(0);
    CHECK(stub.points == 2 && wb_word_load(&sys->cores[0]->point, WB_SEQ_CST) == 1);
}

TEST(nobody_asks_for_a_point_at_the_start)
{
    setup();
    sys->cores[0]->points = points;
    sys->cores[0]->n_points = 3;
    wb_word_store(&sys->cores[0]->point, 2, WB_SEQ_CST);
    stub_serve(0);
    CHECK(stub.points == 0 && wb_word_load(&sys->cores[0]->point, WB_SEQ_CST) == 2);
}

// ---- The frame rate -----------------------------------------------------------------------------

static void follow(uint64_t period_ns, uint64_t deadline_ns)
{
    setup();
    a->period_ns = period_ns;
    a->relative_deadline_ns = deadline_ns;
    a->job_deadline_ns = deadline_ns;
    a->follows_rate = true;
    stub_run(a);
}

TEST(a_new_frame_rate_takes_effect_with_the_next_job)
{
    follow(1000, 1000);
    CHECK(wb_period_wait(a) && stub.now_ns == 11000);
    wb_system_set_rate(sys, 2000000000);
    CHECK(wb_period_wait(a) && stub.now_ns == 11500);
    CHECK(wb_period_wait(a) && stub.now_ns == 12000);
    stub.now_ns += 501;
    CHECK(!wb_period_wait(a));
    wb_system_set_rate(sys, 0);
    stub.now_ns = a->release.ns;
    CHECK(wb_period_wait(a) && stub.now_ns == a->release.ns);
    CHECK(a->job_deadline_ns == 1000);
}

TEST(a_deadline_shorter_than_the_frame_stays_so_in_proportion)
{
    follow(1000, 250);
    wb_system_set_rate(sys, 500000000);
    CHECK(wb_period_wait(a) && stub.now_ns == 12000 && a->job_deadline_ns == 500);
    stub.now_ns += 500;
    CHECK(wb_period_wait(a) && stub.now_ns == 14000);
    stub.now_ns += 501;
    CHECK(!wb_period_wait(a));
}

TEST(a_job_is_judged_by_the_deadline_of_its_release)
{
    follow(1000, 1000);
    CHECK(wb_period_wait(a) && stub.now_ns == 11000);
    wb_system_set_rate(sys, 2000000000);
    stub.now_ns += 900;
    CHECK(wb_period_wait(a));
}

TEST(a_task_without_a_period_gets_one_when_a_rate_is_set)
{
    follow(0, 0);
    stub.now_ns += 5000000;
    CHECK(wb_period_wait(a) && stub.now_ns == 5010000);
    wb_system_set_rate(sys, 1000000000);
    CHECK(wb_period_wait(a) && stub.now_ns == 5011000);
    stub.now_ns += 1001;
    CHECK(!wb_period_wait(a) && stub.now_ns == 5012001);
}

TEST(a_period_of_its_own_does_not_follow_the_frame_rate)
{
    follow(1000, 1000);
    a->follows_rate = false;
    wb_system_set_rate(sys, 2000000000);
    CHECK(wb_period_wait(a) && stub.now_ns == 11000);
    CHECK(wb_period_wait(a) && stub.now_ns == 12000);
}

// ---- Silence ------------------------------------------------------------------------------------

static const struct wb_policy nothing_decided = { .name = "nothing" };
static const struct wb_policy each_for_itself = { .name = "each", .local = true };

TEST(a_core_without_tasks_is_silent_once_it_has_reported_unless_it_decides)
{
    const struct wb_system_config two = config(2);

    sys = stub_open(&two);
    a = stub_task("a", 0);
    stub.now_ns = 10000;
    stub_start(sys);
    tick(1);
    CHECK(!wb_agent_is_silent(sys->cores[1]));
    stub.now_ns += PERIOD_NS;
    tick(0);
    tick(1);
    CHECK(!wb_agent_is_silent(sys->cores[0]) && wb_agent_is_silent(sys->cores[1]));
    CHECK(wb_system_set_policy(sys, &nothing_decided, NULL) == WB_OK);
    CHECK(wb_agent_is_silent(sys->cores[1]));
    wb_word_store(&sys->control.coordinator, 1, WB_SEQ_CST);
    CHECK(!wb_agent_is_silent(sys->cores[1]));
    wb_word_store(&sys->control.coordinator, 0, WB_SEQ_CST);
    CHECK(wb_system_set_policy(sys, &each_for_itself, NULL) == WB_OK);
    CHECK(!wb_agent_is_silent(sys->cores[1]));
}

static void check_skip(uint64_t ns)
{
    const struct wb_system_config two = config(2);

    sys = stub_open(&two);
    stub.now_ns = 10000;
    a = stub_task("a", 0);
    stub_start(sys);
    tick(1);
    stub.now_ns += PERIOD_NS;
    tick(1);
    struct wb_core_report *report = &sys->cores[1]->report;
    const struct wb_core_report before = *report;
    const uint64_t until_ns = stub.now_ns + ns;
    while (report->due_ns < until_ns) {
        stub.now_ns = report->due_ns;
        tick(1);
    }
    const struct wb_core_report ticked = *report;
    *report = before;
    CHECK(wb_agent_skip(sys->cores[1], until_ns) == ticked.due_ns);
    CHECK(memcmp(report, &ticked, sizeof ticked) == 0);
}

TEST(skipped_periods_leave_a_report_as_if_they_had_been_reported)
{
    check_skip(0);
    check_skip(1);
    check_skip(PERIOD_NS);
    check_skip(PERIOD_NS + 1);
    check_skip(7 * PERIOD_NS - 1);
    check_skip(7 * PERIOD_NS);
}
