// Three tasks in a stream. Each is a function that the [[task]] of its name in app.toml runs.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { SAMPLES = 200, WINDOW = 8 };

// A message; its size is `slot_bytes` in app.toml.
struct sample {
    uint32_t number;
    int32_t value;
    uint32_t moves;  // of the filter so far
};

// Sends a sawtooth, one sample in each period.
int sensor(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct sample));

    for (uint32_t n = 0; n < SAMPLES && !wb_stopping(self); n++) {
        const struct sample sample = { .number = n, .value = (int32_t)(n % 50) };
        if (wb_port_send(out, &sample, WB_FOREVER) != WB_OK)
            return 1;
        wb_period_wait(self);
    }
    return 0;
}

// Replaces each value by the mean of the last ones. They are on its stack, which moves along.
int filter(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct sample));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct sample));
    struct sample sample;
    int32_t window[WINDOW] = { 0 };
    int32_t sum = 0;

    while (wb_port_receive(in, &sample, WB_FOREVER) == WB_OK) {
        int32_t *const oldest = &window[sample.number % WINDOW];
        sum += sample.value - *oldest;
        *oldest = sample.value;
        sample.value = sum / WINDOW;
        sample.moves = (uint32_t)wb_task_migrations(self);
        if (wb_port_send(out, &sample, WB_FOREVER) != WB_OK)
            return 1;
        wb_checkpoint();  // here it may leave its core; it goes on here, on another
    }
    return 0;
}

// Counts the samples, and fails if one is missing. It prints by dprintf: a buffer of stdio would
// stay behind when a task moves.
int sink(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct sample));
    struct sample sample;
    uint32_t n = 0, moves = 0;
    int32_t sum = 0;

    for (; wb_port_receive(in, &sample, WB_FOREVER) == WB_OK; n++) {
        if (sample.number != n)
            wb_task_fail(self, "a sample is missing");
        if (sample.moves != moves)
            dprintf(STDOUT_FILENO, "sample %u comes after move %u of the filter\n", n,
                    sample.moves);
        moves = sample.moves;
        sum += sample.value;
        wb_checkpoint();
    }
    dprintf(STDOUT_FILENO, "%u samples, none lost, sum %d\n", n, sum);
    return 0;
}
