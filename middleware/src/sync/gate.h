// SPDX-License-Identifier: Apache-2.0
// Gates: what semaphores, mutexes, conditions and barriers have in common. Waiting is in gate.c,
// inheritance of priorities in inherit.c.
#ifndef WB_GATE_H
#define WB_GATE_H

#include "../internal.h"

/// One attempt by `self`: WB_ERR_EMPTY says that it has to wait.
typedef enum wb_status wb_gate_attempt(struct wb_gate *gate, struct wb_task *self);

/// Attempts until that is over: polls, then blocks.
///
/// Returns: what the attempt says; WB_ERR_EMPTY only if `timeout_ns` is 0; else WB_ERR_TIMEOUT.
enum wb_status wb_gate_enter(struct wb_gate *gate, wb_gate_attempt *attempt, uint64_t timeout_ns);

/// Attempts for as long as the kernel polls, at most until `until_ns`.
enum wb_status wb_gate_poll(struct wb_gate *gate, wb_gate_attempt *attempt, struct wb_task *self,
                            uint64_t until_ns);

/// Chooses the most urgent task that waits at the gate, if one does, and wakes it.
void wb_gate_choose(struct wb_gate *gate, struct wb_system *system);

/// The same of all that wait there: all are ready before one of them runs. To be called after a
/// store of what they wait for.
void wb_gate_choose_all(struct wb_gate *gate, struct wb_system *system);

/// The same of all that wait for a condition with this mutex.
void wb_gate_choose_guarded(struct wb_gate *mutex, struct wb_system *system);

/// Wakes the most urgent task that waits at the gate, and all that have it in a set, before one of
/// them runs. To be called after a store of what they wait for.
void wb_gate_open(struct wb_gate *gate, struct wb_system *system);

/// The gate's bit in wb_sync.set, by its address: another may have the same, and wake for nothing
/// those that wait for this one.
static inline uint32_t wb_gate_bit(const struct wb_gate *gate)
{
    // Fibonacci hashing, as in lock.c.
    return 1u << ((uint32_t)((uintptr_t)gate >> 2) * 2654435769u >> 27);
}

/// What `holder` of a gate is while the task holds it: its number from 1 in the lower bits, and how
/// many lives it has had in the upper ones, in which a task that was cut short differs.
static inline uint32_t wb_gate_holder(const struct wb_task *task)
{
    return (task->id + 1) | wb_word_load(&task->incarnation, WB_RELAXED) << WB_HOLDER_BITS;
}

static inline bool wb_gate_is_held_by(const struct wb_gate *gate, const struct wb_task *task)
{
    // Only the task itself makes it its own, and while it lives only the task gives it back.
    return wb_word_load(&gate->holder, WB_RELAXED) == wb_gate_holder(task);
}

// ---- inherit.c ----------------------------------------------------------------------------------

/// The task that holds a gate; NULL when nobody does, or when that task is over or has been started
/// again since.
struct wb_task *wb_gate_living(struct wb_system *system, uint32_t holder);

/// Makes the holder of a gate at least as urgent as `self`, which waits there.
void wb_inherit_press(const struct wb_gate *gate, const struct wb_task *self);

/// Makes it no more urgent than need be, once `self` waits no more.
void wb_inherit_release(const struct wb_gate *gate, const struct wb_task *self);

/// Computes the effective priority of a task anew.
///
/// Context: the kernel that owns the task.
/// Returns: true when it has changed: the kernel is to be told.
bool wb_inherit(struct wb_task *task);

#endif
