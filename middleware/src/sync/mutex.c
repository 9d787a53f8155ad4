// SPDX-License-Identifier: Apache-2.0
// Mutexes: the holder is a word, and whether it lives is read from the task that the word names. So
// a mutex whose holder is over needs no repair: the next taker sees it, and says so.

#include "wait_queue.h"
#include "wb/wb.h"

void wb_mutex_init(struct wb_mutex *mutex)
{
    *mutex = (struct wb_mutex){ 0 };
}

static enum wb_status attempt(struct wb_wait_queue *queue, struct wb_task *self)
{
    const uint32_t own = wb_wait_queue_holder(self);
    uint32_t holder = wb_word_load(&queue->holder, WB_RELAXED);

    if (holder == own)
        return WB_ERR_INVAL;
    if (holder != 0 && wb_wait_queue_living(self->system, holder) != NULL)
        return WB_ERR_EMPTY;
    const enum wb_status taken = holder == 0 ? WB_OK : WB_ERR_OWNER;
    // Acquire: what the last holder did is visible to the next.
    return wb_word_compare_swap(&queue->holder, &holder, own, WB_ACQUIRE, WB_RELAXED)
               ? taken
               : WB_ERR_EMPTY;
}

enum wb_status wb_mutex_lock(struct wb_mutex *mutex, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();

    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    const enum wb_status status = wb_wait_queue_enter(&mutex->queue, attempt, timeout_ns);
    if (status != WB_OK && status != WB_ERR_OWNER)
        return status;
    self->sync.owned++;
    if (status == WB_ERR_OWNER)
        // What they wait for may have been done, and the signal not be given.
        wb_wait_queue_choose_guarded(&mutex->queue, self->system);
    // Others may have waited for the last holder, and now wait for this one.
    if (wb_word_load(&mutex->queue.waited, WB_RELAXED) != 0 && wb_inherit(self))
        wb_kernel_reprioritise(self);
    return status;
}

enum wb_status wb_mutex_try(struct wb_mutex *mutex)
{
    return wb_mutex_lock(mutex, 0);
}

enum wb_status wb_mutex_unlock(struct wb_mutex *mutex)
{
    struct wb_task *self = wb_kernel_self();

    if (!wb_wait_queue_is_held_by(&mutex->queue, self))
        return WB_ERR_INVAL;
    wb_kernel_charge(WB_ACTION_COMMIT, 1);
    self->sync.owned--;
    // Release publishes what it guards.
    wb_word_store(&mutex->queue.holder, 0, WB_RELEASE);
    wb_wait_queue_open(&mutex->queue, self->system);
    if (wb_sync_priority(&self->sync) != wb_own_priority(self) && wb_inherit(self))
        wb_kernel_reprioritise(self);
    return WB_OK;
}
