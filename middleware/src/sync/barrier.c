// SPDX-License-Identifier: Apache-2.0
// Barriers: rounds that one compare-and-swap ends.
//
// A task says in its entry for which round it has come, and looks at the entries of all. Each has a
// full fence between the two, so whoever is last sees all the others. Several may see that; the one
// that changes `state` to the next round lets all through. Who was killed in between has come, or
// has not, by one store, and its next life says the same again.
//
// `state` also has how often tasks of the barrier were cut short by a death since they took their
// entries, and whether that was other in the round before: so all who wait for a round are told the
// same, whoever looks first.

#include "wb/wb.h"

#include "wait_queue.h"

enum {            // of state
    WAS_CUT = 1,  // a task was cut short in the round before
    CUTS_BITS = 15,
    CUTS_MASK = (1 << CUTS_BITS) - 1,  // above it
    ROUND_SHIFT = CUTS_BITS + 1,       // the rest
};

enum {  // of arrived
    ARRIVAL_MASK = (1 << 17) - 1,
    STANDS = 1 << 17,  // the task has not been told what became of that round
    SERIAL = 1 << 18,  // it was who let all through
};

enum wb_status wb_barrier_init(struct wb_barrier *barrier, struct wb_participant *participants,
                               uint32_t tasks)
{
    if (tasks == 0)
        return WB_ERR_INVAL;
    *barrier = (struct wb_barrier){ .n_participants = tasks, .participants = participants };
    wb_word_init(&barrier->queue.holder, WB_HOLDER_BARRIER);
    for (uint32_t i = 0; i < tasks; i++)
        participants[i] = (struct wb_participant){ 0 };
    return WB_OK;
}

// ---- Participants -------------------------------------------------------------------------------

// The entry of a task, which takes one if need be; NULL: there is none for it.
static struct wb_participant *participant_of(const struct wb_barrier *barrier, struct wb_task *task)
{
    for (uint32_t i = 0; i < barrier->n_participants; i++) {
        struct wb_participant *participant = &barrier->participants[i];
        // Relaxed: an entry comes with what was there before, all zero.
        uint32_t holder = wb_word_load(&participant->task, WB_RELAXED);
        if (holder == 0 && wb_word_compare_swap(&participant->task, &holder,
                                                wb_wait_queue_holder(task), WB_RELAXED, WB_RELAXED))
            return participant;
        if ((holder & WB_HOLDERS_MAX) == task->id + 1)
            return participant;
    }
    return NULL;
}

static struct wb_participant *sit_down(const struct wb_barrier *barrier, struct wb_task *task)
{
    // Relaxed: it is the task itself, or nobody yet, that looks at its end.
    wb_word_store(&task->sync.sits, 1, WB_RELAXED);
    return participant_of(barrier, task);
}

enum wb_status wb_barrier_join(struct wb_barrier *barrier, struct wb_task *task)
{
    return sit_down(barrier, task) != NULL ? WB_OK : WB_ERR_FULL;
}

// ---- A round ------------------------------------------------------------------------------------

// What an entry says that has come for the round of `state`. 0: for none yet.
static uint32_t arrival(uint32_t state)
{
    return (state >> ROUND_SHIFT) + 1;
}

static bool is_here(const struct wb_participant *participant, uint32_t state)
{
    // Acquire: what the task did before it came is visible to who lets the others through.
    return (wb_word_load(&participant->arrived, WB_ACQUIRE) & ARRIVAL_MASK) == arrival(state);
}

static bool are_all_here(const struct wb_barrier *barrier, uint32_t state)
{
    for (uint32_t i = 0; i < barrier->n_participants; i++)
        if (!is_here(&barrier->participants[i], state))
            return false;
    return true;
}

static bool is_over(const struct wb_task *task)
{
    // Acquire: if it came before it was over, that is seen next.
    return wb_state_is_over(wb_word_load(&task->owner_state, WB_ACQUIRE));
}

static bool is_one_gone(const struct wb_barrier *barrier, uint32_t state,
                        const struct wb_system *system)
{
    for (uint32_t i = 0; i < barrier->n_participants; i++) {
        const struct wb_participant *participant = &barrier->participants[i];
        const uint32_t number = wb_word_load(&participant->task, WB_RELAXED) & WB_HOLDERS_MAX;
        if (number != 0 && is_over(&system->tasks[number - 1]) && !is_here(participant, state))
            return true;
    }
    return false;
}

