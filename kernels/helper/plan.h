// SPDX-License-Identifier: Apache-2.0
// The plan: what the command wants to run, as it comes over the socket.
#ifndef WB_PLAN_H
#define WB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"
#include "process.h"
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
    uint32_t task_index, index, rate;
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

struct plan_work {
    char *task;
    uint32_t index;
    uint64_t *cycles;
    struct wb_work_config config;
};

struct plan_work_lines {
    bool models_compute;
    uint64_t seed;
    struct plan_work *all;
    uint32_t n;
};

struct plan_point {
    uint32_t core;
    bool start;
    struct wb_point point;
};

// A command that is obeyed by itself at a time of the run.
struct plan_at {
    uint64_t at_ns;     // after the start
    uint64_t every_ns;  // and again each so often; 0: once
    struct words words;
    bool done;  // of what has to be done once
};

struct plan_sim {
    char *platform;  // JSON; NULL: not a simulation
    struct plan_at *commands;
    uint32_t n_commands;
    char *restore, *restore_id;  // a file to go on from, and what it must be of; NULL: none
    uint64_t until_ns, events;   // longer or more is an error; 0: no limit
};

struct plan {
    unsigned int *cpus;
    uint32_t *kinds;  // one for each processor
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
    struct plan_work_lines works;
    struct plan_sim sim;
    bool greeted, complete;
};

/// Takes one line. Returns NULL, or what is wrong with it.
const char *plan_take(struct plan *plan, const struct words *words);

/// Makes room for one more entry of an array (a pointer to it, and how many it has), in powers of
/// two. False without memory.
bool plan_grow(void *array, uint32_t count, size_t bytes);

/// True when any task is to be recreated.
bool plan_recreates(const struct plan *plan);

/// How much memory the channels, heaps and parameters of the plan need.
size_t plan_memory_bytes(const struct plan *plan);
size_t plan_stacks_bytes(const struct plan *plan);

/// How much private memory each kernel needs for the tasks that are replicated, in how many parts.
size_t plan_private_bytes(const struct plan *plan);
uint32_t plan_private_parts(const struct plan *plan);

void plan_free(struct plan *plan);

// ---- plan_work.c: what tasks compute ------------------------------------------------------------

/// As plan_take_policy().
bool plan_take_work(struct plan *plan, const struct words *words, bool *known);

/// How many kinds of cores there are.
uint32_t plan_kinds(const struct plan *plan);

/// How much memory the cycles of every kind need.
size_t plan_work_bytes(const struct plan *plan);
void plan_work_free(struct plan_work_lines *works);

// ---- plan_policy.c: who decides on moves --------------------------------------------------------

/// Takes one line; false if it is malformed, or unknown: then `*known` is false as well.
bool plan_take_policy(struct plan *plan, const struct words *words, bool *known);

/// True if rows and coordinator fit the cores and tasks of a plan that is complete otherwise.
bool plan_policy_fits(const struct plan *plan);

/// How much memory the rows need.
size_t plan_policy_bytes(const struct plan *plan);
void plan_policy_free(struct plan_policy *policy);

// ---- plan_sim.c: what a simulation is told besides ----------------------------------------------

/// Takes one line; false if it is malformed, or unknown: then `*known` is false as well.
bool plan_take_sim(struct plan_sim *sim, const struct words *words, bool *known);
void plan_sim_free(struct plan_sim *sim);

#endif
