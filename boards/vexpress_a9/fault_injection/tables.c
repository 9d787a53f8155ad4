// SPDX-License-Identifier: Apache-2.0
// The plan of the fault_injection, as `whimbrel plan` writes one. FAULTS_HEAP_BYTES and
// FAULTS_STACK_BYTES make one that is too large.

#include "plan.h"
#include "wb/policy.h"

#ifndef FAULTS_HEAP_BYTES
#define FAULTS_HEAP_BYTES 16384
#endif
#ifndef FAULTS_STACK_BYTES
#define FAULTS_STACK_BYTES 8192
#endif

extern const struct plan wb_board_plan;
extern const char wb_board_plan_hash[];
extern const struct wb_policy *const wb_board_policy;
extern const struct wb_policy wb_policy_still;

int source(struct wb_task *self);
int sink(struct wb_task *self);
int faulty(struct wb_task *self);

const char wb_board_plan_hash[] = "fault_injection";
const struct wb_policy *const wb_board_policy = &wb_policy_still;

static const struct plan_core cores[] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 2 }, { .cpu = 3 } };

static const struct plan_param params[] = { { .key = "fault", .text = "" } };

static const struct wb_channel_config channels[] = {
    { .name = "source_sink", .slots = 4, .slot_bytes = sizeof(uint32_t) },
    { .name = "faulty_faulty", .slots = 1, .slot_bytes = sizeof(uint32_t) },
};

#define TASK(function, where)                                                                      \
    {                                                                                              \
        .entry = #function, .config = {                                                            \
            .name = #function,                                                                     \
            .entry = function,                                                                     \
            .core = where,                                                                         \
            .priority = 8,                                                                         \
            .migratable = true,                                                                    \
            .stack_bytes = FAULTS_STACK_BYTES,                                                     \
            .heap_bytes = FAULTS_HEAP_BYTES,                                                       \
            .period_ns = 5000000,                                                                  \
            .deadline_ns = 5000000,                                                                \
        }                                                                                          \
    }

static const struct plan_task tasks[] = { TASK(source, 0), TASK(sink, 1), TASK(faulty, 2) };

static const struct plan_port ports[] = {
    { .task = 0, .channel = 0, .name = "out", .direction = WB_OUT, .rate = 1 },
    { .task = 1, .channel = 0, .name = "in", .direction = WB_IN, .rate = 1 },
    { .task = 2, .channel = 1, .name = "out", .direction = WB_OUT, .rate = 1 },
    { .task = 2, .channel = 1, .name = "in", .direction = WB_IN, .rate = 1 },
};

const struct plan wb_board_plan = {
    .module = "fault_injection",
    .shared_bytes = 1 << 16,
    .agents_ns = 10000000,
    .cores = cores,
    .n_cores = sizeof cores / sizeof cores[0],
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .channels = channels,
    .n_channels = sizeof channels / sizeof channels[0],
    .tasks = tasks,
    .n_tasks = sizeof tasks / sizeof tasks[0],
    .ports = ports,
    .n_ports = sizeof ports / sizeof ports[0],
};
