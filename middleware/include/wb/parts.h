// SPDX-License-Identifier: Apache-2.0
// The parts of the middleware that a program is made of, beyond what every system does:
// checkpoints, and moving by hand-off.
//
// Each program that is linked has one `wb_parts`: middleware/src/parts.c has all of them, a board
// names those that it wants in a file of its own, and the linker leaves the others out
// (-ffunction-sections, --gc-sections). What is asked of a part that is not there is refused by the
// wb_*_add functions and wb_system_init() with WB_ERR_INVAL. The table is not in shared memory,
// because the program of a recreated task has it at other addresses than its kernel.
#ifndef WB_PARTS_H
#define WB_PARTS_H

struct wb_migration_ops;
struct wb_part_agents;
struct wb_part_arrivals;
struct wb_part_notify;
struct wb_part_channels;
struct wb_part_deaths;
struct wb_part_images;
struct wb_part_latency;
struct wb_part_locks;
struct wb_part_mailboxes;
struct wb_part_pool;
struct wb_part_records;
struct wb_part_responses;
struct wb_part_waiters;

struct wb_parts {                                         // NULL: not there
    const struct wb_migration_ops *replicate, *recreate;  // how else tasks move
    const struct wb_part_channels *channels;              // tasks send and receive
    const struct wb_part_mailboxes *mailboxes;            // channels with many senders
    const struct wb_part_notify *notify;        // receivers that are not woken by each message
    const struct wb_part_locks *locks;          // semaphores, mutexes, inheritance of priorities
    const struct wb_part_pool *pool;            // memory that tasks share
    const struct wb_part_images *images;        // checkpoint images
    const struct wb_part_deaths *deaths;        // tasks outlive a killed kernel
    const struct wb_part_agents *agents;        // reports, policies, operating points
    const struct wb_part_arrivals *arrivals;    // jitter, sporadic tasks
    const struct wb_part_records *records;      // of events and migrations
    const struct wb_part_latency *latency;      // of frames: 30 KiB for each core
    const struct wb_part_responses *responses;  // of tasks: as much for each task
    const struct wb_part_waiters *waiters;      // an index of who waits for locks, of many tasks
};

extern const struct wb_parts wb_parts;

extern const struct wb_migration_ops wb_replicate, wb_recreate;
extern const struct wb_part_channels wb_part_channels;
extern const struct wb_part_mailboxes wb_part_mailboxes;
extern const struct wb_part_notify wb_part_notify;
extern const struct wb_part_locks wb_part_locks;
extern const struct wb_part_pool wb_part_pool;
extern const struct wb_part_images wb_part_images;
extern const struct wb_part_deaths wb_part_deaths;
extern const struct wb_part_agents wb_part_agents;
extern const struct wb_part_arrivals wb_part_arrivals;
extern const struct wb_part_records wb_part_records;
extern const struct wb_part_latency wb_part_latency;
extern const struct wb_part_responses wb_part_responses;
extern const struct wb_part_waiters wb_part_waiters;

// For a table: every part but the index of waiters, which many tasks are worth.
#define WB_PARTS_FOR_FEW_TASKS                                                                     \
    .replicate = &wb_replicate, .recreate = &wb_recreate, .channels = &wb_part_channels,           \
    .mailboxes = &wb_part_mailboxes, .notify = &wb_part_notify, .locks = &wb_part_locks,           \
    .pool = &wb_part_pool, .images = &wb_part_images, .deaths = &wb_part_deaths,                   \
    .agents = &wb_part_agents, .arrivals = &wb_part_arrivals, .records = &wb_part_records,         \
    .latency = &wb_part_latency, .responses = &wb_part_responses

#endif
