// SPDX-License-Identifier: Apache-2.0
#include "suite.h"

#include <stdio.h>

enum { HEAP_BYTES = 32 << 10 };

uint32_t suite_cores;

void suite_fail(struct wb_task *self, const char *file, int line, const char *what)
{
    char text[WB_ERROR_BYTES];

    snprintf(text, sizeof text, "%s:%d: EXPECT(%s)", file, line, what);
    wb_task_fail(self, text);
}

// ---- Laying out ---------------------------------------------------------------------------------

struct harness *suite_open_with(const struct harness_config *config, size_t bytes)
{
    struct harness *h = harness_open(config);
    struct wb_app *app = &harness_system(h)->app;

    app->state = wb_app_alloc(app, bytes);
    CHECK(app->state != NULL);
    return h;
}

struct harness *suite_open(uint32_t cores, size_t bytes)
{
    return suite_open_with(&(struct harness_config){ .cores = cores, .poll_ns = 20000 }, bytes);
}

void *suite_state(struct harness *h)
{
    return harness_system(h)->app.state;
}

void *suite_shared(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

struct wb_task *suite_task(struct harness *h, const struct wb_task_config *wanted)
{
    struct wb_task_config config = *wanted;
    struct wb_task *task;

    if (config.cores == 0 && config.migratable && config.mode == WB_HANDOFF)
        config.cores = suite_cores & ((2u << (harness_system(h)->n_cores - 1)) - 1);
    if (config.priority == 0)
        config.priority = SUITE_PRIORITY;
    config.stack_bytes = harness_sizes.stack_bytes;
    if (config.heap_bytes == 0)
        config.heap_bytes = HEAP_BYTES;
    if (config.mode == WB_REPLICATE) {
        config.stack = harness_private(h, config.core, config.stack_bytes);
        config.heap = harness_private(h, config.core, config.heap_bytes);
        CHECK(config.stack != NULL && config.heap != NULL);
    } else {
        config.stack = harness_stack(h);
    }
    CHECK(wb_task_add(harness_system(h), &config, &task) == WB_OK);
    return task;
}

struct wb_channel *suite_channel(struct harness *h, const struct wb_channel_config *config,
                                 struct wb_task *from, struct wb_task *to)
{
    struct wb_channel *channel;

    CHECK(wb_channel_add(harness_system(h), config, &channel) == WB_OK);
    CHECK(wb_port_add(from, channel, WB_OUT, "out", 0) == WB_OK);
    CHECK(wb_port_add(to, channel, WB_IN, "in", 0) == WB_OK);
    return channel;
}

void suite_sender(struct wb_channel *mailbox, struct wb_task *from)
{
    CHECK(wb_port_add(from, mailbox, WB_OUT, "out", 0) == WB_OK);
}

// ---- Running ------------------------------------------------------------------------------------

static void describe_task(const struct wb_task *task)
{
    static const char *const states[] = { "new",     "ready",    "running", "blocked",
                                          "offered", "returned", "ended",   "lost" };
    static const char *const phases[] = { "none", "filling", "pending", "accepted" };
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_SEQ_CST),
                   request = wb_word_load(&task->request, WB_SEQ_CST);

    fprintf(stderr, "  %s %s on core %u, request %s for core %u\n", task->name,
            states[wb_task_state_of(owner_state)], wb_owner_of(owner_state),
            phases[wb_request_phase(request)], wb_request_core(request));
}

void suite_describe(struct harness *h)
{
    struct wb_system *system = harness_system(h);
    const struct wb_fault *fault = &system->fault;

    if (wb_word_load(&fault->complete, WB_SEQ_CST) != 0)
        fprintf(stderr, "  fault of %s on core %d: %s\n",
                fault->task < system->n_tasks ? system->tasks[fault->task].name : "a kernel",
                (int)fault->core, fault->text);
    for (uint32_t i = 0; i < system->n_tasks; i++)
        describe_task(&system->tasks[i]);
    for (uint32_t i = 0; i < system->n_channels; i++)
        fprintf(stderr, "  channel %s: %u of %u\n", system->channels[i].name,
                wb_channel_depth(&system->channels[i]), system->channels[i].slots);
}

