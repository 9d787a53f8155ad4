// SPDX-License-Identifier: Apache-2.0
// Semaphores: a count of permits. One compare-and-swap takes a permit and one gives it, so a task
// that is killed has done the whole of it or nothing.

#include "wb/wb.h"

#include "wait_queue.h"

enum wb_status wb_semaphore_init(struct wb_semaphore *semaphore, uint32_t value, uint32_t most)
{
    if (most == 0 || value > most)
        return WB_ERR_INVAL;
    *semaphore = (struct wb_semaphore){ .most = most };
    wb_word_init(&semaphore->value, value);
    return WB_OK;
}

static enum wb_status attempt(struct wb_wait_queue *queue, struct wb_task *self)
{
    struct wb_semaphore *semaphore = (struct wb_semaphore *)queue;
    uint32_t value = wb_word_load(&semaphore->value, WB_RELAXED);

    (void)self;
    // Acquire: what was done before the permit was given is visible to its taker.
    do {
        if (value == 0)
            return WB_ERR_EMPTY;
    } while (
        !wb_word_compare_swap_weak(&semaphore->value, &value, value - 1, WB_ACQUIRE, WB_RELAXED));
    return WB_OK;
}

// Of two givers at once, one may have left it to the other to look, and that one chooses one task
// only: this one. So whoever leaves a wait looks whether there is more.
static void pass_on(struct wb_semaphore *semaphore)
{
    if (wb_word_load(&semaphore->value, WB_RELAXED) != 0)
        wb_wait_queue_open(&semaphore->queue, wb_kernel_self()->system);
}

enum wb_status wb_semaphore_take(struct wb_semaphore *semaphore, uint64_t timeout_ns)
{
    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    const enum wb_status status = wb_wait_queue_enter(&semaphore->queue, attempt, timeout_ns);
    pass_on(semaphore);
    return status;
}

enum wb_status wb_semaphore_spin(struct wb_semaphore *semaphore, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();
    const uint64_t until_ns = wb_end_of(timeout_ns);
    struct wb_spin spin = { 0 };
    enum wb_status status;

    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    while ((status = attempt(&semaphore->queue, self)) == WB_ERR_EMPTY && timeout_ns != 0) {
        if (until_ns != WB_FOREVER && wb_kernel_now_ns() >= until_ns) {
            status = WB_ERR_TIMEOUT;
            break;
        }
        // What the kernel would rather do has to wait.
        (void)wb_kernel_spin(&spin, until_ns);
    }
    self->poll_mark_ns += spin.polled_ns;
    return status;
}

enum wb_status wb_semaphore_give(struct wb_semaphore *semaphore)
{
    uint32_t value = wb_word_load(&semaphore->value, WB_RELAXED);

    wb_kernel_charge(WB_ACTION_COMMIT, 1);
    // Release: see attempt().
    do {
        if (value == semaphore->most)
            return WB_ERR_FULL;
    } while (
        !wb_word_compare_swap_weak(&semaphore->value, &value, value + 1, WB_RELEASE, WB_RELAXED));
    wb_wait_queue_open(&semaphore->queue, wb_kernel_self()->system);
    return WB_OK;
}
