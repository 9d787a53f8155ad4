// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/record.h.
// with: check.c build.c kernel_stub.c
#include "wb/record.h"

#include "check.h"
#include "kernel_stub.h"

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
