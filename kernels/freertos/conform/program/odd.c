// SPDX-License-Identifier: Apache-2.0
// Tasks of modules.c, in a module of their own.
#include <string.h>

#include "odd.h"
#include "wb/wb.h"

int keeper(struct wb_task *self);
int writer(struct wb_task *self);

struct kept {
    const char *word;
    uint32_t (*twice)(uint32_t n);
    double share;
    uint32_t incarnation;
};

static uint32_t in_this_life = 7;
static uint32_t zeros[16];

static uint32_t __attribute__((noinline)) twice(uint32_t n)
{
    return 2 * n;
}

static struct kept *first_life(struct wb_task *self)
{
    struct kept *kept = wb_calloc(1, sizeof *kept);

    if (kept == NULL)
        wb_task_fail(self, "it has no heap");
    *kept = (struct kept){ .word = "curlew", .twice = twice, .share = 1.0 / 3 };
    wb_task_set_state(self, kept);
    return kept;
}

// What its heap points at is where it was; its variables are as at first. It computes with what a
// compiler's library has, linked into the module: divisions.
int keeper(struct wb_task *self)
{
    struct odd *s = wb_task_app(self)->state;
    struct kept *kept = wb_task_state(self);

    kept = kept != NULL ? kept : first_life(self);
    kept->incarnation++;
    if (strcmp(kept->word, "curlew") != 0 ||
        kept->twice(kept->incarnation) != 2 * kept->incarnation || kept->share != 1.0 / 3 ||
        in_this_life != 7 || zeros[kept->incarnation % 16] != 0)
        wb_task_fail(self, "it is not what it was");
    while (wb_word_load(&s->end, WB_SEQ_CST) == 0) {
        in_this_life += wb_task_index(self) / kept->incarnation + 1;
        zeros[in_this_life % 16] = 1;
        wb_word_store(&s->incarnation, kept->incarnation, WB_SEQ_CST);
        wb_checkpoint();
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

int writer(struct wb_task *self)
{
    (void)self;
    *(volatile uint32_t *)(void *)writer = 0;
    return 0;
}