// How often tasks of the barrier, all of which are here, were cut short since they took their
// entries.
static uint32_t cuts(const struct wb_barrier *barrier, const struct wb_system *system)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < barrier->n_participants; i++) {
        const uint32_t then = wb_word_load(&barrier->participants[i].task, WB_RELAXED);
        const struct wb_task *task = &system->tasks[(then & WB_HOLDERS_MAX) - 1];
        // Relaxed: a next life that has come was counted before it began.
        n += wb_word_load(&task->incarnation, WB_RELAXED) - (then >> WB_HOLDER_BITS);
    }
    return n & CUTS_MASK;
}

// The round after that of `state`.
static uint32_t next_state(const struct wb_barrier *barrier, uint32_t state,
                           const struct wb_system *system)
{
    const uint32_t before = state >> 1 & CUTS_MASK, now = cuts(barrier, system);

    return ((state >> ROUND_SHIFT) + 1) << ROUND_SHIFT | now << 1 | (now != before ? WAS_CUT : 0);
}

static enum wb_status told(uint32_t state)
{
    return (state & WAS_CUT) != 0 ? WB_ERR_OWNER : WB_OK;
}

// Of somebody who was not here for the round of `state`: also whoever has gone on from it since.
static enum wb_status missing(const struct wb_barrier *barrier, const struct wb_participant *own,
                              uint32_t state, const struct wb_system *system)
{
    const bool gone = is_one_gone(barrier, state, system);
    // Acquire: as in attempt(). Who came for the next round had seen this one end, and is_here()
    // has acquired what it had seen, so that is seen here, too.
    const uint32_t now = wb_word_load(&barrier->state, WB_ACQUIRE);

    if (!is_here(own, now))
        return told(now);
    return gone ? WB_ERR_GONE : WB_ERR_EMPTY;
}

static enum wb_status attempt(struct wb_wait_queue *queue, struct wb_task *self)
{
    struct wb_barrier *barrier = (struct wb_barrier *)queue;
    struct wb_participant *own = participant_of(barrier, self);
    // Acquire: what all did before they came is visible to who is let through.
    uint32_t state = wb_word_load(&barrier->state, WB_ACQUIRE);

    if (!is_here(own, state))
        return told(state);
    if (!are_all_here(barrier, state))
        return missing(barrier, own, state, self->system);
    const uint32_t next = next_state(barrier, state, self->system);
    // Release: of all that are_all_here() has acquired. It fails if another has done the same.
    if (!wb_word_compare_swap(&barrier->state, &state, next, WB_ACQ_REL, WB_ACQUIRE))
        return told(state);
    // Relaxed: only the task itself looks at it.
    wb_word_store(&own->arrived, wb_word_load(&own->arrived, WB_RELAXED) | SERIAL, WB_RELAXED);
    wb_wait_queue_choose_all(queue, self->system);
    return told(next);
}

// ---- Waiting ------------------------------------------------------------------------------------

static void arrive(const struct wb_barrier *barrier, struct wb_participant *own, uint32_t *round)
{
    // Relaxed: the round does not end without this task.
    if (*round == 0)
        *round = arrival(wb_word_load(&barrier->state, WB_RELAXED));
    // Release: see is_here(). A life that is cut short here has noted the round.
    wb_word_store(&own->arrived, *round, WB_RELEASE);
    // Against another that comes: one of the two sees the other.
    wb_word_fence(WB_SEQ_CST);
}

// What the task says by its entry once it is told, so that it comes anew or waits on.
static int leave(struct wb_participant *own, enum wb_status status)
{
    const uint32_t arrived = wb_word_load(&own->arrived, WB_RELAXED);
    const bool through = status == WB_OK || status == WB_ERR_OWNER;

    // Relaxed: these bits are the task's alone.
    wb_word_store(&own->arrived, through ? arrived & ARRIVAL_MASK : arrived | STANDS, WB_RELAXED);
    return status == WB_OK && (arrived & SERIAL) != 0 ? 1 : (int)status;
}

int wb_barrier_pass(struct wb_barrier *barrier, uint32_t *round, uint64_t timeout_ns)
{
    struct wb_participant *own = sit_down(barrier, wb_kernel_self());

    if (own == NULL)
        return WB_ERR_FULL;
    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    arrive(barrier, own, round);
    return leave(own, wb_wait_queue_enter(&barrier->queue, attempt, timeout_ns));
}

int wb_barrier_wait(struct wb_barrier *barrier, uint64_t timeout_ns)
{
    const struct wb_participant *own = sit_down(barrier, wb_kernel_self());
    const uint32_t arrived = own != NULL ? wb_word_load(&own->arrived, WB_RELAXED) : 0;
    uint32_t round = (arrived & STANDS) != 0 ? arrived & ARRIVAL_MASK : 0;

    return wb_barrier_pass(barrier, &round, timeout_ns);
}
