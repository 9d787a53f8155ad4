// SPDX-License-Identifier: Apache-2.0
// Locks by address (nacul2007: its lock unit has one entry with an address field per processor; a
// table does without the unit). Open addressing, and a name is never taken out again: so it may be
// looked up while others add, and one compare-and-swap adds it whole.

#include "wait_queue.h"
#include "wb/wb.h"

// Fibonacci hashing (Knuth, volume 3, section 6.4): addresses differ in their middle bits.
static uint32_t place_of(const void *address)
{
    return (uint32_t)((uintptr_t)address >> 2) * 2654435769u >> 16;
}

// The mutex of a name, which is added if need be. NULL: it is not there, or has no room.
static struct wb_mutex *find_lock(struct wb_locks *locks, const void *address, bool add)
{
    for (uint32_t i = 0; i < WB_LOCKS; i++) {
        const uint32_t at = (place_of(address) + i) % WB_LOCKS;
        const void *name = wb_word_load(&locks->names[at], WB_RELAXED);
        // Relaxed: a name comes with a mutex that was there before, all zero.
        if (name == NULL && add &&
            wb_word_compare_swap(&locks->names[at], &name, address, WB_RELAXED, WB_RELAXED))
            return &locks->mutexes[at];
        if (name == address)
            return &locks->mutexes[at];
        if (name == NULL)
            return NULL;
    }
    return NULL;
}

enum wb_status wb_lock(const void *address, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();

    if (address == NULL)
        return WB_ERR_INVAL;
    struct wb_mutex *mutex = find_lock(self->system->locks, address, true);
    if (mutex == NULL)
        return WB_ERR_NOMEM;
    const enum wb_status status = wb_mutex_lock(mutex, timeout_ns);
    if (status == WB_OK || status == WB_ERR_OWNER)
        self->sync.held++;
    return status;
}

enum wb_status wb_unlock(const void *address)
{
    struct wb_task *self = wb_kernel_self();
    struct wb_mutex *mutex =
        address != NULL ? find_lock(self->system->locks, address, false) : NULL;

    if (mutex == NULL || wb_mutex_unlock(mutex) != WB_OK)
        return WB_ERR_INVAL;
    self->sync.held--;
    return WB_OK;
}
