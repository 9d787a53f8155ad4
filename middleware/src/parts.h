// SPDX-License-Identifier: Apache-2.0
// What a part provides (wb/system.h). Whoever calls looks first whether the part is there, or has
// seen something that only exists if it is: a ticket, an image, a revival.
#ifndef WB_PARTS_INTERNAL_H
#define WB_PARTS_INTERNAL_H

#include "wb/launcher.h"
#include "wb/system.h"

struct wb_fetched {
    uint64_t bytes, copied_ns;  // 0: nothing was copied
};

// How a core attaches a task whose memory is elsewhere, or whose context is not complete. There is
// one realisation (attach.c), which only the parts below name: a program that has none of them is
// linked without it.
struct wb_attach_ops {
    /// Brings the memory of the task here, and makes its context complete. May be done again.
    /// Returns as wb_migration_ops.fetch.
    enum wb_status (*fetch)(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                            struct wb_fetched *fetched);

    /// The same of a task that is offered, with all that may be refused before the commit. False:
    /// it is refused, or its source has not finished: this core tries again.
    bool (*prepare)(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                    struct wb_fetched *fetched);

    /// The offer was withdrawn: gives up what prepare() has set aside.
    void (*unload)(struct wb_task *task);

    /// This core has taken the task, whose context was written by another or not
    /// (`was_elsewhere`): notes what was copied.
    void (*settle)(struct wb_task *task, bool was_elsewhere, const struct wb_fetched *fetched);
};

extern const struct wb_attach_ops wb_attach_ops;

// A way to move besides the hand-off. What is NULL has nothing to do.
struct wb_migration_ops {
    const struct wb_attach_ops *attach;
    bool needs_buffer;  // cannot do without the transfer buffer

    /// How much of the transfer buffer the task may need.
    size_t (*room)(const struct wb_task *task);

    /// At the task's checkpoint: gets ready for it to leave. WB_OK, or why it stays.
    enum wb_status (*begin)(struct wb_task *task);

    /// On the source, before and after the task is offered.
    void (*announce)(struct wb_task *task);
    void (*fill)(struct wb_task *task);

    /// Brings the memory of a task that this core is about to take in here. May be done again.
    ///
    /// Context: this core's kernel, before it takes the task. Blocks for as long as the copy takes.
    /// Returns: WB_OK; WB_ERR_EMPTY when more of it is to come: try again; WB_ERR_NOMEM when the
    ///          memory of the task cannot be read from here.
    enum wb_status (*fetch)(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                            struct wb_fetched *fetched);

    /// The same of its heap alone, for a task that starts again.
    enum wb_status (*fetch_heap)(struct wb_core *core, struct wb_task *task,
                                 struct wb_fetched *fetched);

    /// On the target: starts what the task needs to run here; false: it cannot, and the offer is
    /// withdrawn. And ends it, if the task was withdrawn meanwhile.
    bool (*load)(struct wb_task *task);
    void (*unload)(struct wb_task *task);

    /// This core has taken the task, whose context was another's: gives it one.
    void (*begin_anew)(struct wb_task *task);

    /// The move is over, or does not take place; or the task is lost.
    void (*end)(struct wb_task *task);
    void (*drop)(struct wb_task *task);
};

struct wb_part_channels {
    /// Closes all ports of a task that is over. May be repeated.
    void (*close)(struct wb_task *task);
};

struct wb_part_records {
    /// Room for events, and for the migrations of the configuration. False without memory.
    bool (*init)(struct wb_system *system, struct wb_record *record, uint32_t events);

    /// See wb/descriptor.h; and hands the record of a migration to the launcher.
    void (*event)(struct wb_core *core, enum wb_event_kind kind, uint32_t task, uint32_t object,
                  uint64_t value, uint64_t time_ns);
    void (*migration)(struct wb_task *task, const struct wb_migration *migration);

    /// Records that a message was sent or received, and the first that a task sent since it came.
    void (*message)(struct wb_port *port, enum wb_event_kind kind);
    void (*first_output)(struct wb_task *task);
};

struct wb_part_mailboxes {  // one attempt each, as in channel.h
    enum wb_status (*claim)(struct wb_port *out, void **slot);
    enum wb_status (*commit)(struct wb_port *out);
    enum wb_status (*hold)(struct wb_port *in, const void **slot);
    enum wb_status (*release)(struct wb_port *in);

    /// Brings a port back to what its mailbox says, after its task was interrupted anywhere.
    void (*recover)(struct wb_port *port);
};

struct wb_part_notify {  // see notify_policy.c
    /// The notify policy of a channel that is being added. Returns as wb_channel_add().
    enum wb_status (*add)(struct wb_system *system, struct wb_channel *channel,
                          const struct wb_channel_config *config);

    /// Waits as the channel's notify policy says, after an attempt that failed. Returns as an
    /// attempt in channel.h, or WB_ERR_TIMEOUT.
    enum wb_status (*wait)(struct wb_port *in, void **slot, uint64_t timeout_ns);

    /// Whether the receiver is to be woken for what the calling task has just sent, or for that a
    /// port was shut.
    bool (*rings)(const struct wb_port *in);
};

struct wb_part_locks {
    /// Wakes those who wait for what a task holds that is over, or for it at a barrier.
    void (*abandon)(struct wb_task *task);

