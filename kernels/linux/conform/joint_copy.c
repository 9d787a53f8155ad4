// SPDX-License-Identifier: Apache-2.0
// Contexts that are large enough for two cores to copy them together (joint_copy.c).

#include "private.h"
#include "suite.h"

enum { CORES = 3, WORDS = 15 << 10, HEAP_BYTES = 192 << 10, POLL_NS = 1000000 };

struct state {
    uint32_t rounds;  // until the task has come far enough
    struct wb_word come, over;
};

// Changes all of its heap, moves, and finds all of it as it was.
static int carrier(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint64_t *words = wb_task_state(self);

    if (words == NULL)
        words = wb_malloc(WORDS * sizeof *words);
    EXPECT(self, words != NULL);
    wb_task_set_state(self, words);
    for (uint32_t round = 0; wb_word_load(&s->over, WB_SEQ_CST) == 0; round++) {
        for (uint32_t i = 0; i < WORDS; i++)
            words[i] = (uint64_t)round << 32 | i;
        const enum wb_status status =
            wb_migrate(self, (wb_task_core(self) + 1) % CORES, WB_FOREVER);
        EXPECT(self, status == WB_OK || status == WB_ERR_GONE);
        for (uint32_t i = 0; i < WORDS; i++)
            EXPECT(self, words[i] == ((uint64_t)round << 32 | i));
        if (round >= s->rounds)
            wb_word_store(&s->come, 1, WB_SEQ_CST);
    }
    return 0;
}

static struct harness *start(uint32_t rounds)
{
    struct harness *h = suite_open_with(&(struct harness_config){ .cores = CORES,
                                                                  .poll_ns = POLL_NS,
                                                                  .transport = WB_TRANSPORT_ALIAS },
                                        sizeof(struct state));

    suite_task(h, &(struct wb_task_config){ .name = "carrier",
                                            .entry = carrier,
                                            .heap_bytes = HEAP_BYTES,
                                            .migratable = true,
                                            .restart = true,
                                            .mode = WB_REPLICATE });
    struct state *s = suite_state(h);
    s->rounds = rounds;
    harness_start(h);
    suite_wait_for(h, &s->come, 1);
    return h;
}

static void end(struct harness *h)
{
    struct state *s = suite_state(h);

    wb_word_store(&s->over, 1, WB_SEQ_CST);
    suite_wait(h);
}

TEST(a_context_that_two_cores_copy_together_is_whole_after_every_move)
{
    struct harness *h = start(suite_count(2000));

    end(h);
    for (uint32_t core = 0; core < CORES; core++) {
        const struct linux_copy *copy = &linux_core(harness_system(h)->cores[core])->copy;
        CHECK(wb_word_load(&copy->state, WB_SEQ_CST) >> 14 != 0 && copy->bytes > 100 << 10);
    }
    harness_close(h);
}

TEST(a_kernel_killed_at_any_time_leaves_what_two_cores_copied_together_whole)
{
    for (uint32_t round = 1; round <= suite_count(40); round++) {
        struct harness *h = start(round % 7);

        if (!suite_kill(h, round % CORES))
            return;
        end(h);
        harness_close(h);
    }
}
