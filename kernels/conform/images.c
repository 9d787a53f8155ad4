// SPDX-License-Identifier: Apache-2.0
// Checkpoint images: a task that ran on a killed kernel goes on from the last one, with what it had
// on its stack and heap, and its channels as if nothing had happened.

#include "suite.h"

enum { CORES = 4, SLOTS = 9, EVERY = 4 };

// Its progress is nowhere but on its stack: without an image it could not go on.
static int sender(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (struct suite_sum m = { 0 }; !wb_stopping(self); m.number++) {
        EXPECT(self, wb_port_send(out, &m, WB_FOREVER) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

// Keeps a sum on its heap; holds one message while it passes its checkpoint.
static int summer(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    uint32_t *sum = wb_calloc(1, sizeof *sum);
    const void *slot;
    void *to;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct suite_sum *m = slot;
        *sum += m->number;
        suite_compute(500);
        EXPECT(self, wb_port_claim(out, &to, WB_FOREVER) == WB_OK);
        *(struct suite_sum *)to = (struct suite_sum){ m->number, *sum };
        EXPECT(self, wb_port_commit(out) == WB_OK);
        wb_checkpoint();
        EXPECT(self, wb_port_release(in) == WB_OK);
    }
    return 0;
}

static int checker(struct wb_task *self)
{
    suite_receive_sums(self, suite_shared(self));
    return 0;
}

static int mover(struct wb_task *self)
{
    static const char *const names[] = { "sender", "summer", "checker" };
    const struct suite_end *s = suite_shared(self);
    uint32_t random = (uint32_t)wb_now_ns() | 1;

    while (wb_word_load(&s->over, WB_SEQ_CST) == 0) {
        struct wb_task *task = wb_task_find(wb_task_app(self), names[suite_random(&random) % 3], 0);
        suite_move_anywhere(self, task, &random);
        wb_sleep_until(wb_now_ns() + 50000);
    }
    return 0;
}

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry, uint32_t core,
                           enum wb_mode mode, bool replay)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .entry = entry,
                                                   .core = core,
                                                   .migratable = true,
                                                   .mode = mode,
                                                   .checkpoint_every = EVERY,
                                                   .replay = replay });
}

static void connect(struct harness *h, const char *name, struct wb_task *from, struct wb_task *to)
{
    suite_channel(h,
                  &(struct wb_channel_config){
                      .name = name, .slots = SLOTS, .slot_bytes = sizeof(struct suite_sum) },
                  from, to);
}

static struct harness *open_pipeline(enum wb_mode mode)
{
    struct harness *h = suite_open_with(
        &(struct harness_config){ .cores = CORES, .poll_ns = 20000, .offer_timeout_ns = 20000000 },
        sizeof(struct suite_end));
    struct wb_task *from = add(h, "sender", sender, 0, mode, true);
    struct wb_task *middle = add(h, "summer", summer, 1, mode, true);
    struct wb_task *to = add(h, "checker", checker, 2, mode, true);

    connect(h, "first", from, middle);
    connect(h, "second", middle, to);
    suite_task(h,
               &(struct wb_task_config){
                   .name = "mover", .entry = mover, .core = 3, .priority = 12, .restart = true });
    return h;
}

// Kills all kernels but one, in any order and at any time after the first images.
static bool kill_all_but_one(struct harness *h, uint32_t *random)
{
    uint32_t living[CORES] = { 0, 1, 2, 3 };
    const struct suite_end *s = suite_state(h);

    while (wb_word_load(&s->received, WB_SEQ_CST) < 10)
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    for (uint32_t n = CORES; n > 1; n--) {
        const uint32_t i = suite_random(random) % n;
        suite_compute(suite_random(random) % 1500000);
        if (!suite_kill(h, living[i]))
            return false;
        living[i] = living[n - 1];
    }
    return true;
}

static void deliver_once(enum wb_mode mode, uint32_t rounds)
{
    uint32_t random = 4711, resumed = 0;

    const uint32_t least = suite_count(rounds);

    // On a machine with other work, all tasks may wait whenever a kernel is killed.
    for (uint32_t i = 0; i < least || (resumed == 0 && i < 20 * least); i++) {
        struct harness *h = open_pipeline(mode);
        const struct suite_end *s = suite_state(h);

        harness_start(h);
        if (!kill_all_but_one(h, &random))
            return;
        const uint32_t before = wb_word_load(&s->received, WB_SEQ_CST);
        while (wb_word_load(&s->received, WB_SEQ_CST) < before + 10)
            CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
        wb_system_stop(harness_system(h));
        suite_wait(h);
        CHECK(wb_word_load(&s->over, WB_SEQ_CST) == 1);
        for (uint32_t t = 0; t < 3; t++) {
            resumed += harness_system(h)->tasks[t].images.resumed;
            CHECK(harness_system(h)->tasks[t].images.damaged == 0);
        }
        harness_close(h);
    }
    CHECK(resumed > 0);
}

TEST(every_message_is_delivered_once_although_kernels_are_killed)
{
    deliver_once(WB_HANDOFF, 40);
}

TEST(so_it_is_when_the_tasks_are_replicated)
{
    if ((wb_kernel_can() & WB_CAN_REPLICATE) != 0)
        deliver_once(WB_REPLICATE, 40);
    else
        wb_test_skip("this kernel has no private memory");
}

// ---- Something of the kernel is held ------------------------------------------------------------

static int holder(struct wb_task *self)
{
    struct suite_end *s = suite_shared(self);

    if (!harness_hold(self, true))
        return 0;
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    for (uint32_t i = 0; i < 3; i++)
        wb_checkpoint();
    EXPECT(self, wb_counter_get(&self->images.taken) == 0);
    EXPECT(self, harness_hold(self, false));
    wb_checkpoint();
    EXPECT(self, wb_counter_get(&self->images.taken) == 1);
    return 0;
}

TEST(no_image_is_taken_of_a_task_that_holds_something_of_its_kernel)
{
    struct harness *h = suite_open(1, sizeof(struct suite_end));
    const struct suite_end *s = suite_state(h);

    suite_task(
        h, &(struct wb_task_config){ .name = "holder", .entry = holder, .checkpoint_every = 1 });
    suite_run(h);
    if (wb_word_load(&s->over, WB_SEQ_CST) == 0)
        wb_test_skip("nothing of this kernel can be held");
    harness_close(h);
}
