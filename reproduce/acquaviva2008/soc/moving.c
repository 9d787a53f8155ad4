// SPDX-License-Identifier: Apache-2.0
// What a migration, an image and an agent's tick cost on the SoC with the kernel of kernels/riscv,
// in cycles: a line `cost NAME CYCLES` for each sample. Figures 2, 6, 7 and 16 of acquaviva2008.
//
// It is laid out and run as cases of the conformance suite. All that is measured is on core 1: on
// core 0 the launcher looks after the run now and then.

#include <string.h>

#include "samples.h"

enum { SAMPLES = 8, WARM = 2, KIB = 1024, CORE = 1 };

struct state {
    uint32_t bytes, tasks;
    const struct wb_policy *policy;
};

static void keep(struct wb_task *self, const char *name, uint32_t number, uint32_t n,
                 uint32_t cycles)
{
    if (n >= WARM)
        samples_keep(self, name, number, cycles);
}

static uint32_t word_of(const volatile uint32_t *words, uint32_t bytes)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < bytes / 4; i++)
        sum += words[i];
    return sum;
}

// What a task has in use. One that stands for next to none has its stack all the same.
static uint32_t *use(struct wb_task *self, uint32_t bytes)
{
    uint32_t *words = wb_malloc(bytes);

    EXPECT(self, words != NULL);
    memset(words, 1, bytes);
    return words;
}

static void run_alone(wb_task_entry *entry, uint32_t bytes, uint32_t checkpoint_every)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    ((struct state *)suite_state(h))->bytes = bytes;
    suite_task(h, &(struct wb_task_config){ .name = "measured",
                                            .entry = entry,
                                            .core = CORE,
                                            .migratable = true,
                                            .heap_bytes = 2 * bytes + 16 * KIB,
                                            .checkpoint_every = checkpoint_every });
    samples_run(h);
}

static void run_sizes(wb_task_entry *entry, uint32_t checkpoint_every)
{
    static const uint32_t sizes[] = { 1, 4, 16, 64 };

    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        run_alone(entry, sizes[i] * KIB, checkpoint_every);
}

// ---- Figures 2 and 7: moving a task of so many KiB ----------------------------------------------

// There, and back. What is in the cache it left has to be fetched where it is now: it reads all of
// its memory before, right afterwards, and once more.
static int mover(struct wb_task *self)
{
    const uint32_t bytes = ((struct state *)suite_shared(self))->bytes, kib = bytes / KIB;
    const uint32_t *words = use(self, bytes);
    uint32_t sum = word_of(words, bytes);

    for (uint32_t n = 0; n < SAMPLES; n++) {
        uint32_t begin = samples_now();
        suite_hop(self);
        keep(self, "handoff", kib, n, samples_now() - begin);
        begin = samples_now();
        sum -= word_of(words, bytes);
        keep(self, "first_pass", kib, n, samples_now() - begin);
        begin = samples_now();
        sum += word_of(words, bytes);
        keep(self, "second_pass", kib, n, samples_now() - begin);
        for (const uint32_t rest = samples_now(); samples_now() - rest < 20000;) {
        }  // the other core sleeps
    }
    EXPECT(self, sum == word_of(words, bytes));
    return 0;
}

TEST(what_a_hand_off_costs_by_size)
{
    run_sizes(mover, 0);
}

// What any way of moving that copies a task takes at least.
static int copier(struct wb_task *self)
{
    const uint32_t bytes = ((struct state *)suite_shared(self))->bytes;
    uint32_t *from = use(self, bytes / 2), *to = use(self, bytes / 2);

    for (uint32_t n = 0; n < SAMPLES; n++) {
        const uint32_t begin = samples_now();
        memcpy(to, from, bytes / 2);
        keep(self, "copy", bytes / 2, n, samples_now() - begin);
    }
    return 0;
}

TEST(what_a_copy_costs_by_size)
{
    run_sizes(copier, 0);
}

// ---- Figure 16: a checkpoint that stores an image -----------------------------------------------

static int imaged(struct wb_task *self)
{
    const uint32_t bytes = ((struct state *)suite_shared(self))->bytes;

    (void)use(self, bytes);
    for (uint32_t n = 0; n < SAMPLES; n++) {
        const uint32_t begin = samples_now();
        wb_checkpoint();
        keep(self, "image", bytes / KIB, n, samples_now() - begin);
        EXPECT(self, wb_counter_get(&self->images.taken) == n + 1);
    }
    return 0;
}

