// SPDX-License-Identifier: Apache-2.0
// Checkpoint images and replay: whatever is stopped, every message is delivered once, with what its
// senders had kept on their stacks and heaps.

#include "protocol.h"

enum { CORES = 3, SLOTS = 5, MESSAGES = 40, MOVES = 8, EVERY = 3 };

struct state {
    struct wb_word moves;  // protocol_mover()
    struct suite_end end;
};

// False: the receiver was stopped before its first image.
static bool sends(struct wb_task *self, struct wb_port *out, const struct suite_sum *m)
{
    const enum wb_status status = wb_port_send(out, m, WB_FOREVER);

    EXPECT(self, status == WB_OK || (status == WB_ERR_GONE && protocol_has_death(self->system)));
    return status == WB_OK;
}

static int sender(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (struct suite_sum m = { 0 }; m.number < MESSAGES && sends(self, out, &m); m.number++)
        wb_checkpoint();
    return 0;
}

// Keeps a sum on its heap; holds one message while it passes its checkpoint.
static int summer(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    uint32_t *sum = wb_calloc(1, sizeof *sum);
    const void *slot;

    EXPECT(self, sum != NULL);
    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct suite_sum *m = slot;
        *sum += m->number;
        const struct suite_sum to = { m->number, *sum };
        if (!sends(self, out, &to))
            break;
        wb_checkpoint();
        EXPECT(self, wb_port_release(in) == WB_OK);
    }
    return 0;
}

static int checker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    suite_receive_sums(self, &s->end);
    return 0;
}

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry, uint32_t core,
                           enum wb_mode mode)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .entry = entry,
                                                   .core = core,
                                                   .migratable = true,
                                                   .mode = mode,
                                                   .checkpoint_every = EVERY,
                                                   .replay = true });
}

static struct harness *open_pipeline(enum wb_mode mode)
{
    struct wb_channel_config config = { .slots = SLOTS, .slot_bytes = sizeof(struct suite_sum) };
    struct harness *h =
        suite_open_with(&(struct harness_config){ .cores = CORES }, sizeof(struct state));
    struct wb_task *from = add(h, "sender", sender, 0, mode);
    struct wb_task *middle = add(h, "summer", summer, 1, mode);
    struct wb_task *to = add(h, "checker", checker, 2, mode);

    config.name = "first";
    suite_channel(h, &config, from, middle);
    config.name = "second";
    suite_channel(h, &config, middle, to);
    protocol_mover(h, MOVES);
    return h;
}

static struct harness *open_handoff(void)
{
    return open_pipeline(WB_HANDOFF);
}

static struct harness *open_replicate(void)
{
    return open_pipeline(WB_REPLICATE);
}

static struct harness *open_updated(void)
{
    struct harness *h = open_pipeline(WB_REPLICATE);

    harness_system(h)->config.updates_images = true;
    return h;
}

// Before its first image a task cannot go on, and is lost: whoever waits for it is told.
static const char *check(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);
    uint32_t lost = 0;

    for (uint32_t i = 0; i < 3; i++) {
        const struct wb_task *task = &harness_system(h)->tasks[i];
        lost += wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_LOST;
        if (task->images.damaged != 0)
            return "an image is damaged";
        if (wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_LOST &&
            wb_counter_get(&task->images.taken) != 0)
            return "a task with an image is lost";
    }
    if (lost != 0)
        return protocol_kills(fault) ? NULL : "a task is lost without a death";
    if (wb_word_load(&s->end.over, WB_SEQ_CST) != 1 ||
        wb_word_load(&s->end.received, WB_SEQ_CST) != MESSAGES)
        return "not every message has come";
    return NULL;
}

TEST(a_pipeline_that_goes_on_from_its_images)
{
    protocol_inject(&(struct protocol){
        .open = open_handoff, .check = check, .cores = CORES, .migrations = 5 });
}

TEST(a_replicated_pipeline_that_goes_on_from_its_images)
{
    protocol_inject(&(struct protocol){
        .open = open_replicate, .check = check, .cores = CORES, .migrations = 5 });
}

TEST(a_pipeline_that_goes_on_from_images_that_are_brought_up_to_date)
{
    protocol_inject(&(struct protocol){
        .open = open_updated, .check = check, .cores = CORES, .migrations = 5 });
}
