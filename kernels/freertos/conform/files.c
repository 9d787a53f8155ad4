// SPDX-License-Identifier: Apache-2.0
// Files of the host, which one core at a time may use: a core that is killed meanwhile leaves them
// to those that are started after it, in the same image.

#include <fcntl.h>
#include <unistd.h>

#include "suite.h"

enum { KILLS = 12, READS = 20, BYTES = 256 };

struct state {
    struct wb_word reads;
};

static int reads_for_ever(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const int file = open("/dev/zero", O_RDONLY);
    char bytes[BYTES];

    for (uint32_t n = 1;; n++) {
        EXPECT(self, pread(file, bytes, sizeof bytes, 0) == BYTES);
        wb_word_store(&s->reads, n, WB_SEQ_CST);
    }
}

TEST(a_core_killed_while_it_uses_a_file_does_not_keep_it)
{
    for (uint32_t i = 0; i < KILLS; i++) {
        struct harness *h = suite_open(2, sizeof(struct state));
        const struct state *s = suite_state(h);

        suite_task(
            h, &(struct wb_task_config){ .name = "reader", .entry = reads_for_ever, .core = 1 });
        harness_start(h);
        for (uint32_t ms = 0; wb_word_load(&s->reads, WB_SEQ_CST) < READS; ms++) {
            CHECK(ms < SUITE_LIMIT_MS);
            suite_go_on(h);
        }
        CHECK(suite_kill(h, 1));
        harness_close(h);
    }
}