    /// Takes back what a task that lost its registers said of itself.
    void (*recover)(struct wb_task *task);

    /// Computes the effective priority of a task anew, once it is to be reevaluated (see
    /// wb/descriptor.h). True when it has changed: the kernel is to be told.
    bool (*inherit)(struct wb_task *task);
};

/// To be looked at for somebody who waits.
typedef void wb_waiters_look(struct wb_task *task, void *with);

// For systems of so many tasks that wb_system.waiters is there.
struct wb_part_waiters {
    /// How much of the arena it takes, maybe nothing; lays it out, false without memory.
    size_t (*bytes)(const struct wb_system_config *config);
    bool (*init)(struct wb_system *system);

    /// Before the task says that it waits at the wait queue, and after it has said that it does
    /// not, or recovery has for it.
    void (*enter)(const struct wb_wait_queue *queue, const struct wb_task *task);
    void (*leave)(const struct wb_task *task);

    /// Looks at all that have entered at the wait queue, and at others, in any order. Returns: how
    /// many places it looked at for them.
    uint32_t (*look)(const struct wb_wait_queue *queue, struct wb_system *system,
                     wb_waiters_look *look, void *with);

    /// The same in the order of their numbers, and at each once.
    void (*look_in_order)(const struct wb_wait_queue *queue, struct wb_system *system,
                          wb_waiters_look *look, void *with);
};

struct wb_part_pool {
    /// How much of the arena it takes; lays it out, false without memory.
    size_t (*bytes)(size_t shared_bytes);
    bool (*init)(struct wb_system *system);

    /// The end of a task that shares memory, and that it starts again (both in shared.c).
    void (*close)(struct wb_shared *shared);
    void (*restart)(struct wb_shared *shared, uint32_t generation);
};

struct wb_part_images {
    /// Room for the task's images. Once, when its ports are bound. False without memory.
    bool (*init)(struct wb_task *task);

    /// Counts a checkpoint of a task that keeps images; true when it has taken one.
    bool (*capture)(struct wb_task *self);

    /// See image.c.
    bool (*resume)(struct wb_task *task);
    enum wb_status (*load)(struct wb_task *task);
};

struct wb_part_deaths {
    const struct wb_attach_ops *attach;

    /// Makes the context of a task complete that recovery has given to this core: from its image,
    /// or from its entry. Returns as wb_migration_ops.fetch; WB_ERR_INVAL when it cannot be
    /// revived.
    enum wb_status (*revive)(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                             uint32_t revival, struct wb_fetched *fetched);

    /// A task that was cut short is to begin anew. False: it may not, and is lost.
    bool (*restart)(struct wb_task *task);

    /// Ends a task whose context cannot be had any more.
    void (*lose)(struct wb_task *task, uint32_t core);

    /// Sees to it that the core that is to take a withdrawn task back is not a dead one.
    void (*readdress)(struct wb_task *task);
};

struct wb_part_agents {  // see agent.c
    size_t (*bytes)(const struct wb_system_config *config);
    bool (*init)(struct wb_system *system);
    void (*attached)(const struct wb_task *task, struct wb_core *core);
    void (*arrival)(struct wb_task *task, uint32_t from, uint64_t now_ns);
    void (*departure)(struct wb_task *task, const struct wb_core *core, uint64_t now_ns);
    void (*migration)(struct wb_task *task, const struct wb_migration *migration);
    void (*obey)(struct wb_core *core);
    uint64_t (*tick)(struct wb_core *core, uint64_t now_ns);
    void (*replace)(struct wb_system *system);
};

struct wb_part_arrivals {
    /// The job of this release: draws when it may begin, and of a sporadic task first how much
    /// later than its period it is released.
    void (*draw)(struct wb_task *task, bool is_first);
};

struct wb_part_latency {  // see latency.c
    size_t bytes;         // of each core
    bool (*init)(struct wb_system *system);
    void (*bind)(struct wb_task *task);

    /// A message is about to be sent, or was received, through a port with a part in it.
    void (*send)(const struct wb_port *out, void *slot);
    void (*receive)(struct wb_port *in, const void *slot);
    void (*count)(struct wb_task *task, struct wb_core *core);
};

struct wb_part_responses {  // see response.c
    size_t (*bytes)(const struct wb_system_config *config);
    bool (*init)(struct wb_system *system);
    void (*bind)(struct wb_task *task);

    /// A message is about to be sent, or has been, a task comes for one, or has it.
    void (*send)(const struct wb_port *out, void *slot);
    void (*committed)(const struct wb_port *out);
    void (*come)(struct wb_port *in);
    void (*receive)(struct wb_port *in, const void *slot);

    /// Counts a response that is not as long as the one before it.
    void (*begin_run)(struct wb_response *response, uint64_t ns);
};

/// How a task moves; NULL: by hand-off.
static inline __attribute__((always_inline)) const struct wb_migration_ops *
wb_migration_ops_of(const struct wb_task *task)
{
    return wb_task_is_handed_off(task)  ? NULL
           : task->mode == WB_REPLICATE ? wb_parts.replicate
           : task->mode == WB_RECREATE  ? wb_parts.recreate
                                        : wb_parts.reenter;
}

static inline __attribute__((always_inline)) void wb_migration_ops_end(struct wb_task *task)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);

    if (ops != NULL && ops->end != NULL)
        ops->end(task);
}

#endif