TEST(what_an_image_costs_by_size)
{
    run_sizes(imaged, 1);
}

// ---- Figure 6: an agent's tick ------------------------------------------------------------------

enum { CACHE_BYTES = 4096, RATE_MILLIHZ = 450000 };

static const uint64_t hour_ns = 3600000000000;

// As many instructions as the cache has room for: none of what ran before is left.
static void fill_fetches(void)
{
    __asm__ volatile(".rept 2048\n c.nop\n .endr\n .rept 2048\n c.nop\n .endr" ::: "memory");
}

static void empty_caches(void)
{
    static uint32_t other[CACHE_BYTES / 4];

    (void)word_of(other, sizeof other);
    fill_fetches();
}

// As if an hour had passed each time.
static int ticker(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    const char *name = s->policy != NULL ? "both" : "agent";
    uint64_t now_ns = wb_now_ns();

    for (uint32_t n = 0; n < SAMPLES; n++) {
        empty_caches();
        const uint32_t begin = samples_now();
        (void)wb_agent_tick(self->system->cores[CORE], now_ns += hour_ns);
        keep(self, name, s->tasks, n, samples_now() - begin);
    }
    return 0;
}

static int come_and_go(struct wb_task *self)
{
    (void)self;
    return 0;
}

// The paper's policy looks into a table for the frame rate.
static void add_table(struct wb_system *system)
{
    static uint32_t cores[HARNESS_TASKS], points[2];
    static const struct wb_table_row table[] = { { RATE_MILLIHZ, points, cores },
                                                 { 2 * RATE_MILLIHZ, points, cores } };

    for (uint32_t i = 0; i < HARNESS_TASKS; i++)
        cores[i] = CORE;
    system->control.rows = table;
    system->control.n_rows = 2;
    wb_system_set_rate(system, RATE_MILLIHZ);
}

static void run_ticks(uint32_t tasks, const struct wb_policy *policy)
{
    struct harness *h = suite_open_with(
        &(struct harness_config){ .cores = 2, .agent_period_ns = hour_ns, .coordinator = CORE },
        sizeof(struct state));

    *(struct state *)suite_state(h) = (struct state){ .tasks = tasks, .policy = policy };
    for (uint32_t i = 0; i < tasks; i++)
        suite_task(h, &(struct wb_task_config){ .name = "t",
                                                .index = i,
                                                .entry = i == 0 ? ticker : come_and_go,
                                                .core = CORE,
                                                .migratable = true });
    add_table(harness_system(h));
    CHECK(wb_system_set_policy(harness_system(h), policy, NULL) == WB_OK);
    samples_run(h);
}

TEST(what_a_tick_costs_by_tasks)
{
    for (uint32_t tasks = 8; tasks <= 16; tasks += 8) {
        run_ticks(tasks, NULL);
        run_ticks(tasks, wb_policy_find("table"));
    }
}

// ---- Figure 6: with its timer and what interrupts the task --------------------------------------

enum { TURNS = 20000 };

// A loop with checkpoints: what it takes more with agents is theirs, all of it.
static int worker(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    const struct wb_word *periods = &self->system->cores[CORE]->report.periods;
    const uint32_t before = wb_word_load(periods, WB_RELAXED), begin = samples_now();

    for (uint32_t i = 0; i < TURNS; i++) {
        wb_checkpoint();
        __asm__ volatile("" ::: "memory");
        (void)word_of(&s->bytes, 64);
    }
    const uint32_t took = samples_now() - begin;
    samples_keep(self, "work", wb_word_load(periods, WB_RELAXED) - before, took);
    return 0;
}

static void run_work(uint64_t period_ns)
{
    struct harness *h = suite_open_with(
        &(struct harness_config){ .cores = 2, .agent_period_ns = period_ns }, sizeof(struct state));

    suite_task(h, &(struct wb_task_config){ .name = "worker", .entry = worker, .core = CORE });
    for (uint32_t i = 1; i < 16; i++)
        suite_task(h, &(struct wb_task_config){ .name = "t",
                                                .index = i,
                                                .entry = come_and_go,
                                                .core = CORE,
                                                .priority = SUITE_PRIORITY - 1 });
    samples_run(h);
}

TEST(what_agents_take_of_a_task)
{
    run_work(0);
    run_work(5000000);
}