static enum harness_event wait(struct harness *h, uint32_t limit_ms)
{
    const enum harness_event event = harness_wait(h, limit_ms);

    if (event == HARNESS_FAULT || event == HARNESS_DIED)
        suite_describe(h);
    CHECK(event == HARNESS_ENDED || event == HARNESS_NOTHING);
    return event;
}

void suite_wait(struct harness *h)
{
    const enum harness_event event = wait(h, SUITE_LIMIT_MS);

    if (event != HARNESS_ENDED)
        suite_describe(h);
    CHECK(event == HARNESS_ENDED);
}

void suite_run(struct harness *h)
{
    harness_start(h);
    suite_wait(h);
}

void suite_go_on(struct harness *h)
{
    CHECK(wait(h, 1) == HARNESS_NOTHING);
}

void suite_wait_for(struct harness *h, const struct wb_word *word, uint32_t value)
{
    for (uint32_t ms = 0; wb_word_load(word, WB_SEQ_CST) != value; ms++) {
        if (ms == SUITE_LIMIT_MS)
            suite_describe(h);
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(wait(h, 1) == HARNESS_NOTHING || wb_word_load(word, WB_SEQ_CST) == value);
    }
}

void suite_wait_for_state(struct harness *h, const struct wb_task *task, enum wb_task_state state)
{
    for (uint32_t ms = 0; wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) != state;
         ms++) {
        if (ms == SUITE_LIMIT_MS)
            suite_describe(h);
        CHECK(ms < SUITE_LIMIT_MS);
        CHECK(wait(h, 1) == HARNESS_NOTHING);
    }
}

bool suite_kill(struct harness *h, uint32_t core)
{
    if (!harness_kill(h, core)) {
        wb_test_skip("a kernel cannot be killed here");
        harness_close(h);
        return false;
    }
    const enum harness_event event = harness_wait(h, SUITE_LIMIT_MS);
    if (event != HARNESS_DIED)
        suite_describe(h);
    CHECK(event == HARNESS_DIED);
    return true;
}

// ---- Small things -------------------------------------------------------------------------------

uint32_t suite_count(uint32_t n)
{
    const double scaled = n * harness_scale();
    return scaled < 8 ? 8 : (uint32_t)scaled;
}

uint32_t suite_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

// In virtual time nothing but a look at the clock makes it pass.
void suite_relax(void)
{
    (void)wb_now_ns();
}

void suite_compute(uint64_t ns)
{
    const uint64_t until_ns = wb_now_ns() + ns;

    while (wb_now_ns() < until_ns) {}
}

void suite_move_anywhere(struct wb_task *self, struct wb_task *task, uint32_t *random)
{
    const uint32_t core = suite_random(random) % self->system->n_cores;
    const enum wb_status status = wb_migrate(task, core, 2000000);

    EXPECT(self, status == WB_OK || status == WB_ERR_BUSY || status == WB_ERR_GONE ||
                     status == WB_ERR_TIMEOUT);
}

void suite_hop(struct wb_task *self)
{
    const uint32_t next = (wb_task_core(self) + 1) % self->system->n_cores;

    EXPECT(self, wb_migrate(self, next, WB_FOREVER) == WB_OK);
    EXPECT(self, wb_task_core(self) == next);
    EXPECT(self, wb_kernel_core() == next);
}

void suite_receive_sums(struct wb_task *self, struct suite_end *end)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    struct suite_sum m;
    uint32_t sum = 0, expected = 0;

    for (; wb_port_receive(in, &m, WB_FOREVER) == WB_OK; expected++) {
        sum += expected;
        EXPECT(self, m.number == expected && m.sum == sum);
        wb_word_store(&end->received, expected + 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    wb_word_store(&end->over, 1, WB_SEQ_CST);
}

static void onwards(const struct wb_snapshot *snapshot, const int64_t *params,
                    struct wb_decision *decision)
{
    uint32_t core = snapshot->tasks[0].core;

    (void)params;
    if (!snapshot->tasks[0].movable)
        return;
    do
        core = (core + 1) % snapshot->n_cores;
    while (!snapshot->cores[core].up);
    wb_decide_move(decision, 0, core);
}

const struct wb_policy suite_onwards = { .name = "onwards", .decide = onwards };
