// SPDX-License-Identifier: Apache-2.0
// How many instructions a checkpoint, a hand-off, messages and wakes take. An emulator that takes
// one nanosecond for each instruction tells (qemu -icount shift=0,sleep=off); elsewhere the figures
// are times.

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

// ---- What a platform of the simulator charges ---------------------------------------------------

enum {
    SLOTS = 64,
    MESSAGE_BYTES = 64,
    RINGS = 100,
    BLOCKS = 100,
    BLOCK_BYTES = 64,
    SWITCHES = 100
};

// Of a message that wakes its receiver on another core: the commit, all of it; from the doorbell's
// ring until the other core hears it; and from there until the receiver has it.
enum act {
    CLAIM,
    COMMIT,
    HOLD,
    RELEASE,
    SEND,
    RECEIVE,
    RING,
    HEAP,
    SWITCH,
    NOTIFY,
    WAY,
    WAKE,
    ACTS
};

static const char *const act_names[ACTS] = { "claim",  "commit",  "hold", "release",
                                             "send",   "receive", "ring", "heap",
                                             "switch", "notify",  "way",  "wake" };

struct acts {
    uint64_t woke_ns;
    uint32_t ns[ACTS][HOPS];
};

static uint32_t each(uint64_t begin_ns, uint32_t n)
{
    return (uint32_t)(board_now_ns() - begin_ns) / n;
}

// As many of each as the channel has room for, so that none waits.
static void slots(struct wb_task *self, struct wb_port *out, struct wb_port *in, uint32_t i)
{
    struct acts *a = suite_shared(self);
    const void *held;
    void *slot;
    uint32_t passed = 0;
    uint64_t begin_ns = board_now_ns();

    for (uint32_t j = 0; j < SLOTS; j++)
        passed += wb_port_claim(out, &slot, 0) == WB_OK;
    a->ns[CLAIM][i] = each(begin_ns, SLOTS);
    begin_ns = board_now_ns();
    for (uint32_t j = 0; j < SLOTS; j++)
        passed += wb_port_commit(out) == WB_OK;
    a->ns[COMMIT][i] = each(begin_ns, SLOTS);
    begin_ns = board_now_ns();
    for (uint32_t j = 0; j < SLOTS; j++)
        passed += wb_port_hold(in, &held, 0) == WB_OK;
    a->ns[HOLD][i] = each(begin_ns, SLOTS);
    begin_ns = board_now_ns();
    for (uint32_t j = 0; j < SLOTS; j++)
        passed += wb_port_release(in) == WB_OK;
    a->ns[RELEASE][i] = each(begin_ns, SLOTS);
    EXPECT(self, passed == 4 * SLOTS);
}

static void copies(struct wb_task *self, struct wb_port *out, struct wb_port *in, uint32_t i)
{
    struct acts *a = suite_shared(self);
    unsigned char message[MESSAGE_BYTES] = { 0 };
    uint32_t passed = 0;
    uint64_t begin_ns = board_now_ns();

    for (uint32_t j = 0; j < SLOTS; j++)
        passed += wb_port_send(out, message, 0) == WB_OK;
    a->ns[SEND][i] = each(begin_ns, SLOTS);
    begin_ns = board_now_ns();
    for (uint32_t j = 0; j < SLOTS; j++)
        passed += wb_port_receive(in, message, 0) == WB_OK;
    a->ns[RECEIVE][i] = each(begin_ns, SLOTS);
    EXPECT(self, passed == 2 * SLOTS);
}

static void blocks_and_rings(struct wb_task *self, uint32_t i)
{
    struct acts *a = suite_shared(self);
    uint64_t begin_ns = board_now_ns();

    for (uint32_t j = 0; j < BLOCKS; j++)
        wb_free(wb_malloc(BLOCK_BYTES));
    a->ns[HEAP][i] = each(begin_ns, 2 * BLOCKS);
    begin_ns = board_now_ns();
    for (uint32_t j = 0; j < RINGS; j++)
        __real_board_ring(1);
    a->ns[RING][i] = each(begin_ns, RINGS);
}

