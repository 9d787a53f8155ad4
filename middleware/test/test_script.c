// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/launcher.h: what events do, on the task's own stack and by steps in its place.
// with: check.c build.c kernel_stub.c
#include "wb/launcher.h"

#include <string.h>

#include "check.h"
#include "kernel_stub.h"

enum { CYCLES = 100, MUTEX = 0, SEMAPHORE, CONDITION, BARRIER, TIMER, OBJECTS, EVENTS = 32 };

static struct wb_task *task, *other;
static struct wb_object *objects;
static const char *const ports[] = { "p" };

// A script that grows; loops are closed by their end.
static struct {
    struct wb_script_event events[EVENTS];
    uint32_t n, open[WB_SCRIPT_DEPTH], depth;
} written;

static struct wb_script_event *add(enum wb_script_verb verb, uint32_t object, uint64_t amount)
{
    static const uint64_t cycles[] = { CYCLES };
    struct wb_script_event *event = &written.events[written.n++];

    *event = (struct wb_script_event){ .verb = verb, .object = object, .amount = amount };
    event->is_checkpoint = true;
    event->place = "here";
    if (verb == WB_SCRIPT_RUN)
        event->numbers = cycles, event->n_numbers = 1;
    if (verb == WB_SCRIPT_TIMER)
        event->other = WB_SCRIPT_NONE;
    return event;
}

static void begin(uint64_t times, bool is_firing)
{
    written.open[written.depth] = written.n;
    struct wb_script_event *event = add(WB_SCRIPT_LOOP, written.depth++, times);
    event->is_firing = is_firing;
    event->is_checkpoint = false;
}

static void end(void)
{
    const uint32_t at = written.open[--written.depth];
    struct wb_script_event *event = add(WB_SCRIPT_END, written.depth, 0);

    event->is_firing = written.events[at].is_firing;
    event->other = at;
    written.events[at].other = written.n - 1;
}

static void write_number(void *slot, uint32_t bytes, uint64_t number)
{
    memcpy(slot, &number, bytes);
}

static bool read_number(const void *slot, uint32_t bytes, uint64_t number)
{
    return memcmp(slot, &number, bytes) == 0;
}

static const struct wb_messages messages = { .write = write_number, .read = read_number };

static void open(void)
{
    static const struct wb_object_config configs[OBJECTS] = {
        [MUTEX] = { .name = "m", .kind = WB_OBJECT_MUTEX },
        [SEMAPHORE] = { .name = "s", .kind = WB_OBJECT_SEMAPHORE, .value = 1, .most = 2 },
        [CONDITION] = { .name = "c", .kind = WB_OBJECT_CONDITION },
        [BARRIER] = { .name = "b", .kind = WB_OBJECT_BARRIER, .value = 2 },
        [TIMER] = { .name = "t", .kind = WB_OBJECT_TIMER },
    };

    memset(&written, 0, sizeof written);
    stub_system(2);
    wb_word_store(&wb_kernel_need_resched, 0, WB_RELAXED);
    task = stub_task("task", 0);
    other = stub_task("other", 1);
    CHECK(wb_objects_add(stub.system, configs, OBJECTS, &objects) == WB_OK);
}

static enum wb_status add_script(struct wb_script **script)
{
    const struct wb_script_config config = {
        .events = written.events, .ports = ports, .n_events = written.n, .n_ports = 1, .n_timers = 1
    };

    return wb_script_add(stub.system, &config, objects, OBJECTS, script);
}

static void start(void)
{
    struct wb_script *script;

    add(WB_SCRIPT_EXIT, 0, 0);
    CHECK(add_script(&script) == WB_OK);
    CHECK(wb_task_set_script(task, script) == WB_OK);
    stub_start(stub.system);
}

static void run(void)
{
    start();
    stub_run(task);
    CHECK(wb_script_run(task, &messages) == 0);
}

static enum wb_step take_step(uint64_t *value)
{
    CHECK(task->step != NULL);
    return task->step(task, value);
}

static uint64_t stat(const struct wb_counter *counter)
{
    return wb_counter_get(counter);
}

// ---- On its own stack ---------------------------------------------------------------------------

TEST(loops_turn_as_often_as_they_say_and_turns_of_marked_ones_are_firings)
{
    open();
    begin(3, true);
    add(WB_SCRIPT_RUN, 0, 0);
    begin(2, false);
    add(WB_SCRIPT_RUN, 0, 0);
    end();
    end();
    run();
    CHECK(stub.computed == 9 * CYCLES && stat(&task->stats.firings) == 3);
}

TEST(a_script_that_has_ended_stays_so)
{
    open();
    add(WB_SCRIPT_RUN, 0, 0);
    run();
    CHECK(wb_script_run(task, &messages) == 0 && stub.computed == CYCLES);
}

TEST(a_firing_is_the_last_one_when_the_run_stops)
{
    open();
    begin(0, true);
    add(WB_SCRIPT_RUN, 0, 0);
    end();
    wb_system_stop(stub.system);
    run();
    CHECK(stat(&task->stats.firings) == 1);
}

