// SPDX-License-Identifier: Apache-2.0
// The two words of a task that decide where it is: `owner_state`, and `request` of a migration.
// Each change of hands is one compare-swap on one of them (see migration.c).
#ifndef WB_OWNER_STATE_H
#define WB_OWNER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/kernel.h"
#include "wb/status.h"

// owner_state: state in bits 0-3, owner core in 4-15; while OFFERED also the target core in 16-27
// and the low bits of the request's number in 28-31, so that no one withdraws a later offer by
// mistake; while RETURNED the status that says why, negated, in 16-27.
static inline uint32_t wb_owner_state(enum wb_task_state state, uint32_t owner)
{
    return (uint32_t)state | owner << 4;
}
static inline uint32_t wb_owner_state_offer(uint32_t owner, uint32_t target, uint32_t number)
{
    return (uint32_t)WB_TASK_OFFERED | owner << 4 | target << 16 | number << 28;
}
static inline uint32_t wb_owner_state_returned(uint32_t owner, enum wb_status why)
{
    return (uint32_t)WB_TASK_RETURNED | owner << 4 | (uint32_t)-why << 16;
}
static inline enum wb_status wb_owner_state_why(uint32_t owner_state)
{
    return (enum wb_status)(-(int32_t)(owner_state >> 16));
}
static inline enum wb_task_state wb_task_state_of(uint32_t owner_state)
{
    return (enum wb_task_state)(owner_state & 0xf);
}
static inline bool wb_state_is_over(uint32_t owner_state)
{
    return wb_task_state_of(owner_state) == WB_TASK_ENDED ||
           wb_task_state_of(owner_state) == WB_TASK_LOST;
}
static inline uint32_t wb_owner_of(uint32_t owner_state)
{
    return owner_state >> 4 & 0xfff;
}
/// True of a task that is with the kernel of `core`, which nobody else can take away unless several
/// cores share it.
static inline bool wb_owner_state_is_kept(uint32_t owner_state, uint32_t core)
{
    // READY, RUNNING or BLOCKED, which have nothing above the owner.
    return owner_state - wb_owner_state(WB_TASK_READY, core) <= WB_TASK_BLOCKED - WB_TASK_READY;
}
static inline uint32_t wb_target_of(uint32_t owner_state)
{
    return owner_state >> 16 & 0xfff;
}

// request: phase in bits 0-3, a core in bits 4-15, the rest numbers the requests.
enum wb_request_phase {
    WB_REQUEST_NONE,
    WB_REQUEST_FILLING,   // one core (the core bits; the launcher is 0xfff) writes the request
    WB_REQUEST_PENDING,   // waits for the task's checkpoint
    WB_REQUEST_ACCEPTED,  // the task is at its checkpoint: parked, offered, or being taken back
};
static inline uint32_t wb_request(enum wb_request_phase phase, uint32_t core, uint32_t number)
{
    return (uint32_t)phase | (core & 0xfff) << 4 | number << 16;
}
static inline enum wb_request_phase wb_request_phase(uint32_t request)
{
    return (enum wb_request_phase)(request & 0xf);
}
static inline uint32_t wb_request_core(uint32_t request)
{
    return request >> 4 & 0xfff;
}
static inline uint32_t wb_request_number(uint32_t request)
{
    return request >> 16;
}

// outcome: what became of a request, and of which: the status, negated, in bits 0-5, or that it is
// awaited; the low bits of the request's number in 6-15, the task in 16-31. A word that is read
// without the other two may be of another migration.
enum { WB_OUTCOME_AWAITED = 0x3f };
static inline uint32_t wb_outcome_awaited(uint32_t task, uint32_t number)
{
    return WB_OUTCOME_AWAITED | (number & 0x3ff) << 6 | task << 16;
}
static inline uint32_t wb_outcome(uint32_t task, uint32_t number, enum wb_status status)
{
    return (uint32_t)-status | (number & 0x3ff) << 6 | task << 16;
}
static inline bool wb_outcome_is_of(uint32_t outcome, uint32_t task, uint32_t number)
{
    return (outcome | WB_OUTCOME_AWAITED) == wb_outcome_awaited(task, number);
}
static inline enum wb_status wb_outcome_status(uint32_t outcome)
{
    return (enum wb_status)(-(int32_t)(outcome & WB_OUTCOME_AWAITED));
}

#endif
