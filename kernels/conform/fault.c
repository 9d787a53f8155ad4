// SPDX-License-Identifier: Apache-2.0
// A task that fails ends the run, and the run says which task and why. One that exits ends alone.

#include <string.h>

#include "suite.h"

struct state {
    struct wb_word hopped;
    struct wb_mutex mutex;
};

// Volatile, or the compiler would see that it never returns.
static volatile uint32_t bottom = UINT32_MAX;

static __attribute__((noinline)) uint32_t fall(uint32_t depth)
{
    volatile uint32_t frame[64];

    frame[depth % 64] = depth;
    return depth == bottom ? depth : fall(depth + 1) + frame[depth % 64];
}

static int falls(struct wb_task *self)
{
    (void)self;
    return fall(0) == 0;
}

static int hops_and_falls(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    suite_hop(self);
    wb_word_store(&s->hopped, 1, WB_SEQ_CST);
    return falls(self);
}

static int gives_up(struct wb_task *self)
{
    wb_task_fail(self, "the tide is out");
}

static int returns_an_error(struct wb_task *self)
{
    (void)self;
    return 1;
}

static int asks_for_no_port_of_its(struct wb_task *self)
{
    return wb_port_find(self, "nowhere", 0, 4) == NULL;
}

static int sends_more_than_a_slot(struct wb_task *self)
{
    return wb_port_find(self, "out", 0, 256) == NULL;
}

// Its heap has 4096 bytes at most.
static int uses_what_it_did_not_get(struct wb_task *self)
{
    volatile unsigned char *volatile block = wb_malloc(1 << 20);

    (void)self;
    block[1 << 10] = 1;
    return 0;
}

static int lives_on(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        wb_checkpoint();
        suite_relax();
    }
    return 0;
}

// Runs `entry` among innocent tasks on both cores, until it fails. It sends to itself by `out`.
static struct harness *run(wb_task_entry *entry)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct wb_channel_config loop = { .name = "loop", .slots = 2, .slot_bytes = 4 };

    for (uint32_t i = 0; i < 2; i++)
        suite_task(h, &(struct wb_task_config){ .name = "innocent",
                                                .index = i,
                                                .entry = lives_on,
                                                .core = i,
                                                .priority = SUITE_PRIORITY - 1 });
    struct wb_task *guilty = suite_task(
        h, &(struct wb_task_config){ .name = "guilty", .entry = entry, .migratable = true });
    (void)suite_channel(h, &loop, guilty, guilty);
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_FAULT);
    return h;
}

static void expect_fault(struct harness *h, enum wb_fault_kind kind, uint32_t core)
{
    const struct wb_system *system = harness_system(h);
    const struct wb_fault *fault = &system->fault;

    CHECK(wb_word_load(&fault->complete, WB_SEQ_CST) != 0);
    CHECK(fault->kind == kind);
    CHECK(fault->task < system->n_tasks);
    CHECK(strcmp(system->tasks[fault->task].name, "guilty") == 0);
    CHECK(fault->core == core);
}

TEST(a_stack_overflow_names_its_task)
{
    struct harness *h = run(falls);

    expect_fault(h, WB_FAULT_STACK, 0);
    CHECK(strstr(harness_system(h)->fault.text, "65536") != NULL);
    harness_close(h);
}

TEST(a_stack_overflow_names_its_task_also_on_another_core)
{
    struct harness *h = run(hops_and_falls);
    const struct state *s = suite_state(h);

    CHECK(wb_word_load(&s->hopped, WB_SEQ_CST) == 1);
    expect_fault(h, WB_FAULT_STACK, 1);
    harness_close(h);
}

TEST(a_task_that_gives_up_is_named_with_its_own_words)
{
    struct harness *h = run(gives_up);

    expect_fault(h, WB_FAULT_TASK, 0);
    CHECK(strcmp(harness_system(h)->fault.text, "the tide is out") == 0);
    harness_close(h);
}

TEST(a_task_that_returns_an_error_fails_the_run)
{
    struct harness *h = run(returns_an_error);

    expect_fault(h, WB_FAULT_TASK, 0);
    harness_close(h);
}

TEST(a_port_that_a_task_does_not_have_is_told_with_those_that_it_has)
{
    struct harness *h = run(asks_for_no_port_of_its);
    const struct wb_fault *fault = &harness_system(h)->fault;

    expect_fault(h, WB_FAULT_PORT, 0);
    CHECK(strcmp(fault->text, "it has no port `nowhere`; its ports are `out`, `in`") == 0);
    CHECK(fault->channel == UINT32_MAX);
    harness_close(h);
}

TEST(slots_of_another_size_than_the_messages_are_told_with_both_sizes)
{
    struct harness *h = run(sends_more_than_a_slot);
    const struct wb_fault *fault = &harness_system(h)->fault;

    expect_fault(h, WB_FAULT_PORT, 0);
    CHECK(strcmp(fault->text, "it sends messages of 256 bytes by its port `out`, and the slots of "
                              "channel `loop` have 4") == 0);
    CHECK(fault->channel == 0);
    harness_close(h);
}

TEST(memory_that_a_full_heap_did_not_give_is_told_with_its_size)
{
    struct harness *h = run(uses_what_it_did_not_get);

    expect_fault(h, WB_FAULT_HEAP, 0);
    CHECK(strstr(harness_system(h)->fault.text, "had no room for 1048576 more") != NULL);
    harness_close(h);
}

// ---- A task that ends alone ---------------------------------------------------------------------

static __attribute__((noinline)) void exit_inside(struct wb_task *self, const volatile char *frame)
{
    if (frame[0] == 0)
        wb_task_exit(self, "the tide is out");
}

static int exits_with_a_mutex(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_OK);
    suite_hop(self);
    EXPECT(self, wb_task_self() == self);
    EXPECT(self,
           wb_port_send(wb_port_find(self, "out", 0, 4), &(uint32_t){ 7 }, WB_FOREVER) == WB_OK);
    exit_inside(self, (const volatile char[64]){ 0 });
    return 1;
}

static int outlives_it(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find(self, "in", 0, 4);
    uint32_t message = 0;

    EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_OK && message == 7);
    EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_ERR_GONE);
    EXPECT(self, wb_mutex_lock(&s->mutex, WB_FOREVER) == WB_ERR_OWNER);
    wb_word_store(&s->hopped, 1, WB_SEQ_CST);
    wb_task_exit(self, NULL);
}

TEST(a_task_that_exits_ends_alone_and_its_words_are_kept)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct wb_channel_config channel = { .name = "channel", .slots = 2, .slot_bytes = 4 };
    const struct wb_system *system = harness_system(h);
    const struct state *s = suite_state(h);

    struct wb_task *guilty =
        suite_task(h, &(struct wb_task_config){
                          .name = "guilty", .entry = exits_with_a_mutex, .migratable = true });
    struct wb_task *successor = suite_task(
        h, &(struct wb_task_config){ .name = "successor", .entry = outlives_it, .core = 1 });
    (void)suite_channel(h, &channel, guilty, successor);
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_ENDED);
    CHECK(wb_word_load(&s->hopped, WB_SEQ_CST) == 1);
    CHECK(wb_word_load(&system->fault.taken, WB_SEQ_CST) == 0);
    CHECK(wb_word_load(&system->failure.complete, WB_SEQ_CST) == 1);
    CHECK(system->failure.task == guilty->id && system->failure.core == 1);
    CHECK(strcmp(system->failure.text, "the tide is out") == 0);
    harness_close(h);
}