TEST(timers_do_not_drift_and_count_from_the_end_of_the_delay)
{
    open();
    add(WB_SCRIPT_DELAY, 0, 500);
    begin(2, true);
    add(WB_SCRIPT_SLEEP, 0, 300);
    add(WB_SCRIPT_TIMER, 0, 1000);
    end();
    run();
    CHECK(stub.now_ns == 2500 && stat(&task->stats.jobs) == 2 && stat(&task->stats.misses) == 0);
    CHECK(stat(&task->scripted->stats.early_ns) == 1400 && stat(&task->scripted->stats.timed) == 2);
    CHECK(stat(&task->scripted->stats.period_ns) == 2000);
}

// Late by 500 at the first: 1500, then 1500 + 1000 or 2000.
static uint64_t end_of_late_timers(bool is_absolute)
{
    open();
    add(WB_SCRIPT_SLEEP, 0, 1500);
    add(WB_SCRIPT_TIMER, 0, 1000)->is_absolute = is_absolute;
    add(WB_SCRIPT_TIMER, 0, 1000)->is_absolute = is_absolute;
    run();
    CHECK(stat(&task->stats.misses) == 1 && wb_stamp_get(&task->stats.worst_late_ns) == 500);
    CHECK(stub.reprioritises == 1 && stub.reprioritised == task);  // only where it is late
    return stub.now_ns;
}

TEST(a_timer_that_is_late_begins_anew_unless_it_is_absolute)
{
    CHECK(end_of_late_timers(false) == 2500);
    CHECK(end_of_late_timers(true) == 2000);
}

TEST(a_shared_timer_goes_on_for_whoever_comes)
{
    open();
    add(WB_SCRIPT_TIMER, 0, 1000)->other = TIMER;
    run();
    CHECK(objects[TIMER].timer.timer.next_ns == 1000 && stub.now_ns == 1000);
}

TEST(mutexes_and_semaphores_are_those_of_the_middleware)
{
    open();
    add(WB_SCRIPT_LOCK, MUTEX, 0);
    add(WB_SCRIPT_TAKE, SEMAPHORE, 0);
    add(WB_SCRIPT_UNLOCK, MUTEX, 0);
    for (int i = 0; i < 4; i++)
        add(WB_SCRIPT_GIVE, SEMAPHORE, 0);  // two of them too many
    run();
    CHECK(wb_word_load(&objects[MUTEX].queue.holder, WB_SEQ_CST) == 0 && task->sync.owned == 0);
    CHECK(wb_word_load(&objects[SEMAPHORE].semaphore.value, WB_SEQ_CST) == 2);
}

static void fails(enum wb_script_verb verb, uint32_t object, const char *words)
{
    open();
    add(verb, object, 0)->other = verb == WB_SCRIPT_WAIT ? MUTEX : 0;
    start();
    stub_run(task);
    CHECK(HALTS(wb_script_run(task, &messages)));
    CHECK(strstr(stub.system->fault.text, words) != NULL);
    CHECK(strstr(stub.system->fault.text, "here: ") == stub.system->fault.text);
}

TEST(what_makes_no_sense_fails_the_run_with_its_place)
{
    fails(WB_SCRIPT_UNLOCK, MUTEX, "unlocks a mutex that it does not hold");
    fails(WB_SCRIPT_WAIT, CONDITION, "waits with a mutex that it does not hold");
    open();
    add(WB_SCRIPT_LOCK, MUTEX, 0);
    add(WB_SCRIPT_LOCK, MUTEX, 0);
    start();
    stub_run(task);
    CHECK(HALTS(wb_script_run(task, &messages)));
    CHECK(strstr(stub.system->fault.text, "locks a mutex that it holds") != NULL);
}

TEST(a_priority_is_the_tasks_own_from_there_on)
{
    open();
    add(WB_SCRIPT_PRIORITY, 0, 9);
    run();
    CHECK(wb_own_priority(task) == 9 && wb_sync_priority(&task->sync) == 9);
    CHECK(stub.reprioritises == 1);
}

TEST(each_marked_event_is_a_checkpoint)
{
    open();
    add(WB_SCRIPT_RUN, 0, 0);
    add(WB_SCRIPT_RUN, 0, 0)->is_checkpoint = false;
    add(WB_SCRIPT_RUN, 0, 0);
    wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
    run();
    CHECK(stub.yields == 2);
}

// ---- By steps -----------------------------------------------------------------------------------

static void play_another_holder(uint64_t until_ns)
{
    uint64_t value;

    CHECK(until_ns == 10);
    stub.now_ns = 10;
    stub_become(1, other);
    CHECK(wb_mutex_lock(&objects[MUTEX].mutex, 0) == WB_OK);
    stub_become(0, task);
    CHECK(take_step(&value) == WB_STEP_STACK);  // it would have to wait
    stub_become(1, other);
    CHECK(wb_mutex_unlock(&objects[MUTEX].mutex) == WB_OK);
    stub_become(0, task);
    CHECK(take_step(&value) == WB_STEP_COMPUTE && value == CYCLES);
    CHECK(take_step(&value) == WB_STEP_BLOCK && value == 30);
    stub.now_ns = 30;
}

