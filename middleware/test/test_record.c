// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/descriptor.h.
// with: check.c build.c kernel_stub.c
#include "wb/descriptor.h"

#include "check.h"
#include "kernel_stub.h"
#include "wb/launcher.h"

static struct wb_core *core;
static struct wb_event event;

static void setup(void)
{
    core = stub_system(1)->cores[0];
}

static void note(uint32_t number)
{
    wb_record_event(core, WB_EVENT_SEND, 7, 3, number, 1000 + number);
}

TEST(an_event_comes_out_as_it_went_in)
{
    setup();
    note(5);
    CHECK(wb_ring_take(&core->record.events, &event));
    CHECK(event.time_ns == 1005 && event.kind == WB_EVENT_SEND && event.core == 0);
    CHECK(event.task == 7 && event.object == 3 && event.value == 5);
    CHECK(!wb_ring_take(&core->record.events, &event));
}

TEST(a_value_that_does_not_fit_is_recorded_as_the_largest)
{
    setup();
    wb_record_event(core, WB_EVENT_MISS, 0, 0, UINT64_MAX, 1);
    CHECK(wb_ring_take(&core->record.events, &event) && event.value == UINT32_MAX);
}

TEST(a_full_ring_drops_the_newest_and_counts_them)
{
    setup();
    struct wb_ring *ring = &core->record.events;
    for (uint32_t i = 0; i < ring->slots + 3; i++)
        note(i);
    CHECK(wb_word_load(&ring->dropped, WB_SEQ_CST) == 3);
    for (uint32_t i = 0; i < ring->slots; i++)
        CHECK(wb_ring_take(ring, &event) && event.value == i);
    CHECK(!wb_ring_take(ring, &event));
}

static uint32_t taken;

static void take_all(void)
{
    while (wb_ring_take(&core->record.events, &event))
        CHECK(event.value == taken++);
}

TEST(a_full_ring_that_something_makes_room_in_drops_nothing)
{
    setup();
    struct wb_ring *ring = &core->record.events;
    const uint32_t n = 5 * ring->slots + 3;
    taken = 0;
    ring->make_room = take_all;
    for (uint32_t i = 0; i < n; i++)
        note(i);
    CHECK(taken == n - 3);
    take_all();
    CHECK(taken == n && wb_word_load(&ring->dropped, WB_SEQ_CST) == 0);
}

TEST(a_ring_goes_round_and_over_the_end_of_its_indices)
{
    setup();
    struct wb_ring *ring = &core->record.events;
    wb_word_store(&ring->head, UINT32_MAX - 10, WB_SEQ_CST);
    wb_word_store(&ring->tail, UINT32_MAX - 10, WB_SEQ_CST);
    for (uint32_t i = 0; i < 3 * ring->slots; i++) {
        note(i);
        note(i + 1000);
        CHECK(wb_ring_take(ring, &event) && event.value == i);
        CHECK(wb_ring_take(ring, &event) && event.value == i + 1000);
    }
    CHECK(wb_word_load(&ring->dropped, WB_SEQ_CST) == 0);
}

// As if an interrupt had come between claiming the slot and completing it.
TEST(the_reader_waits_for_an_entry_that_is_not_complete)
{
    setup();
    note(1);
    struct wb_ring *ring = &core->record.events;
    struct wb_word *flag = (struct wb_word *)(void *)ring->data;
    const uint32_t complete = wb_word_load(flag, WB_SEQ_CST);
    wb_word_store(flag, 0, WB_SEQ_CST);
    note(2);
    CHECK(!wb_ring_take(ring, &event));
    wb_word_store(flag, complete, WB_SEQ_CST);
    CHECK(wb_ring_take(ring, &event) && event.value == 1);
    CHECK(wb_ring_take(ring, &event) && event.value == 2);
}

TEST(events_are_taken_in_order_up_to_as_many_as_are_wanted_and_the_first_that_is_not_complete)
{
    setup();
    struct wb_ring *ring = &core->record.events;
    struct wb_event some[3];
    wb_word_store(&ring->head, UINT32_MAX - 2, WB_SEQ_CST);
    wb_word_store(&ring->tail, UINT32_MAX - 2, WB_SEQ_CST);
    CHECK(wb_ring_take_events(ring, some, 3) == 0);
    for (uint32_t i = 0; i < 5; i++)
        note(i);
    // Of the last one, which is the second after the end of the indices.
    struct wb_word *flag = (struct wb_word *)(void *)(ring->data + 8 + sizeof event);
    wb_word_store(flag, 0, WB_SEQ_CST);
    CHECK(wb_ring_take_events(ring, some, 3) == 3);
    CHECK(some[0].value == 0 && some[1].value == 1 && some[2].value == 2);
    CHECK(wb_ring_take_events(ring, some, 3) == 1 && some[0].value == 3);
    wb_word_store(flag, 1, WB_SEQ_CST);
    CHECK(wb_ring_take_events(ring, some, 3) == 1 && some[0].value == 4);
    CHECK(wb_ring_take_events(ring, some, 3) == 0);
    for (uint32_t i = 0; i < ring->slots; i++)
        note(i);
    CHECK(wb_word_load(&ring->dropped, WB_SEQ_CST) == 0);
}

