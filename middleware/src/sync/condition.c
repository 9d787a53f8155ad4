// SPDX-License-Identifier: Apache-2.0
// Conditions: to be chosen is to be signalled.
//
// Who waits says so in its own `waits_for` before it gives the mutex back, so whoever takes the
// mutex next finds it. A signal is the choice of wait_queue.c: one compare-and-swap clears the word
// of the most urgent waiter, so each signal has one waiter and each waiter one signal, and who
// leaves because its time is over knows by the same word whether it was signalled first.
//
// A task that is killed in between has been told in vain. Until it returns it has the wait queue in
// its `condition`, and recovery chooses another for it (wait_queue.c).
//
// One that is killed with the mutex may have been about to signal. Recovery wakes everybody: either
// a waiter finds that the holder is over, and takes the mutex, or another has taken it before; and
// who takes it over chooses all that wait with it (mutex.c).

#include "wb/wb.h"

#include "wait_queue.h"

void wb_condition_init(struct wb_condition *condition)
{
    *condition = (struct wb_condition){ 0 };
}

// ---- Waiting ------------------------------------------------------------------------------------

static void begin_wait(struct wb_condition *condition, const struct wb_mutex *mutex,
                       struct wb_task *self)
{
    wb_wait_queue_begin(&condition->queue, self);
    // Relaxed: the swap below publishes all to who chooses this task, and the mutex to who signals
    // with it or after it. Whoever signals without may come too early in any case.
    wb_word_store(&self->sync.guard, mutex != NULL ? &mutex->queue : NULL, WB_RELAXED);
    wb_word_store(&self->sync.condition, &condition->queue, WB_RELAXED);
    (void)wb_word_add(&condition->waiters, 1, WB_RELAXED);
    (void)wb_word_swap(&self->sync.waits_for, &condition->queue, WB_RELEASE);
}

static enum wb_status attempt(struct wb_wait_queue *queue, struct wb_task *self)
{
    // Acquire: what was done before the signal is visible to whom it wakes.
    return wb_word_load(&self->sync.waits_for, WB_ACQUIRE) == queue ? WB_ERR_EMPTY : WB_OK;
}

// The holder of the mutex is over. The fence of wb_mutex_unlock(), after this task has said that it
// waits, pairs with that of who ends: one of the two sees the other.
static bool is_left(const struct wb_mutex *mutex, struct wb_system *system)
{
    const uint32_t holder = mutex != NULL ? wb_word_load(&mutex->queue.holder, WB_RELAXED) : 0;
    return holder != 0 && wb_wait_queue_living(system, holder) == NULL;
}

// A task that moves meanwhile can be chosen all the time: who wakes it leaves a note, and it looks
// before it blocks. True: the time is over.
static bool await(struct wb_wait_queue *queue, const struct wb_mutex *mutex, struct wb_task *self,
                  uint64_t until_ns)
{
    while (wb_wait_queue_poll(queue, attempt, self, until_ns) == WB_ERR_EMPTY &&
           !is_left(mutex, self->system)) {
        if (wb_kernel_block(until_ns) == WB_ERR_TIMEOUT)
            return true;
        wb_departure_at_wait(self);
    }
    return false;
}

// True: it was signalled.
static bool end_wait(struct wb_condition *condition, struct wb_task *self)
{
    // Acquire: as in attempt().
    const struct wb_wait_queue *waits_for = wb_word_swap(&self->sync.waits_for, NULL, WB_ACQ_REL);

    wb_wait_queue_end(self);
    (void)wb_word_sub(&condition->waiters, 1, WB_RELAXED);
    return waits_for != &condition->queue;
}

enum wb_status wb_condition_wait(struct wb_condition *condition, struct wb_mutex *mutex,
                                 uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();
    const uint64_t until_ns = wb_end_of(timeout_ns);

    if (mutex != NULL && !wb_wait_queue_is_held_by(&mutex->queue, self))
        return WB_ERR_INVAL;
    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    begin_wait(condition, mutex, self);
    if (mutex != NULL)
        (void)wb_mutex_unlock(mutex);
    const bool timed_out = await(&condition->queue, mutex, self, until_ns);
    enum wb_status status = end_wait(condition, self) || !timed_out ? WB_OK : WB_ERR_TIMEOUT;
    if (mutex != NULL && wb_mutex_lock(mutex, WB_FOREVER) == WB_ERR_OWNER)
        status = WB_ERR_OWNER;
    // Relaxed: only recovery looks, after this kernel's last store.
    wb_word_store(&self->sync.condition, NULL, WB_RELAXED);
    return status;
}

// ---- Signals ------------------------------------------------------------------------------------

// Relaxed: a waiter that gave the mutex back before the caller took it has been counted by then.
static bool is_waited_for(const struct wb_condition *condition)
{
    wb_kernel_charge(WB_ACTION_COMMIT, 1);
    return wb_word_load(&condition->waiters, WB_RELAXED) != 0;
}

void wb_condition_signal(struct wb_condition *condition)
{
    if (is_waited_for(condition))
        wb_wait_queue_choose(&condition->queue, wb_kernel_self()->system);
}

void wb_condition_broadcast(struct wb_condition *condition)
{
    if (is_waited_for(condition))
        wb_wait_queue_choose_all(&condition->queue, wb_kernel_self()->system);
}
