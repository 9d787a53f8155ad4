// SPDX-License-Identifier: Apache-2.0
// Unit tests of tasks: time, periods and misses, statistics, events, failing.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"

static struct wb_task *task;

static void setup(uint64_t period_ns, uint64_t deadline_ns, uint64_t offset_ns)
{
    stub_system(1);
    task = stub_task("task", 0);
    task->period_ns = period_ns;
    task->relative_deadline_ns = deadline_ns != 0 ? deadline_ns : period_ns;
    task->offset_ns = offset_ns;
    stub.now_ns = 1000;
    stub_start(stub.system);
    stub_run(task);
}

static uint64_t misses(void)
{
    return wb_counter_get(&task->stats.misses);
}

// ---- Time ---------------------------------------------------------------------------------------

TEST(sleeping_ends_at_its_time)
{
    setup(0, 0, 0);
    wb_sleep_until(1500);
    CHECK(wb_now_ns() == 1500 && stub.blocks == 1);
    wb_sleep_until(1500);
    wb_sleep_until(3);
    CHECK(wb_now_ns() == 1500 && stub.blocks == 1);
}

static void wake_halfway(uint64_t until_ns)
{
    stub.now_ns += (until_ns - stub.now_ns + 1) / 2;
}

TEST(a_sleeper_woken_early_sleeps_on)
{
    setup(0, 0, 0);
    stub.on_block = wake_halfway;
    wb_sleep_until(2000);
    CHECK(wb_now_ns() == 2000 && stub.blocks > 5);
}

TEST(yielding_lets_the_same_priority_run)
{
    setup(0, 0, 0);
    wb_yield();
    CHECK(stub.yields == 1 && stub.floor == wb_own_priority(task));
}

// ---- Periods ------------------------------------------------------------------------------------

TEST(a_job_in_time_waits_for_the_next_release)
{
    setup(100, 0, 0);
    stub.now_ns = 1040;
    CHECK(wb_period_wait(task) && wb_now_ns() == 1100);
    stub.now_ns = 1200;  // exactly at its deadline
    CHECK(wb_period_wait(task) && wb_now_ns() == 1200);
    CHECK(misses() == 0 && wb_counter_get(&task->stats.jobs) == 2);
}

TEST(a_late_job_is_a_miss_and_releases_do_not_drift)
{
    setup(100, 0, 0);
    stub.now_ns = 1130;
    CHECK(!wb_period_wait(task));
    CHECK(wb_now_ns() == 1130);  // the next job was released at 1100
    CHECK(wb_period_wait(task) && wb_now_ns() == 1200);
    CHECK(misses() == 1 && wb_stamp_get(&task->stats.worst_late_ns) == 30);
}

TEST(a_kernel_is_told_of_a_job_that_begins_without_a_block_before_it)
{
    setup(100, 0, 0);
    stub.now_ns = 1040;
    CHECK(wb_period_wait(task) && stub.reprioritises == 0);
    stub.now_ns = 1330;
    CHECK(!wb_period_wait(task) && stub.reprioritises == 1 && stub.reprioritised == task);
    CHECK(!wb_period_wait(task) && stub.reprioritises == 2);
    CHECK(wb_period_wait(task) && stub.reprioritises == 2);
}

TEST(a_job_later_than_several_periods_catches_up)
{
    setup(100, 0, 0);
    stub.now_ns = 1350;
    CHECK(!wb_period_wait(task) && !wb_period_wait(task) && !wb_period_wait(task));
    CHECK(wb_now_ns() == 1350);
    CHECK(wb_period_wait(task) && wb_now_ns() == 1400);
    CHECK(misses() == 3 && wb_stamp_get(&task->stats.worst_late_ns) == 250);
}

TEST(a_deadline_may_be_shorter_than_the_period)
{
    setup(100, 30, 0);
    stub.now_ns = 1031;
    CHECK(!wb_period_wait(task) && wb_now_ns() == 1100);
    stub.now_ns = 1130;
    CHECK(wb_period_wait(task) && misses() == 1);
}

TEST(an_offset_shifts_every_release)
{
    setup(100, 0, 40);
    CHECK(wb_period_wait(task) && wb_now_ns() == 1140);
    CHECK(wb_period_wait(task) && wb_now_ns() == 1240);
}

TEST(without_a_period_jobs_are_only_counted)
{
    setup(0, 0, 0);
    for (int i = 0; i < 5; i++)
        CHECK(wb_period_wait(task));
    CHECK(wb_now_ns() == 1000 && stub.blocks == 0);
    CHECK(wb_counter_get(&task->stats.jobs) == 5);
}

