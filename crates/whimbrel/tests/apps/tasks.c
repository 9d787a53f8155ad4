// SPDX-License-Identifier: Apache-2.0
// Tasks for the tests of the command: a stream whose order is checked, and every way to misbehave.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wb/wb.h"

static void compute_ns(uint64_t ns)
{
    const uint64_t end = wb_now_ns() + ns;

    while (wb_now_ns() < end)
        ;
}

// Refuses when the parameter `refuse` is set, as an application does with a file that is missing.
enum wb_status wb_app_setup(struct wb_app *app)
{
    const char *refuse = wb_param_text(app, "refuse", "");

    if (refuse[0] == '\0')
        return WB_OK;
    snprintf(app->error, sizeof app->error, "refuse is %s: leave it empty", refuse);
    return WB_ERR_INVAL;
}

// Sends 0, 1, 2, ... until the run should end, or `messages` of them.
int source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint64_t));
    const double messages = wb_param_number(wb_task_app(self), "messages", 0);

    for (uint64_t n = 0; messages == 0 || (double)n < messages; n++) {
        if (wb_stopping(self) || wb_port_send(out, &n, WB_FOREVER) != WB_OK)
            return 0;
        (void)wb_period_wait(self);
        wb_checkpoint();
    }
    return 0;
}

int worker(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint64_t));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint64_t));
    uint64_t n;

    while (wb_port_receive(in, &n, WB_FOREVER) == WB_OK) {
        if (wb_port_send(out, &n, WB_FOREVER) != WB_OK)
            return 0;
        wb_checkpoint();
    }
    return 0;
}

int sink(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint64_t));
    uint64_t n, expected = 0;

    while (wb_port_receive(in, &n, WB_FOREVER) == WB_OK) {
        if (n != expected++)
            wb_task_fail(self, "a message was lost, repeated or reordered");
        wb_checkpoint();
    }
    return 0;
}

// Computes on and on, with a checkpoint every `step_ms` milliseconds.
int slow(struct wb_task *self)
{
    const double step_ms = wb_param_number(wb_task_app(self), "step_ms", 1);

    while (!wb_stopping(self)) {
        compute_ns((uint64_t)(step_ms * 1e6));
        wb_checkpoint();
    }
    return 0;
}

static uint64_t processor_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// `messages` jobs that each compute for `step_ms` milliseconds of this machine.
int paced(struct wb_task *self)
{
    const double step_ms = wb_param_number(wb_task_app(self), "step_ms", 1);
    const double messages = wb_param_number(wb_task_app(self), "messages", 0);

    for (uint64_t n = 0; (double)n < messages; n++) {
        const uint64_t end = processor_ns() + (uint64_t)(step_ms * 1e6);
        while (processor_ns() < end)
            wb_checkpoint();
        (void)wb_period_wait(self);
    }
    return 0;
}

// Does not want to end.
int stubborn(struct wb_task *self)
{
    for (;;) {
        wb_sleep_until(wb_now_ns() + 1000000);
        wb_checkpoint();
        (void)self;
    }
}

static int descend(volatile char *above, unsigned int depth)
{
    volatile char frame[512];

    frame[0] = above[0];
    return depth == 0 ? frame[0] : descend(frame, depth - 1) + frame[0];
}

// Needs far more stack than it has.
int deep(struct wb_task *self)
{
    volatile char start = 1;

    (void)self;
    return descend(&start, 1 << 20) & 0;
}

int wild(struct wb_task *self)
{
    volatile int *volatile nowhere = NULL;

    (void)self;
    *nowhere = 1;
    return 0;
}

struct large {
    uint64_t number;
    unsigned char more[248];
};

// Sends, or receives, messages of 256 bytes, whatever the slots have.
int large_source(struct wb_task *self)
{
    const struct large message = { 0 };

    return wb_port_send(wb_port_find(self, "out", 0, sizeof message), &message, WB_FOREVER) !=
           WB_OK;
}

int large_sink(struct wb_task *self)
{
    struct large message;

    return wb_port_receive(wb_port_find(self, "in", 0, sizeof message), &message, WB_FOREVER) !=
           WB_OK;
}

// The same in place, where larger slots will do.
int room_source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_room(self, "out", 0, sizeof(struct large));
    void *slot;

    if (wb_port_claim(out, &slot, WB_FOREVER) != WB_OK)
        return 1;
    memset(slot, 0, sizeof(struct large));
    return wb_port_commit(out) != WB_OK;
}

// Asks for a port that app.toml has under another name.
int misnamed(struct wb_task *self)
{
    return wb_port_find(self, "outt", 2, sizeof(uint64_t)) == NULL;
}

// Does not look whether there is any memory for it.
int greedy(struct wb_task *self)
{
    volatile char *volatile block = malloc((size_t)1 << 20);

    (void)self;
    block[100] = 1;
    free((void *)block);
    return 0;
}

int unhappy(struct wb_task *self)
{
    wb_task_fail(self, "the antenna is unplugged");
}

static void put(void *slot, uint32_t bytes, uint64_t number)
{
    (void)bytes;
    *(uint32_t *)slot = (uint32_t)number;
}

static bool is(const void *slot, uint32_t bytes, uint64_t number)
{
    (void)bytes;
    return *(const uint32_t *)slot == (uint32_t)number;
}

// Fires, by steps of its kernel where that takes them.
int firing(struct wb_task *self)
{
    return wb_fire(self, &(const struct wb_messages){ .write = put, .read = is });
}

// Waits for a message of a task that waits for one of this.
int mutual(struct wb_task *self)
{
    uint64_t n;

    if (wb_port_receive(wb_port_find(self, "in", 0, sizeof(uint64_t)), &n, WB_FOREVER) != WB_OK)
        return 0;
    return wb_port_send(wb_port_find(self, "out", 0, sizeof(uint64_t)), &n, WB_FOREVER) == WB_OK
               ? 0
               : 1;
}

static struct wb_mutex key;
static struct wb_semaphore never = { .most = 1 };

// Keeps the key and waits for what nobody gives.
int keeper(struct wb_task *self)
{
    (void)self;
    if (wb_mutex_lock(&key, WB_FOREVER) != WB_OK)
        return 1;
    return wb_semaphore_take(&never, WB_FOREVER) == WB_OK ? 0 : 1;
}

// Waits for the key once it is taken.
int caller(struct wb_task *self)
{
    (void)self;
    while (wb_mutex_try(&key) == WB_OK) {
        wb_mutex_unlock(&key);
        wb_sleep_until(wb_now_ns() + 1000000);
    }
    return wb_mutex_lock(&key, WB_FOREVER) == WB_OK ? 0 : 1;
}
