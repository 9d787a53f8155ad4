// SPDX-License-Identifier: Apache-2.0
// Inversion of priorities: a task between the holder of a mutex and the more urgent one that waits
// for it does not keep them apart, on one core or on two.

#include "suite.h"

struct state {
    struct wb_mutex mutex;
    struct wb_word locked, hogged, done;
};

static void nap_until(const struct wb_word *word)
{
    while (wb_word_load(word, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 1000000);  // longer than a nap takes on any processor
}

static int low(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
    wb_word_store(&s->locked, 1, WB_SEQ_CST);
    while (wb_word_load(&s->hogged, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        suite_relax();
    }
    // It runs again only because somebody more urgent than the hog waits for it.
    EXPECT(self, wb_word_load(&s->done, WB_SEQ_CST) == 0);
    EXPECT(self, wb_sync_priority(&self->sync) == SUITE_PRIORITY + 2);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
    EXPECT(self, wb_sync_priority(&self->sync) == SUITE_PRIORITY);
    // And no longer.
    wb_checkpoint();
    EXPECT(self, wb_word_load(&s->done, WB_SEQ_CST) == 1);
    return 0;
}

// Takes its core until the urgent task is done, and gives way to more urgent ones only.
static int middle(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    nap_until(&s->locked);
    wb_word_store(&s->hogged, 1, WB_SEQ_CST);
    while (wb_word_load(&s->done, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        suite_relax();
    }
    return 0;
}

static int high(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    nap_until(&s->hogged);
    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
    return 0;
}

static void invert(uint32_t cores)
{
    struct harness *h = suite_open(cores, sizeof(struct state));

    suite_task(h, &(struct wb_task_config){ .name = "low", .entry = low });
    suite_task(h, &(struct wb_task_config){
                      .name = "middle", .entry = middle, .priority = SUITE_PRIORITY + 1 });
    suite_task(
        h, &(struct wb_task_config){
               .name = "high", .entry = high, .core = cores - 1, .priority = SUITE_PRIORITY + 2 });
    suite_run(h);
    harness_close(h);
}

TEST(a_holder_is_as_urgent_as_who_waits_for_it_on_its_core)
{
    invert(1);
}

TEST(a_holder_is_as_urgent_as_who_waits_for_it_on_another_core)
{
    invert(2);
}