static int acts(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);

    for (uint32_t i = 0; i < HOPS; i++) {
        slots(self, out, in, i);
        copies(self, out, in, i);
        blocks_and_rings(self, i);
    }
    return 0;
}

// Two tasks of one priority.
static int takes_turns(struct wb_task *self)
{
    struct acts *a = suite_shared(self);

    for (uint32_t i = 0; i < HOPS; i++) {
        const uint64_t begin_ns = board_now_ns();
        for (uint32_t j = 0; j < SWITCHES; j++)
            wb_yield();
        a->ns[SWITCH][i] = each(begin_ns, 2 * SWITCHES);
    }
    return 0;
}

// The receiver waits when a message comes.
static uint64_t send_one(struct wb_task *self, struct wb_port *out, bool hears)
{
    void *slot;

    wb_sleep_until(wb_now_ns() + TIMESLICE_NS);
    EXPECT(self, wb_port_claim(out, &slot, WB_FOREVER) == WB_OK);
    doorbell.wanted = hears;
    const uint64_t begin_ns = board_now_ns();
    EXPECT(self, wb_port_commit(out) == WB_OK);
    const uint64_t end_ns = board_now_ns();
    doorbell.wanted = false;
    wb_sleep_until(wb_now_ns() + TIMESLICE_NS);
    return end_ns - begin_ns;
}

// While the doorbell is listened to, the emulator goes on with another core at once.
static int wakes(struct wb_task *self)
{
    struct acts *a = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t stamp_ns = time_of_stamp();

    for (uint32_t i = 0; i < HOPS; i++) {
        a->ns[NOTIFY][i] = (uint32_t)send_one(self, out, false);
        (void)send_one(self, out, true);
        a->ns[WAY][i] = (uint32_t)(doorbell.heard_ns - doorbell.rang_ns) - stamp_ns;
        a->ns[WAKE][i] = (uint32_t)(a->woke_ns - doorbell.heard_ns) - stamp_ns;
    }
    return 0;
}

static int is_woken(struct wb_task *self)
{
    struct acts *a = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *held;

    while (wb_port_hold(in, &held, WB_FOREVER) == WB_OK) {
        a->woke_ns = board_now_ns();
        EXPECT(self, wb_port_release(in) == WB_OK);
    }
    return 0;
}

static struct harness *open_acts(uint32_t cores)
{
    struct harness *h = suite_open(cores, sizeof(struct acts));

    for (uint32_t i = 0; i < harness_system(h)->n_cores; i++)
        harness_system(h)->cores[i]->record.events.slots = 0;
    return h;
}

static void tell_acts(struct harness *h, enum act first, enum act last)
{
    struct acts *a = suite_state(h);

    for (enum act act = first; act <= last; act++)
        printf("# %s: %u\n", act_names[act], (unsigned int)median(a->ns[act]));
    harness_close(h);
}

static const struct wb_channel_config of_acts = { .name = "channel",
                                                  .slots = SLOTS,
                                                  .slot_bytes = MESSAGE_BYTES };

TEST(messages_memory_and_rings_are_counted)
{
    struct harness *h = open_acts(2);
    const struct wb_task_config config = { .name = "acts", .entry = acts, .heap_bytes = 64 << 10 };
    struct wb_task *task = suite_task(h, &config);

    suite_channel(h, &of_acts, task, task);
    suite_run(h);
    tell_acts(h, CLAIM, HEAP);
}

TEST(a_switch_between_two_tasks_is_counted)
{
    struct harness *h = open_acts(1);

    suite_task(h, &(struct wb_task_config){ .name = "one", .entry = takes_turns });
    suite_task(h, &(struct wb_task_config){ .name = "other", .entry = takes_turns });
    suite_run(h);
    tell_acts(h, SWITCH, SWITCH);
}

TEST(a_message_that_wakes_another_core_is_counted)
{
    struct harness *h = open_acts(2);
    struct wb_task *from =
        suite_task(h, &(struct wb_task_config){ .name = "from", .entry = wakes });
    const struct wb_task_config config = { .name = "to", .entry = is_woken, .core = 1 };

    suite_channel(h, &of_acts, from, suite_task(h, &config));
    suite_run(h);
    tell_acts(h, NOTIFY, WAKE);
}
