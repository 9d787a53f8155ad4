// SPDX-License-Identifier: Apache-2.0
// Every protocol with every fault at every step, on kernels that are cooperative and on kernels
// that preempt; on these, too, with a task held up at every moment, so that what comes meanwhile
// preempts it there. CONFORM_SCALE=0.1 tries a tenth of the steps; above 1 there are no limits.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fnv.h"
#include "protocol.h"
#include "sim_host.h"

enum {
    STEPS_MOST = 2000,
    MOMENTS_MOST = 3000,
    LIMIT_MS = 10000,
    SAMPLE = 41,
    FAULTS_NS = 300000,
    SKEW_NS = 1000000
};

struct outcome {
    bool struck;
    uint64_t steps, doorbells, moments, hash;
    uint64_t migrations, restarts, resumes;
};

static const char *const names[FAULT_KINDS] = {
    [FAULT_NONE] = "none",
    [FAULT_DROP] = "dropped",
    [FAULT_DELAY] = "delayed",
    [FAULT_REPEAT] = "repeated",
    [FAULT_KILL] = "stopped",
    [FAULT_CANCEL] = "aborted",
    [FAULT_SKEW] = "skewed",
    [FAULT_HOLD] = "preempted",
    [FAULT_LEAVE] = "preempted and stopped",
    [FAULT_RETURN] = "started again",
};

static uint32_t cases;
static uint64_t all_injected;

__attribute__((destructor)) static void emit_all(void)
{
    printf("%" PRIu32 " cases, %" PRIu64 " injected faults\n", cases, all_injected);
}

// ---- One run ------------------------------------------------------------------------------------

// Where and when everything came to its end, and by what way.
static uint64_t hash_end(const struct wb_system *system)
{
    uint64_t hash = FNV_BEGIN;
    const uint64_t end[] = { sim.engine->now_ps, sim.counted.events };

    hash = fnv_of(hash, end, sizeof end);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        hash = fnv_of(hash, (const void *)&task->owner_state, sizeof task->owner_state);
        hash = fnv_of(hash, &task->stats, sizeof task->stats);
    }
    for (uint32_t i = 0; i < system->n_cores; i++)
        hash = fnv_of(hash, &system->cores[i]->stats, sizeof system->cores[i]->stats);
    return hash;
}

static _Noreturn void fail(const struct harness *h, const struct fault *fault, const char *why)
{
    const struct wb_system *system = harness_system((struct harness *)(uintptr_t)h);
    char text[512];

    snprintf(text, sizeof text, "%s%s at %" PRIu64 " (core %" PRIu32 ", %" PRId64 " ns): %s %s",
             fault->preempts ? "preemptive, " : "", names[fault->kind], fault->at, fault->core,
             fault->ns, why,
             wb_word_load(&system->fault.complete, WB_SEQ_CST) != 0 ? system->fault.text : "");
    suite_describe((struct harness *)(uintptr_t)h);
    wb_test_fail(__FILE__, __LINE__, text);
}

static const char *validate(struct harness *h)
{
    const struct wb_system *system = harness_system(h);

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        if (!wb_state_is_over(wb_word_load(&task->owner_state, WB_SEQ_CST)))
            return "a task is not over";
        if (wb_migration_pending(task))
            return "a migration has no end";
    }
    if (wb_word_load(&system->transfer_owner, WB_SEQ_CST) != 0)
        return "the transfer buffer is not free";
    return NULL;
}

static void count(const struct wb_system *system, struct outcome *outcome)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        outcome->migrations += wb_task_migrations(task);
        outcome->restarts += task->restarts;
        outcome->resumes += task->images.resumed;
    }
}

static struct outcome run(const struct protocol *protocol, const struct fault *fault)
{
    struct harness *h = protocol->open();
    struct faults faults;
    enum harness_event event;

    harness_start(h);
    faults_plan(&faults, harness_simulator(h), fault);
    while ((event = harness_wait(h, LIMIT_MS)) == HARNESS_DIED) {}
    struct outcome outcome = { .struck = faults.struck,
                               .steps = faults_steps(),
                               .doorbells = faults.doorbells,
                               .moments = faults_moments(),
                               .hash = hash_end(harness_system(h)) };
    count(harness_system(h), &outcome);
    if (event != HARNESS_ENDED)
        fail(h, fault, event == HARNESS_FAULT ? "it fails:" : "it does not end");
    const char *why = validate(h);
    if (why == NULL)
        why = protocol->check(h, fault);
    if (why != NULL)
        fail(h, fault, why);
    harness_close(h);
    return outcome;
}

// ---- All of them --------------------------------------------------------------------------------

struct tally {
    const struct protocol *protocol;
    bool preempts;
    uint64_t tried, restarts, resumes, injected[FAULT_KINDS];
};

// True if it came to it.
static bool inject(struct tally *tally, struct fault fault)
{
    fault.preempts = tally->preempts;
    const struct outcome outcome = run(tally->protocol, &fault);

    tally->injected[fault.kind] += outcome.struck;
    tally->restarts += outcome.restarts;
    tally->resumes += outcome.resumes;
    if (tally->tried++ % SAMPLE == 0 && run(tally->protocol, &fault).hash != outcome.hash)
        wb_test_fail(__FILE__, __LINE__, "the same fault has the same end twice");
    return outcome.struck;
}

// Of `n`, for at most so many.
static uint64_t stride(uint64_t n, double limit)
{
    const double most = limit * harness_scale();
    return harness_scale() > 1 || (double)n <= most ? 1 : (uint64_t)((double)n / most) + 1;
}

