// SPDX-License-Identifier: Apache-2.0
// A policy's moves: asked for by a coordinator that may be stopped at any step, and replaced.

#include "protocol.h"

enum { CORES = 3, COORDINATOR = 1, PERIOD_NS = 100000, ARRIVALS = 12 };

struct state {
    struct wb_word last_core;
    struct wb_swapped arrivals;
};

// Until it has come to other cores often enough.
static int walker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (wb_word_load(&s->arrivals, WB_SEQ_CST) < ARRIVALS) {
        suite_compute(2000);
        wb_checkpoint();
        if (wb_task_core(self) != wb_word_load(&s->last_core, WB_SEQ_CST))
            wb_word_add(&s->arrivals, 1, WB_SEQ_CST);
        wb_word_store(&s->last_core, wb_task_core(self), WB_SEQ_CST);
    }
    return 0;
}

static struct harness *open_walker(void)
{
    const int64_t params[WB_POLICY_PARAMS] = { 0 };
    struct harness *h = suite_open_with(&(struct harness_config){ .cores = CORES,
                                                                  .agent_period_ns = PERIOD_NS,
                                                                  .coordinator = COORDINATOR },
                                        sizeof(struct state));

    suite_task(h, &(struct wb_task_config){
                      .name = "walker", .entry = walker, .migratable = true, .restart = true });
    CHECK(wb_system_set_policy(harness_system(h), &suite_onwards, params) == WB_OK);
    return h;
}

static const char *check(struct harness *h, const struct fault *fault)
{
    const struct wb_system *system = harness_system(h);
    const struct state *s = suite_state(h);
    const uint32_t coordinator = wb_word_load(&system->control.coordinator, WB_SEQ_CST);

    if (wb_word_load(&s->arrivals, WB_SEQ_CST) < ARRIVALS)
        return "the policy's moves have not been made";
    if (wb_word_load(&system->cores[coordinator]->state, WB_SEQ_CST) == WB_CORE_DEAD)
        return "the coordinator is dead";
    if (!protocol_kills(fault) && coordinator != COORDINATOR)
        return "the coordinator has changed for nothing";
    return NULL;
}

TEST(a_coordinator_that_moves_a_task)
{
    protocol_inject(&(struct protocol){
        .open = open_walker, .check = check, .cores = CORES, .migrations = 10 });
}
