// SPDX-License-Identifier: Apache-2.0
// Slots in use, heap blocks, the state pointer: what a task may keep while it moves.

#include <string.h>

#include "suite.h"

enum { SLOT_BYTES = 256, IN_USE = 3, SLOTS = 7, BLOCKS = 24 };

struct state {
    uint32_t rounds;
    void *kept;
};

static unsigned char byte_of(uint32_t number)
{
    return (unsigned char)(number * 37 + 11);
}

static bool is_filled(const unsigned char *at, size_t bytes, uint32_t number)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte_of(number))
            return false;
    return true;
}

// ---- Slots in place -----------------------------------------------------------------------------

// Writes one half of each slot on one core and the other half on the next.
static int writer(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    void *slots[IN_USE];

    for (uint32_t first = 0; first < s->rounds * IN_USE; first += IN_USE) {
        for (uint32_t i = 0; i < IN_USE; i++) {
            EXPECT(self, wb_port_claim(out, &slots[i], WB_FOREVER) == WB_OK);
            memset(slots[i], byte_of(first + i), SLOT_BYTES / 2);
        }
        suite_hop(self);
        for (uint32_t i = 0; i < IN_USE; i++) {
            EXPECT(self, is_filled(slots[i], SLOT_BYTES / 2, first + i));
            memset((unsigned char *)slots[i] + SLOT_BYTES / 2, byte_of(first + i), SLOT_BYTES / 2);
        }
        for (uint32_t i = 0; i < IN_USE; i++) {
            EXPECT(self, wb_port_commit(out) == WB_OK);
            if (i == 0)
                suite_hop(self);
        }
        EXPECT(self, wb_port_commit(out) == WB_ERR_INVAL);
    }
    return 0;
}

static int reader(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *slots[IN_USE];

    for (uint32_t first = 0; first < s->rounds * IN_USE; first += IN_USE) {
        for (uint32_t i = 0; i < IN_USE; i++)
            EXPECT(self, wb_port_hold(in, &slots[i], WB_FOREVER) == WB_OK);
        for (uint32_t i = 0; i < IN_USE; i++) {
            EXPECT(self, is_filled(slots[i], SLOT_BYTES, first + i));
            suite_hop(self);
            EXPECT(self, is_filled(slots[i], SLOT_BYTES, first + i));
            EXPECT(self, wb_port_release(in) == WB_OK);
        }
        EXPECT(self, wb_port_release(in) == WB_ERR_INVAL);
    }
    EXPECT(self, wb_port_hold(in, &slots[0], WB_FOREVER) == WB_ERR_GONE);
    return 0;
}

// One task that sends from core 0 and one that receives on core 1; both may move.
static void run_pair(wb_task_entry *from, wb_task_entry *to, uint32_t rounds,
                     const struct wb_channel_config *channel)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);
    const struct wb_task_config sender = { .name = "sender", .entry = from, .migratable = true };
    const struct wb_task_config receiver = {
        .name = "receiver", .entry = to, .core = 1, .migratable = true
    };

    s->rounds = suite_count(rounds);
    suite_channel(h, channel, suite_task(h, &sender), suite_task(h, &receiver));
    suite_run(h);
    CHECK(wb_task_migrations(wb_task_find(&harness_system(h)->app, "sender", 0)) >= s->rounds);
    harness_close(h);
}

TEST(claimed_and_held_slots_stay_as_they_are_across_migrations)
{
    run_pair(
        writer, reader, 700,
        &(struct wb_channel_config){ .name = "slots", .slots = SLOTS, .slot_bytes = SLOT_BYTES });
}

TEST(claimed_and_held_slots_of_a_mailbox_stay_as_they_are_across_migrations)
{
    run_pair(writer, reader, 700,
             &(struct wb_channel_config){
                 .name = "slots", .slots = SLOTS, .slot_bytes = SLOT_BYTES, .mailbox = true });
}

// ---- The heap -----------------------------------------------------------------------------------

// More is allocated than the heap has room for: what others free has to come home.
static int giver(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < s->rounds; i++) {
        const size_t bytes = 16 + i % 5 * 100;
        unsigned char *kept = wb_malloc(bytes), *given = wb_malloc(bytes);
        EXPECT(self, kept != NULL && given != NULL);
        memset(kept, byte_of(i), bytes);
        memset(given, byte_of(i), bytes);
        EXPECT(self, wb_port_send(out, &given, WB_FOREVER) == WB_OK);
        suite_hop(self);
        EXPECT(self, is_filled(kept, bytes, i));
        wb_free(kept);
    }
    return 0;
}

static int taker(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    unsigned char *block;

    for (uint32_t i = 0; wb_port_receive(in, &block, WB_FOREVER) == WB_OK; i++) {
        EXPECT(self, is_filled(block, 16 + i % 5 * 100, i));
        if (i % 3 == 0)
            suite_hop(self);
        wb_free(block);
    }
    return 0;
}

TEST(heap_blocks_move_with_their_task_and_are_freed_on_any_core)
{
    run_pair(giver, taker, 2000,
             &(struct wb_channel_config){
                 .name = "blocks", .slots = BLOCKS, .slot_bytes = sizeof(void *) });
}

// ---- The state pointer --------------------------------------------------------------------------

static int keeper(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_task_state(self) == NULL);
    wb_task_set_state(self, &s->rounds);
    for (uint32_t i = 0; i < 8; i++) {
        suite_hop(self);
        EXPECT(self, wb_task_state(self) == &s->rounds);
        EXPECT(self, wb_kernel_self() == self);
        EXPECT(self, wb_task_migrations(self) == i + 1);
    }
    s->kept = wb_task_state(self);
    return 0;
}

TEST(a_task_keeps_its_state_pointer_and_knows_where_it_is)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct state *s = suite_state(h);

    suite_task(h,
               &(struct wb_task_config){ .name = "keeper", .entry = keeper, .migratable = true });
    suite_run(h);
    CHECK(s->kept == &s->rounds);
    harness_close(h);
}
