// SPDX-License-Identifier: Apache-2.0
// Two tasks give each other a message in turns. What is measured: from just before one receives,
// and has to wait, to when the other has received; it was waiting for what is there now. One
// switch.
//
// RECEIVE is the function that is measured; STAMPS are mcycle at some places inside of it. Prints a
// line for each sample: the cycles in all, and at each stamp.
#include "rtos.h"
#include "soc.h"

#ifndef RECEIVE
#define RECEIVE rtos_receive
#endif
#ifndef STAMPS
#define STAMPS 0
#endif

enum { WARM = 16, SAMPLES = 256, STACK_BYTES = 2048, STAMPS_AT = SOC_TCM_BASE + 16 };
enum { BEFORE = SOC_TCM_BASE + 12 };  // which stores nothing in the shared RAM

static const uint32_t stamps = STAMPS;
static uint32_t samples[SAMPLES][STAMPS + 1], seen;
static uint32_t port[2];
static _Alignas(16) uint8_t stacks[2][STACK_BYTES];

void program_end(void)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        for (uint32_t j = 0; j <= stamps; j++) {
            soc_put_number(samples[i][j]);
            soc_put(j < stamps ? " " : "\n");
        }
    }
    soc_exit(0);
}

static void keep(uint32_t after)
{
    const uint32_t before = soc_read(BEFORE);

    if (seen >= WARM) {
        uint32_t *sample = samples[seen - WARM];

        *sample++ = after - before;
        for (uint32_t i = 0; i < stamps; i++)
            *sample++ = soc_read(STAMPS_AT + 4 * i) - before;
    }
    if (++seen == WARM + SAMPLES)
        program_end();
}

// Half of a round: the other task's message is awaited, and then it gets ours.
static void play(void *argument)
{
    const uint32_t me = (uint32_t)argument, from = port[me], to = port[1 - me];
    uint32_t message;

    for (;;) {
        soc_write(BEFORE, soc_cycles());
        RECEIVE(from, &message, 1);
        keep(soc_cycles());
        message++;
        rtos_send(to, &message, 1);
    }
}

void program_setup(void)
{
    const uint32_t first = 0;

    for (uintptr_t i = 0; i < 2; i++)
        port[i] = rtos_port(1);
    for (uintptr_t i = 0; i < 2; i++)
        rtos_task(play, (void *)i, stacks[i], STACK_BYTES, 1);
    rtos_send(port[1], &first, 1);
}
