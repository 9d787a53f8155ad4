// SPDX-License-Identifier: Apache-2.0
// How many instructions a checkpoint and a hand-off take. An emulator that takes one nanosecond for
// each instruction tells (qemu -icount shift=0,sleep=off); elsewhere the figures are times.

#include <stdio.h>
#include <stdlib.h>

#include "freertos_board.h"
#include "suite.h"

enum { HOPS = 21, CHECKPOINTS = 100000, STAMPS = 100, TIMESLICE_NS = 1000000 };

// The three parts of a hand-off (holmbacka2013 table I): to the doorbell, from there until the
// target hears it, and until the task runs there.
enum part { DETACH, TRAVEL, ATTACH, PARTS };

struct state {
    uint32_t polled_ns, looped_ns, stamp_ns;
    uint32_t hops_ns[HOPS], parts_ns[PARTS][HOPS];
};

// Globally visible.
static struct {
    volatile bool wanted;
    volatile uint64_t rang_ns, heard_ns;
} doorbell __attribute__((section(".gvm")));

// The linker has every call of these two come here (--wrap).
void __real_board_ring(uint32_t core);
void __real_wb_freertos_doorbell(void);
void __wrap_board_ring(uint32_t core);
void __wrap_wb_freertos_doorbell(void);

static __attribute__((noipa)) void stamp(volatile uint64_t *at_ns)
{
    if (doorbell.wanted)
        *at_ns = board_now_ns();
}

// An emulator that runs one core at a time goes on with the next, as it would be really.
void __wrap_board_ring(uint32_t core)
{
    stamp(&doorbell.rang_ns);
    __real_board_ring(core);
    if (doorbell.wanted)
        board_relax();
}

void __wrap_wb_freertos_doorbell(void)
{
    stamp(&doorbell.heard_ns);
    __real_wb_freertos_doorbell();
}

static __attribute__((noipa)) uint32_t with_checkpoints(uint32_t n)
{
    const uint64_t begin_ns = wb_now_ns();

    for (uint32_t i = 0; i < n; i++) {
        __asm__ volatile("" ::: "memory");
        wb_checkpoint();
    }
    return (uint32_t)(wb_now_ns() - begin_ns);
}

static __attribute__((noipa)) uint32_t without_checkpoints(uint32_t n)
{
    const uint64_t begin_ns = wb_now_ns();

    for (uint32_t i = 0; i < n; i++)
        __asm__ volatile("" ::: "memory");
    return (uint32_t)(wb_now_ns() - begin_ns);
}

// What a stamp itself takes, which is no part of what is counted.
static uint32_t time_of_stamp(void)
{
    volatile uint64_t at_ns;

    doorbell.wanted = true;
    const uint64_t begin_ns = board_now_ns();
    for (uint32_t i = 0; i < STAMPS; i++)
        stamp(&at_ns);
    const uint64_t end_ns = board_now_ns();
    doorbell.wanted = false;
    return (uint32_t)((end_ns - begin_ns) / STAMPS);
}

static int polls(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    s->polled_ns = with_checkpoints(CHECKPOINTS);
    s->looped_ns = without_checkpoints(CHECKPOINTS);
    return 0;
}

TEST(an_idle_checkpoint_takes_three_instructions)
{
    struct harness *h = suite_open(1, sizeof(struct state));
    const struct state *s = suite_state(h);

    suite_task(h, &(struct wb_task_config){ .name = "polls", .entry = polls, .migratable = true });
    suite_run(h);
    const uint32_t polls_ns = s->polled_ns - s->looped_ns;
    printf("# an idle checkpoint: %u.%02u\n", (unsigned int)(polls_ns / CHECKPOINTS),
           (unsigned int)(polls_ns / (CHECKPOINTS / 100) % 100));
    harness_close(h);
}

// From core to core; nobody else has anything to do.
static int hops(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    s->stamp_ns = time_of_stamp();
    for (uint32_t i = 0; i < HOPS; i++) {
        const uint32_t next = (wb_task_core(self) + 1) % self->system->n_cores;
        EXPECT(self, wb_migration_request(self, next, WB_FOREVER, NULL) == WB_OK);
        doorbell.wanted = true;
        const uint64_t begin_ns = board_now_ns();
        wb_checkpoint();
        const uint64_t end_ns = board_now_ns();
        doorbell.wanted = false;
        EXPECT(self, wb_task_core(self) == next);
        s->parts_ns[DETACH][i] = (uint32_t)(doorbell.rang_ns - begin_ns) - s->stamp_ns;
        s->parts_ns[TRAVEL][i] = (uint32_t)(doorbell.heard_ns - doorbell.rang_ns) - s->stamp_ns;
        s->parts_ns[ATTACH][i] = (uint32_t)(end_ns - doorbell.heard_ns) - s->stamp_ns;
        s->hops_ns[i] = (uint32_t)(end_ns - begin_ns) - PARTS * s->stamp_ns;
        wb_sleep_until(wb_now_ns() + TIMESLICE_NS);
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static uint32_t median(uint32_t *hops_ns)
{
    qsort(hops_ns, HOPS, sizeof *hops_ns, by_size);
    return hops_ns[HOPS / 2];
}

static void count_hops(size_t heap_bytes)
{
    struct harness *h = suite_open(4, sizeof(struct state));
    struct state *s = suite_state(h);

    // As in a run that is not recorded.
    for (uint32_t i = 0; i < harness_system(h)->n_cores; i++)
        harness_system(h)->cores[i]->record.events.slots = 0;
    suite_task(h,
               &(struct wb_task_config){
                   .name = "hops", .entry = hops, .migratable = true, .heap_bytes = heap_bytes });
    suite_run(h);
    const uint32_t ns = median(s->hops_ns);
    printf("# a hand-off of %u KiB: median %u, from %u to %u; parts %u %u %u\n",
           (unsigned int)(heap_bytes >> 10), (unsigned int)ns, (unsigned int)s->hops_ns[0],
           (unsigned int)s->hops_ns[HOPS - 1], (unsigned int)median(s->parts_ns[DETACH]),
           (unsigned int)median(s->parts_ns[TRAVEL]), (unsigned int)median(s->parts_ns[ATTACH]));
    harness_close(h);
}

TEST(a_hand_off_takes_as_long_for_a_large_task_as_for_a_small_one)
{
    count_hops(4 << 10);
    count_hops(1 << 20);
}