static void at_doorbells(struct tally *tally, uint64_t doorbells, uint64_t every)
{
    for (uint64_t at = 1; at <= doorbells; at += every)
        for (enum fault_kind kind = FAULT_DROP; kind <= FAULT_REPEAT; kind++)
            (void)inject(tally, (struct fault){ .kind = kind, .at = at, .ns = FAULTS_NS });
}

static void at_steps(struct tally *tally, uint64_t steps, uint64_t every)
{
    const uint32_t cores = tally->protocol->cores;

    for (uint64_t at = 1; at <= steps; at += every) {
        const uint32_t core = (uint32_t)(at / every % cores);
        for (uint32_t i = 0; i < cores; i++)
            (void)inject(tally, (struct fault){ .kind = FAULT_KILL, .at = at, .core = i });
        (void)inject(tally, (struct fault){ .kind = FAULT_CANCEL, .at = at });
        (void)inject(tally, (struct fault){ .kind = FAULT_RETURN, .at = at, .ns = FAULTS_NS });
        for (int64_t ns = -SKEW_NS; ns <= SKEW_NS; ns += 2 * SKEW_NS)
            (void)inject(tally,
                         (struct fault){ .kind = FAULT_SKEW, .at = at, .core = core, .ns = ns });
    }
}

// Only where a task is preempted there, something may go wrong if its core dies.
static void at_moments(struct tally *tally, uint64_t moments, uint64_t every)
{
    enum { LEAST_NS = 500, LENGTHS = 4 };

    for (uint64_t at = 1; at <= moments; at += every) {
        struct fault fault = { .at = at, .ns = LEAST_NS << at / every % LENGTHS };
        fault.kind = FAULT_HOLD;
        if (!inject(tally, fault))
            continue;
        fault.kind = FAULT_LEAVE;
        (void)inject(tally, fault);
    }
}

static void inject_all(const struct protocol *protocol, bool preempts)
{
    struct tally tally = { .protocol = protocol, .preempts = preempts };
    const struct fault none = { .kind = FAULT_NONE, .preempts = preempts };
    const struct outcome plain = run(protocol, &none);
    const double most = preempts ? STEPS_MOST / 2 : STEPS_MOST;
    const uint64_t every_doorbell = stride(plain.doorbells, most);
    const uint64_t every_step = stride(plain.steps, most);
    const uint64_t every_moment = stride(plain.moments, MOMENTS_MOST);

    // The less urgent are left behind where others preempt them, and reach fewer checkpoints.
    CHECK(plain.migrations >= (preempts ? protocol->migrations / 5 : protocol->migrations));
    at_doorbells(&tally, plain.doorbells, every_doorbell);
    at_steps(&tally, plain.steps, every_step);
    at_moments(&tally, plain.moments, every_moment);
    printf("# %s: %" PRIu64 " doorbells (every %" PRIu64 "), %" PRIu64 " steps (every %" PRIu64
           "), %" PRIu64 " moments (every %" PRIu64 "):",
           preempts ? "preemptive" : "cooperative", plain.doorbells, every_doorbell, plain.steps,
           every_step, plain.moments, every_moment);
    for (enum fault_kind kind = FAULT_DROP; kind < FAULT_KINDS; kind++) {
        printf(" %" PRIu64 " %s", tally.injected[kind], names[kind]);
        all_injected += tally.injected[kind];
    }
    printf("; %" PRIu64 " tasks restarted, %" PRIu64 " resumed\n", tally.restarts, tally.resumes);
}

void protocol_inject(const struct protocol *protocol)
{
    inject_all(protocol, false);
    inject_all(protocol, true);
    cases++;
}

bool protocol_has_death(const struct wb_system *system)
{
    return (wb_word_load(&system->sweep, WB_SEQ_CST) & WB_SWEEP_DEATHS) != 0;
}

void protocol_move(struct wb_task *self, struct wb_task *task, uint32_t core)
{
    const uint32_t source = wb_task_core(task),
                   incarnation = wb_word_load(&task->incarnation, WB_SEQ_CST);
    const enum wb_status status = wb_migrate(task, core, WB_FOREVER);
    const uint32_t now = wb_task_core(task);

    EXPECT(self, status == WB_OK || status == WB_ERR_BUSY || status == WB_ERR_GONE ||
                     status == WB_ERR_TIMEOUT || status == WB_ERR_HELD || status == WB_ERR_FULL);
    // Who takes a task over from a killed kernel moves it, too.
    if (protocol_has_death(self->system))
        return;
    EXPECT(self, wb_word_load(&task->incarnation, WB_SEQ_CST) == incarnation);
    EXPECT(self, now == (status == WB_OK ? core : source));
}

struct wb_task *protocol_task(struct harness *h, const char *name, uint32_t index,
                              wb_task_entry *entry, bool moves_at_waits)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .index = index,
                                                   .entry = entry,
                                                   .core = index % harness_system(h)->n_cores,
                                                   .priority = SUITE_PRIORITY + index,
                                                   .migratable = true,
                                                   .moves_at_waits = moves_at_waits,
                                                   .restart = true });
}

static int mover(struct wb_task *self)
{
    const struct wb_system *system = self->system;
    struct wb_word *moves = suite_shared(self);

    for (uint32_t left; (left = wb_word_load(moves, WB_SEQ_CST)) > 0;) {
        struct wb_task *task = &system->tasks[left % self->id];
        wb_word_store(moves, left - 1, WB_SEQ_CST);
        protocol_move(self, task, (wb_task_core(task) + 1) % system->n_cores);
        wb_sleep_until(wb_now_ns() + 500);
    }
    return 0;
}

void protocol_mover(struct harness *h, uint32_t moves)
{
    wb_word_store((struct wb_word *)suite_state(h), moves, WB_SEQ_CST);
    suite_task(h,
               &(struct wb_task_config){
                   .name = "mover", .entry = mover, .core = 2, .priority = 16, .restart = true });
}