TEST(a_miss_is_an_event_that_says_how_late)
{
    struct wb_event event;
    bool seen = false;

    setup(100, 0, 0);
    stub.now_ns = 1117;
    CHECK(!wb_period_wait(task));
    while (wb_ring_take(&stub.system->cores[0]->record.events, &event))
        seen |= event.kind == WB_EVENT_MISS && event.value == 17 && event.task == task->id;
    CHECK(seen);
}

// ---- Statistics ---------------------------------------------------------------------------------

TEST(time_in_a_task_counts_for_it_and_its_core)
{
    setup(0, 0, 0);
    stub.now_ns = 1250;
    stub_pause(WB_TASK_READY);
    stub.now_ns = 1300;
    stub_run(task);
    stub.now_ns = 1400;
    stub_pause(WB_TASK_BLOCKED);
    CHECK(wb_counter_get(&task->stats.busy_ns) == 350);
    CHECK(wb_counter_get(&stub.system->cores[0]->stats.busy_ns) == 350);
    CHECK(wb_counter_get(&task->stats.runs) == 2);
    CHECK(wb_counter_get(&stub.system->cores[0]->stats.switches) == 2);
}

TEST(polling_is_not_busy)
{
    setup(0, 0, 0);
    task->poll_mark_ns = 60;
    stub.now_ns = 1100;
    stub_pause(WB_TASK_BLOCKED);
    CHECK(wb_counter_get(&task->stats.busy_ns) == 40);
    CHECK(wb_counter_get(&task->stats.polling_ns) == 60);
    CHECK(wb_counter_get(&stub.system->cores[0]->stats.polling_ns) == 60);
    CHECK(task->poll_mark_ns == 0);
}

TEST(polling_never_counts_for_more_than_the_run)
{
    setup(0, 0, 0);
    task->poll_mark_ns = 500;
    stub.now_ns = 1100;
    stub_pause(WB_TASK_BLOCKED);
    CHECK(wb_counter_get(&task->stats.busy_ns) == 0);
    CHECK(wb_counter_get(&task->stats.polling_ns) == 100);
}

TEST(the_end_of_a_run_says_how_much_of_it_was_polling)
{
    struct wb_event event;

    setup(0, 0, 0);
    task->poll_mark_ns = 60;
    stub.now_ns = 1100;
    stub_pause(WB_TASK_BLOCKED);
    while (wb_ring_take(&stub.system->cores[0]->record.events, &event) &&
           event.kind != WB_EVENT_BLOCK)
        ;
    CHECK(event.kind == WB_EVENT_BLOCK && event.value == 60);
}

TEST(every_switch_is_an_event)
{
    static const uint16_t expected[] = { WB_EVENT_RUN,   WB_EVENT_READY, WB_EVENT_RUN,
                                         WB_EVENT_BLOCK, WB_EVENT_RUN,   WB_EVENT_END };
    struct wb_event event;

    setup(0, 0, 0);
    stub_pause(WB_TASK_READY);
    stub_run(task);
    stub_pause(WB_TASK_BLOCKED);
    stub_run(task);
    stub_pause(WB_TASK_ENDED);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK(wb_ring_take(&stub.system->cores[0]->record.events, &event) &&
              event.kind == expected[i]);
}

// ---- Life ---------------------------------------------------------------------------------------

TEST(the_last_task_to_end_rings_every_core)
{
    stub_system(2);
    task = stub_task("task", 0);
    struct wb_task *last = stub_task("last", 1);

    stub_start(stub.system);
    stub_run(task);
    stub.rings[0] = stub.rings[1] = 0;
    stub_pause(WB_TASK_ENDED);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 1 && stub.rings[0] == 0 &&
          stub.rings[1] == 0);
    stub_run(last);
    stub_pause(WB_TASK_ENDED);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 0 && stub.rings[0] == 1 &&
          stub.rings[1] == 1);
}

TEST(a_state_pointer_is_kept)
{
    setup(0, 0, 0);
    CHECK(wb_task_state(task) == NULL);
    wb_task_set_state(task, &task);
    CHECK(wb_task_state(task) == &task);
}

TEST(a_task_that_fails_ends_the_run_with_its_words)
{
    setup(0, 0, 0);
    CHECK(HALTS(wb_task_fail(task, "no input")));
    CHECK(stub.system->fault.kind == WB_FAULT_TASK && stub.system->fault.task == task->id);
    CHECK(strcmp(stub.system->fault.text, "no input") == 0);
}

static int fail(struct wb_task *self)
{
    (void)self;
    return 7;
}

TEST(a_task_whose_function_returns_an_error_ends_the_run)
{
    setup(0, 0, 0);
    task->entry = fail;
    CHECK(HALTS(wb_task_main(task)));
    CHECK(stub.system->fault.kind == WB_FAULT_TASK);
    CHECK(strcmp(stub.system->fault.text, "its function returned an error") == 0);
}
