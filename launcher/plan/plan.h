// SPDX-License-Identifier: Apache-2.0
// The plan: an application laid out on its cores, as plain data.
//
// The helpers of the command parse one from its messages (launcher/protocol/parse.h); an image for
// a board has one as constant tables. What is not said is 0, false or NULL. Tasks, channels and
// cores are named by their place in the plan.
#ifndef WB_PLAN_H
#define WB_PLAN_H

#include "wb/descriptor.h"
#include "wb/launcher.h"
#include "wb/system.h"

enum frequency_mode { FREQUENCY_NONE, FREQUENCY_EMULATE, FREQUENCY_CPUFREQ };

struct plan_core {
    uint32_t cpu;    // the processor of the machine; of a guest, the core of its board
    uint32_t guest;  // of the plan, from 1; 0: the core is this machine's
    uint32_t kind;   // number of its kind, below WB_KINDS_MAX
    const struct wb_point *points;
    uint32_t n_points, start;  // start: the point it begins at
    bool to_completion;        // its kernel lets a task run until it waits
    uint32_t island;  // of a simulation that has several, from 1; 0: there is none, or no task
};

// A program of another kind in an emulator, which runs some of the cores: launcher/api/guest.h.
struct plan_guest {
    const char *name;            // the board's
    const char *const *command;  // what starts it with its image; the launcher adds the devices
    uint32_t n_command, cores;   // cores: of its board, whether the plan has them or not
};

struct plan_param {
    const char *key, *text;
    const double *numbers;  // that the text stands for
    uint32_t n_numbers;
};

struct plan_task {
    const char *entry;             // its function by name, where `config` does not have the address
    struct wb_task_config config;  // entry, stack and heap may be left to the layout's host
    const struct wb_work_config *work;  // NULL: none is known
    uint32_t script;                    // of the plan, from 1; 0: it has none
    uint32_t weight;                    // of its share of a fair core; of simulations, 0: 1024
};

struct plan_port {
    uint32_t task, channel;
    const char *name;
    uint32_t index;
    enum wb_direction direction;
    uint32_t rate;  // messages in each firing
};

struct plan_policy {
    const char *name;           // NULL: none decides
    const char *const *params;  // KEY=VALUE
    uint32_t n_params;
};

// What the command asks of a run.
enum command_verb {
    COMMAND_STATUS,
    COMMAND_MIGRATE,
    COMMAND_POLICY,
    COMMAND_RATE,
    COMMAND_CHANNEL,
    COMMAND_RESTART,
    COMMAND_STOP,
    COMMAND_KILL,
    COMMAND_SAVE,      // of simulations, and in a plan only
    COMMAND_DECISION,  // of simulations: the answer to `decide`
};

struct command {
    enum command_verb verb;
    const char *id;  // what the answer names; of a save: what the file must be of
    const char *task, *path, *channel;
    struct wb_notify_config notify;  // of the channel
    uint32_t index, core, rate_millihz;
    uint64_t timeout_ms;
    struct plan_policy policy;
    const struct wb_move *moves;  // of a decision
    const struct wb_set_point *points;
    uint32_t n_moves, n_points;
};

// A command that is obeyed by itself at a time of the run.
struct plan_at {
    uint64_t at_ns;     // after the start
    uint64_t every_ns;  // and again each so often; 0: once
    struct command command;
};

// What only a simulation is told.
struct plan_sim {
    const char *platform;  // JSON; NULL: not a simulation
    const struct plan_at *commands;
    uint32_t n_commands;
    const char *restore, *restore_id;  // a file to go on from, and what it must be of; NULL: none
    uint64_t until_ns, events;         // longer or more is an error; 0: no limit
};

// What may differ between the runs of one image: what is not said is as the plan has it.
struct plan_start {
    const char *plan;  // the hash of the plan that the image must have
    bool record;
    uint32_t rate_millihz;            // 0: the plan's
    uint32_t watchdog_ms;             // 0: the board's
    struct plan_policy policy;        // no name: the plan's
    const struct plan_param *params;  // each in the place of the plan's of this key, or one more
    uint32_t n_params;
};

struct plan {
    const char *module;            // the application's shared object
    const char *program, *record;  // for tasks that are recreated; a folder for the event streams
    const char *journal;           // a file for what frequencies were
    const char *clients;           // a folder for the sockets of clients
    const char *hash;  // what images of this plan have as their wb_board_plan_hash; NULL: no guests
    uint64_t memory_bytes, shared_bytes, spin_ns, offer_ns, seed;
    uint64_t agents_ns;  // 0: agents do not report
    enum frequency_mode frequency;
    enum wb_transport transport;
    bool models_compute, spin_adapts;
    uint32_t coordinator, rate_millihz;
    uint32_t restarts;  // how often a kernel that was killed is started again
    const struct plan_guest *guests;
    const struct plan_core *cores;
    const struct plan_param *params;
    const struct wb_channel_config *channels;
    const struct plan_task *tasks;
    const struct plan_port *ports;
    const struct wb_table_row *rows;         // of the table policy
    const struct wb_object_config *objects;  // what scripts have in common
    const struct wb_script_config *scripts;
    uint32_t n_guests, n_cores, n_params, n_channels, n_tasks, n_ports, n_rows, n_objects,
        n_scripts;
    struct plan_policy policy;
    struct plan_sim sim;
};

// What is wrong with a plan or a run, as the command tells its user.
struct wb_host_frame;

struct plan_error {
    const char *kind, *task, *key, *text;  // task, key: "" when there is none
    uint32_t index, core;                  // core: WB_CORE_NONE when there is none
    const struct wb_host_frame *frames;    // where in the code, see wb_host_frames()
    uint32_t n_frames;
    int error_number;  // errno, where Linux has refused something; else 0
};

/// Looks whether the parts of a plan fit each other.
///
/// Returns: true; or false with `*error` filled in.
bool plan_check(const struct plan *plan, struct plan_error *error);

/// The configuration of the plan's system, for wb_system_init().
struct wb_system_config plan_system(const struct plan *plan);

/// True when any task is to be recreated.
bool plan_recreates(const struct plan *plan);

/// How much memory the stacks take that every kernel sees. What the arena needs: layout_count().
size_t plan_stacks_bytes(const struct plan *plan);

/// How much private memory each kernel needs for the tasks that are replicated, in how many parts.
size_t plan_private_bytes(const struct plan *plan);
uint32_t plan_private_parts(const struct plan *plan);

#endif
