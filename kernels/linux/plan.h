// SPDX-License-Identifier: Apache-2.0
// The plan: what the command wants to run, as it comes over the socket.
#ifndef WB_PLAN_H
#define WB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"
#include "private.h"
#include "wb/system.h"

struct plan_param {
    char *key, *text;
    double *numbers;
    uint32_t n_numbers;
};

struct plan_task {
    char *entry;
    struct wb_task_config config;  // but for entry and stack
};

struct plan_port {
    char *task, *name, *channel;
    uint32_t task_index, index;
    enum wb_direction direction;
};

struct plan_row {
    uint64_t rate_millihz;
    uint32_t *numbers;  // a point for each core, then a core for each task
    uint32_t n_numbers;
};

struct plan_policy {
    uint64_t agents_ns;  // 0: agents do not report
    uint32_t coordinator, rate_millihz;
    char *name;     // NULL: none decides
    char **params;  // KEY=VALUE
    struct plan_row *rows;
    uint32_t n_params, n_rows;
};

struct plan_point {
    uint32_t core;
    bool start;
    struct wb_point point;
};

struct plan {
    unsigned int *cpus;
    struct plan_param *params;
    struct wb_channel_config *channels;
    struct plan_task *tasks;
    struct plan_port *ports;
    struct plan_point *points;
    enum frequency_mode frequency;
    enum wb_transport transport;
    uint32_t n_points, n_cpus, n_params, n_channels, n_tasks, n_ports;
    char *module, *program, *record, *journal;
    uint64_t memory_bytes, shared_bytes, spin_ns, offer_ns;
    struct plan_policy policy;
    bool greeted, complete;
};

/// Takes one line. Returns NULL, or what is wrong with it.
const char *plan_take(struct plan *plan, const struct words *words);

/// True when any task is to be recreated.
bool plan_recreates(const struct plan *plan);

/// How much memory the channels, heaps and parameters of the plan need.
size_t plan_memory_bytes(const struct plan *plan);
size_t plan_stacks_bytes(const struct plan *plan);

/// How much private memory each kernel needs for the tasks that are replicated, in how many parts.
size_t plan_private_bytes(const struct plan *plan);
uint32_t plan_private_parts(const struct plan *plan);

void plan_free(struct plan *plan);

// ---- plan_policy.c: who decides on moves --------------------------------------------------------

/// Takes one line; false if it is malformed, or unknown: then `*known` is false as well.
bool plan_take_policy(struct plan *plan, const struct words *words, bool *known);

/// True if rows and coordinator fit the cores and tasks of a plan that is complete otherwise.
bool plan_policy_fits(const struct plan *plan);

/// How much memory the rows need.
size_t plan_policy_bytes(const struct plan *plan);
void plan_policy_free(struct plan_policy *policy);

#endif