TEST(a_step_takes_what_is_free_and_leaves_a_wait_to_the_stack)
{
    open();
    add(WB_SCRIPT_SLEEP, 0, 10);
    add(WB_SCRIPT_LOCK, MUTEX, 0);
    add(WB_SCRIPT_RUN, 0, 0);
    add(WB_SCRIPT_UNLOCK, MUTEX, 0);
    add(WB_SCRIPT_SLEEP, 0, 20);
    stub.on_block = play_another_holder;
    run();
    CHECK(stub.blocks == 1 && task->sync.owned == 0 && task->step == NULL);
}

// ---- Another life -------------------------------------------------------------------------------

static jmp_buf killed;

static void kill_it(uint64_t until_ns)
{
    (void)until_ns;
    stub.on_block = NULL;
    longjmp(killed, 1);
}

static void run_until_it_is_killed(void)
{
    start();
    stub_run(task);
    stub.on_block = kill_it;
    if (setjmp(killed) == 0)
        CHECK(wb_script_run(task, &messages) != 0);
    wb_word_add(&task->incarnation, 1, WB_SEQ_CST);
    task->sync.owned = 0;
}

TEST(a_task_that_starts_again_goes_on_with_its_event)
{
    open();
    begin(2, true);
    add(WB_SCRIPT_RUN, 0, 0);
    add(WB_SCRIPT_SLEEP, 0, 50);
    end();
    run_until_it_is_killed();
    CHECK(wb_script_run(task, &messages) == 0);
    CHECK(stub.computed == 2 * CYCLES && stub.now_ns == 100);
}

TEST(a_task_that_held_a_mutex_goes_on_where_it_held_none)
{
    open();
    add(WB_SCRIPT_RUN, 0, 0);
    add(WB_SCRIPT_LOCK, MUTEX, 0);
    add(WB_SCRIPT_RUN, 0, 0);
    add(WB_SCRIPT_SLEEP, 0, 50);
    add(WB_SCRIPT_UNLOCK, MUTEX, 0);
    run_until_it_is_killed();
    CHECK(wb_script_run(task, &messages) == 0);
    CHECK(stub.computed == 3 * CYCLES && task->sync.owned == 0);
}

// ---- What is refused ----------------------------------------------------------------------------

static bool is_refused(enum wb_script_verb verb, uint32_t object)
{
    struct wb_script *script;

    open();
    add(verb, object, 0);
    add(WB_SCRIPT_EXIT, 0, 0);
    return add_script(&script) == WB_ERR_INVAL;
}

TEST(events_of_what_is_not_there_or_of_another_kind_are_refused)
{
    CHECK(is_refused(WB_SCRIPT_LOCK, SEMAPHORE) && is_refused(WB_SCRIPT_UNLOCK, OBJECTS));
    CHECK(is_refused(WB_SCRIPT_SIGNAL, MUTEX) && is_refused(WB_SCRIPT_BARRIER, MUTEX));
    CHECK(is_refused(WB_SCRIPT_TAKE, MUTEX) && is_refused(WB_SCRIPT_SEND, 1));
    CHECK(is_refused(WB_SCRIPT_LOOP, 0) && is_refused(WB_SCRIPT_END, WB_SCRIPT_DEPTH));
    CHECK(is_refused(WB_SCRIPT_MIGRATE, 0) && is_refused(WB_SCRIPT_RECEIVE, 0));
    CHECK(!is_refused(WB_SCRIPT_LOCK, MUTEX) && !is_refused(WB_SCRIPT_YIELD, 0));
}

TEST(a_priority_that_there_is_not_is_refused)
{
    struct wb_script *script;

    for (uint32_t priority = WB_SCRIPT_PRIORITIES - 1; priority <= WB_SCRIPT_PRIORITIES;
         priority++) {
        open();
        add(WB_SCRIPT_PRIORITY, 0, priority);
        add(WB_SCRIPT_EXIT, 0, 0);
        CHECK(add_script(&script) == (priority < WB_SCRIPT_PRIORITIES ? WB_OK : WB_ERR_INVAL));
    }
}

TEST(a_loop_without_an_event_is_refused)
{
    struct wb_script *script;

    open();
    begin(3, false);
    end();
    add(WB_SCRIPT_EXIT, 0, 0);
    CHECK(add_script(&script) == WB_ERR_INVAL);
}

TEST(a_script_that_does_not_end_in_its_end_is_refused)
{
    struct wb_script *script;

    open();
    CHECK(add_script(&script) == WB_ERR_INVAL);
    add(WB_SCRIPT_YIELD, 0, 0);
    CHECK(add_script(&script) == WB_ERR_INVAL);
}