TEST(what_a_killed_kernel_left_incomplete_is_passed_over_once_another_has_started)
{
    setup();
    struct wb_ring *ring = &core->record.events;
    for (uint32_t i = 1; i <= 3; i++)
        note(i);
    for (size_t i = 0; i < 3; i += 2)
        wb_word_store((struct wb_word *)(void *)(ring->data + i * (8 + sizeof event)), 0,
                      WB_SEQ_CST);
    CHECK(!wb_ring_take(ring, &event));
    wb_ring_begin(ring);
    CHECK(wb_ring_take(ring, &event) && event.value == 2);
    CHECK(!wb_ring_take(ring, &event));
    note(4);
    CHECK(wb_ring_take(ring, &event) && event.value == 4);
    // A later lap passes over nothing, though `since` is ahead of it then.
    wb_word_store(&ring->head, wb_word_load(&ring->since, WB_SEQ_CST) - 1, WB_SEQ_CST);
    wb_word_store(&ring->tail, wb_word_load(&ring->since, WB_SEQ_CST), WB_SEQ_CST);
    note(5);
    CHECK(!wb_ring_take(ring, &event));
}

TEST(a_run_that_is_not_recorded_keeps_no_events)
{
    struct wb_system *system = stub_open(&(struct wb_system_config){
        .cores = 1, .core_align = WB_LINE_BYTES, .record_migrations = 1 });

    wb_record_event(system->cores[0], WB_EVENT_RUN, 0, 0, 0, 0);
    CHECK(!wb_ring_take(&system->cores[0]->record.events, &event));
    CHECK(wb_word_load(&system->cores[0]->record.events.dropped, WB_SEQ_CST) == 0);
}

TEST(a_ring_of_one_slot_keeps_one_migration)
{
    struct wb_system *system = stub_open(&(struct wb_system_config){
        .cores = 1, .core_align = WB_LINE_BYTES, .record_migrations = 1 });
    struct wb_ring *ring = &system->cores[0]->record.migrations;
    struct wb_migration m = { .task = 9 }, got;

    wb_ring_put(ring, &m);
    wb_ring_put(ring, &m);
    CHECK(wb_word_load(&ring->dropped, WB_SEQ_CST) == 1);
    CHECK(wb_ring_take(ring, &got) && got.task == 9);
    wb_ring_put(ring, &m);
    CHECK(wb_ring_take(ring, &got) && !wb_ring_take(ring, &got));
}

// ---- What a task that blocks waits for ----------------------------------------------------------

static uint32_t told(const struct wb_task *task)
{
    wb_record_event(core, WB_EVENT_BLOCK, task->id, 9, 0, 1);
    CHECK(wb_ring_take(&core->record.events, &event));
    return event.object;
}

static uint32_t told_at(struct wb_task *task, struct wb_wait_queue *queue, uint32_t holder)
{
    wb_word_init(&task->sync.waits_for, queue);
    wb_word_init(&queue->holder, holder);
    const uint32_t object = told(task);
    wb_word_init(&task->sync.waits_for, NULL);
    return object;
}

TEST(a_task_that_blocks_at_a_gate_tells_which_or_what_it_is)
{
    static const struct wb_object_config configs[] = {
        { .name = "m", .kind = WB_OBJECT_MUTEX },
        { .name = "t", .kind = WB_OBJECT_TIMER },
    };
    struct wb_object *objects;
    struct wb_wait_queue own = { 0 };

    setup();
    struct wb_task *task = stub_task("task", 0);
    CHECK(told_at(task, &own, 0) == (uint32_t)WB_WAIT_SEMAPHORE << WB_WAIT_SHIFT);
    CHECK(wb_objects_add(stub.system, configs, 2, &objects) == WB_OK);
    CHECK(told(task) == WB_WAIT_UNTOLD);
    CHECK(told_at(task, &objects[0].queue, 1) == (uint32_t)WB_WAIT_OBJECT << WB_WAIT_SHIFT);
    CHECK(told_at(task, &objects[1].timer.mutex.queue, 1) ==
          ((uint32_t)WB_WAIT_OBJECT << WB_WAIT_SHIFT | 1));
    CHECK(told_at(task, &own, 7) == (uint32_t)WB_WAIT_MUTEX << WB_WAIT_SHIFT);
    CHECK(told_at(task, &own, WB_HOLDER_BARRIER) == (uint32_t)WB_WAIT_BARRIER << WB_WAIT_SHIFT);
    wb_word_init(&task->sync.condition, &own);
    CHECK(told_at(task, &own, 0) == (uint32_t)WB_WAIT_CONDITION << WB_WAIT_SHIFT);
    CHECK(told_at(task, &stub.system->set, 0) == WB_WAIT_UNTOLD);
}

TEST(a_task_that_blocks_at_one_port_tells_its_channel)
{
    setup();
    struct wb_task *task = stub_task("task", 0), *peer = stub_task("peer", 0);
    struct wb_port *ports[2];

    for (uint32_t i = 0; i < 2; i++) {
        struct wb_channel *channel = stub_channel(i == 0 ? "a" : "b", 2, 4, false);
        build_port(peer, channel, WB_OUT);
        ports[i] = build_port(task, channel, WB_IN);
    }
    wb_word_init(&ports[1]->waiting, WB_WAITS);
    CHECK(told(task) == ((uint32_t)WB_WAIT_CHANNEL << WB_WAIT_SHIFT | 1));
    wb_word_init(&ports[0]->waiting, WB_WAITS_FOR_NOTIFY);
    CHECK(told(task) == WB_WAIT_UNTOLD);
    wb_word_init(&ports[1]->waiting, WB_WAITS_NOT);
    CHECK(told(task) == (uint32_t)WB_WAIT_CHANNEL << WB_WAIT_SHIFT);
}
