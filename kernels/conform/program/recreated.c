// SPDX-License-Identifier: Apache-2.0
// The tasks of recreate.c that are recreated, in a program of their own.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "recreated.h"
#include "wb/wb.h"

#define EXPECT(self, cond)                                                                         \
    do {                                                                                           \
        if (!(cond))                                                                               \
            wb_task_fail(self, "EXPECT(" #cond ")");                                               \
    } while (0)

int stepper(struct wb_task *self);
int relay(struct wb_task *self);
int crasher(struct wb_task *self);
int overflower(struct wb_task *self);
int quitter(struct wb_task *self);

struct memory {
    uint32_t steps, incarnation;
    unsigned char *data;  // another block of the heap
};

static unsigned char byte_at(uint32_t step, uint32_t i)
{
    return (unsigned char)(step * 7 + i);
}

// Its heap is the C library's malloc, as in any application.
static struct memory *remember(struct wb_task *self, struct recreated *s)
{
    struct memory *memory = wb_task_state(self);

    if (memory == NULL) {
        memory = calloc(1, sizeof *memory);
        EXPECT(self, memory != NULL);
        memory->data = malloc(RECREATED_DATA_BYTES);
        EXPECT(self, memory->data != NULL);
        for (uint32_t i = 0; i < RECREATED_DATA_BYTES; i++)
            memory->data[i] = byte_at(0, i);
        wb_task_set_state(self, memory);
        wb_word_store(&s->fresh, wb_word_load(&s->fresh, WB_SEQ_CST) + 1, WB_SEQ_CST);
    }
    memory->incarnation++;
    wb_word_store(&s->incarnation, memory->incarnation, WB_SEQ_CST);
    return memory;
}

// Changes all of its memory at each step, and checks it at each beginning.
int stepper(struct wb_task *self)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct recreated *s = wb_task_app(self)->state;
    struct memory *memory = remember(self, s);

    for (uint32_t i = 0; i < RECREATED_DATA_BYTES; i++)
        EXPECT(self, memory->data[i] == byte_at(memory->steps, i));
    while (wb_word_load(&s->end, WB_SEQ_CST) == 0) {
        memory->steps++;
        for (uint32_t i = 0; i < RECREATED_DATA_BYTES; i++)
            memory->data[i] = byte_at(memory->steps, i);
        wb_word_store(&s->core, wb_task_core(self), WB_SEQ_CST);
        wb_word_store(&s->steps, memory->steps, WB_SEQ_CST);
        const bool hold = wb_word_load(&s->hold, WB_SEQ_CST) != 0;
        if (hold)
            pthread_mutex_lock(&mutex);
        errno = EXDEV;
        wb_checkpoint();
        EXPECT(self, errno == EXDEV);
        if (hold)
            pthread_mutex_unlock(&mutex);
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

// What it has not released comes again after it was killed, so it releases only what it has sent.
int relay(struct wb_task *self)
{
    struct recreated *s = wb_task_app(self)->state;
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    struct memory *memory = remember(self, s);
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        EXPECT(self, wb_port_send(out, slot, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_port_release(in) == WB_OK);
        memory->steps++;
        wb_word_store(&s->passed, memory->steps, WB_SEQ_CST);
        wb_word_store(&s->core, wb_task_core(self), WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

int crasher(struct wb_task *self)
{
    struct recreated *s = wb_task_app(self)->state;

    (void)self;
    wb_word_store(&s->incarnation, 1, WB_SEQ_CST);
    volatile uintptr_t nowhere = 16;
    *(volatile int *)nowhere = 1;
    return 0;
}

static int __attribute__((noinline)) descend(volatile unsigned char *above, int depth)
{
    volatile unsigned char frame[4096];

    frame[0] = above[0];
    return depth == 0 ? frame[0] : descend(frame, depth - 1) + frame[0];
}

int overflower(struct wb_task *self)
{
    volatile unsigned char top = 1;

    return descend(&top, 1000) + (wb_stopping(self) ? 1 : 0);
}

int quitter(struct wb_task *self)
{
    (void)self;
    return 1;
}
