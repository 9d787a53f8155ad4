// SPDX-License-Identifier: Apache-2.0
// What two cores see of each other's stores, in many rounds with other delays: the usual small
// programs ("litmus tests") of memory models. Exits with how many outcomes were not allowed, and
// prints how often each was seen.
#include "soc.h"

enum { ROUNDS = 400 };

// Two words in two lines, and what each core read.
static struct {
    volatile uint32_t x, pad_x[7];
    volatile uint32_t y, pad_y[7];
} shared __attribute__((aligned(64)));
static volatile uint32_t seen[2][2], arrived[2], failures;

__attribute__((interrupt)) void trap(void)
{
    soc_exit(1);
}

static void fence(void)
{
    (void)soc_read(SOC_LOCK_BASE + LOCK_UNIT_GRANT);
    __asm__ volatile("" ::: "memory");
}

// Both cores are here, and see what the other has stored before.
static void meet(uint32_t core)
{
    fence();
    const uint32_t round = arrived[core] + 1;
    arrived[core] = round;
    while (arrived[1 - core] < round) {}
}

static void delay(uint32_t cycles)
{
    const uint32_t begin = soc_cycles();
    while (soc_cycles() - begin < cycles) {}
}

// Writes data, then a flag; the other reads the flag, then the data.
static void message(uint32_t core)
{
    if (core == 0) {
        shared.x = 1;
        shared.y = 1;
    } else {
        seen[1][0] = shared.y;
        seen[1][1] = shared.x;
    }
}

// Each writes its own word and reads the other's.
static void both_store(uint32_t core)
{
    if (core == 0) {
        shared.x = 1;
        seen[0][0] = shared.y;
    } else {
        shared.y = 1;
        seen[1][0] = shared.x;
    }
}

static void both_store_with_fences(uint32_t core)
{
    if (core == 0) {
        shared.x = 1;
        fence();
        seen[0][0] = shared.y;
    } else {
        shared.y = 1;
        fence();
        seen[1][0] = shared.x;
    }
}

// One word is read twice while the other core writes it.
static void same_word(uint32_t core)
{
    if (core == 0) {
        shared.x = 1;
    } else {
        seen[1][0] = shared.x;
        seen[1][1] = shared.x;
    }
}

// A core reads what it wrote, and what the other did.
static void own_store(uint32_t core)
{
    shared.x = core + 1;
    seen[core][0] = shared.x;
    seen[core][1] = shared.x;
}

static int message_allowed(void)
{
    return !(seen[1][0] == 1 && seen[1][1] == 0);
}

static int one_sees_the_other(void)
{
    return seen[0][0] == 1 || seen[1][0] == 1;
}

static int not_back_in_time(void)
{
    return !(seen[1][0] == 1 && seen[1][1] == 0);
}

// Who has seen the other's store does not see its own again.
static int own_store_allowed(void)
{
    for (uint32_t core = 0; core < 2; core++) {
        if (seen[core][0] == 0 || seen[core][1] == 0)
            return 0;
        if (seen[core][0] != core + 1 && seen[core][1] == core + 1)
            return 0;
    }
    return 1;
}

static int anything(void)
{
    return 1;
}

static const struct {
    const char *name;
    void (*run)(uint32_t core);
    int (*allowed)(void);
    int (*counted)(void);
} tests[] = {
    { "message", message, message_allowed, message_allowed },
    { "both_store", both_store, anything, one_sees_the_other },
    { "both_store_with_fences", both_store_with_fences, one_sees_the_other, one_sees_the_other },
    { "same_word", same_word, not_back_in_time, not_back_in_time },
    { "own_store", own_store, own_store_allowed, own_store_allowed },
};

enum { TESTS = sizeof tests / sizeof tests[0] };

// Half of the rounds begin with both words in both caches.
static void prepare(uint32_t core, uint32_t round)
{
    if (core == 0) {
        shared.x = 0;
        shared.y = 0;
    }
    meet(core);
    if (round & 1)
        (void)(shared.x + shared.y);
    meet(core);
    delay(core == 0 ? round * 7 % 31 : round * 11 % 37);
}

static uint32_t run_test(uint32_t core, uint32_t test)
{
    uint32_t others = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        prepare(core, round);
        tests[test].run(core);
        meet(core);
        if (core == 0) {
            failures += !tests[test].allowed();
            others += !tests[test].counted();
        }
        meet(core);
    }
    return others;
}

void core_main(uint32_t core)
{
    for (uint32_t test = 0; test < TESTS && core < 2; test++) {
        const uint32_t others = run_test(core, test);
        if (core == 0) {
            soc_put(tests[test].name);
            soc_put(" ");
            soc_put_number(others);
            soc_put("\n");
        }
    }
    if (core == 0)
        soc_exit(failures > 255 ? 255 : failures);
}
