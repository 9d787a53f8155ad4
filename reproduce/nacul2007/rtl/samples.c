// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <stdio.h>

enum { MOST = 256 };

static struct {
    const char *name;
    uint32_t number, cycles;
} samples[MOST];
static uint32_t taken;

void samples_keep(struct wb_task *self, const char *name, uint32_t number, uint32_t cycles)
{
    EXPECT(self, taken < MOST);
    samples[taken].name = name;
    samples[taken].number = number;
    samples[taken++].cycles = cycles;
}

static void print(uint32_t i)
{
    printf("cost %s", samples[i].name);
    if (samples[i].number != SAMPLES_NO_NUMBER)
        printf(".%lu", (unsigned long)samples[i].number);
    printf(" %lu\n", (unsigned long)samples[i].cycles);
}

void samples_run(struct harness *h)
{
    struct wb_system *system = harness_system(h);

    taken = 0;
    system->config.record_events = 0;
    for (uint32_t i = 0; i < system->n_cores; i++)
        system->cores[i]->record.events.slots = 0;
    suite_run(h);
    harness_close(h);
    for (uint32_t i = 0; i < taken; i++)
        print(i);
}
