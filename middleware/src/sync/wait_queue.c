// SPDX-License-Identifier: Apache-2.0
// Wait queues: waiting without lists.
//
// A waiter says in its own `waits_for` that it waits here, and in `waited` of the wait queue that
// somebody does, then tries once more, and blocks. Who gives changes the wait queue and then looks
// at `waited`. Each has a full fence between its stores and its load, so at least one of the two
// sees the other (see port.c). The giver looks through the tasks, or, where they are many, through
// those that an index has at the wait queue (waiters.c), clears `waits_for` of the most urgent one,
// which chooses it, and wakes it; the chosen one tries again, as anybody may meanwhile.
//
// A task may also wait for several wait queues at once (wait.c). It takes nothing, and is woken
// besides the chosen one.
//
// A giver may be killed after it chose, or choose a task that was killed: recovery wakes everybody,
// and everybody tries again.

#include "wait_queue.h"
#include "wb/wb.h"

static bool waits_at(const struct wb_task *task, const struct wb_wait_queue *queue)
{
    // Acquire: a task that says so has set what it waits by before.
    return wb_word_load(&task->sync.waits_for, WB_ACQUIRE) == queue;
}

// ---- Who may wait at a wait queue ---------------------------------------------------------------

static void look_at_all(struct wb_system *system, wb_waiters_look *look, void *with)
{
    for (uint32_t i = 0; i < system->n_tasks; i++)
        look(&system->tasks[i], with);
}

// In the order of their numbers. NULL: who waits at any.
static void look_in_order(const struct wb_wait_queue *queue, struct wb_system *system,
                          wb_waiters_look *look, void *with)
{
    if (wb_waiters_are_indexed(system) && queue != NULL)
        wb_parts.waiters->look_in_order(queue, system, look, with);
    else
        look_at_all(system, look, with);
}

struct urgent {
    const struct wb_wait_queue *queue;
    struct wb_task *task;
};

// Of equals, the first. In any order.
static bool comes_before(const struct wb_task *task, const struct wb_task *other)
{
    const uint32_t own = wb_sync_priority(&task->sync), its = wb_sync_priority(&other->sync);

    return own != its ? own > its : task < other;
}

static void prefer(struct wb_task *task, void *with)
{
    struct urgent *most = with;

    if (waits_at(task, most->queue) && (most->task == NULL || comes_before(task, most->task)))
        most->task = task;
}

static struct wb_task *most_urgent(struct wb_system *system, const struct wb_wait_queue *queue)
{
    struct urgent most = { .queue = queue };

    if (wb_waiters_are_indexed(system))
        (void)wb_parts.waiters->look(queue, system, prefer, &most);
    else
        look_at_all(system, prefer, &most);
    return most.task;
}

// Clearing its word chooses the task: only one giver does, and not if it has left by itself.
static bool choose(struct wb_task *task, struct wb_wait_queue *queue)
{
    // Release: the task, or recovery, that sees it cleared sees what was given. Acquire: pairs with
    // a task that left, so that the next look does not find it.
    return wb_word_compare_swap(&task->sync.waits_for, &queue, NULL, WB_ACQ_REL, WB_ACQUIRE);
}

// ---- Waking -------------------------------------------------------------------------------------

// True of a task that is to be woken, which is chosen for that if need be.
typedef bool pick(struct wb_task *task, void *of);

static bool has_in_set(struct wb_task *task, void *queue)
{
    return waits_at(task, &task->system->set) &&
           (wb_word_load(&task->sync.set, WB_RELAXED) & wb_wait_queue_bit(queue)) != 0;
}

static bool is_chosen(struct wb_task *task, void *queue)
{
    return waits_at(task, queue) && choose(task, queue);
}

// Waits for a condition with this mutex.
static bool is_guarded(struct wb_task *task, void *mutex)
{
    // Relaxed: who waits with the mutex said so before it gave it back, and the caller has it.
    struct wb_wait_queue *condition = wb_word_load(&task->sync.condition, WB_RELAXED);

    return condition != NULL && wb_word_load(&task->sync.guard, WB_RELAXED) == mutex &&
           choose(task, condition);
}

static uint32_t level_of(const struct wb_task *task)
{
    return 1u << wb_sync_priority(&task->sync);
}

struct adding {
    uint32_t levels;  // of these only
    struct wb_wakes *wakes;
    pick *is_picked;
    void *of;
};

static void add_wake(struct wb_task *task, void *with)
{
    const struct adding *adding = with;

    if ((level_of(task) & adding->levels) != 0 && adding->is_picked(task, adding->of))
        wb_wakes_add(adding->wakes, task);
}

static void add_level(struct wb_task *task, void *levels)
{
    *(uint32_t *)levels |= level_of(task);
}

// Where kernels share tasks, by their urgency. One whose priority changes meanwhile is picked by
// the last look, which is at all levels. `queue`: as in look_in_order().
static void add_all(const struct wb_wait_queue *queue, struct wb_wakes *wakes, pick *is_picked,
                    void *of, struct wb_system *system)
{
    struct adding adding = { .wakes = wakes, .is_picked = is_picked, .of = of };
    uint32_t levels = 0;

    if (system->shares)
        look_in_order(queue, system, add_level, &levels);
    for (; (levels & (levels - 1)) != 0; levels ^= adding.levels) {
        adding.levels = 1u << (31 - __builtin_clz(levels));
        look_in_order(queue, system, add_wake, &adding);
    }
    adding.levels = UINT32_MAX;
    look_in_order(queue, system, add_wake, &adding);
}

static void wake_all(const struct wb_wait_queue *queue, pick *is_picked, void *of,
                     struct wb_system *system)
{
    struct wb_wakes wakes = wb_wakes_begin();

    add_all(queue, &wakes, is_picked, of, system);
    wb_wakes_end(&wakes, system);
}

static struct wb_task *choose_one(struct wb_wait_queue *queue, struct wb_system *system)
{
    struct wb_task *task;

    while ((task = most_urgent(system, queue)) != NULL) {
        // Before the choice: the chosen task may give in turn, and must not miss the others.
        (void)wb_word_or(&queue->waited, WB_WAITED_ALONE, WB_RELEASE);
        if (choose(task, queue))
            return task;
    }
    return NULL;
}

void wb_wait_queue_choose(struct wb_wait_queue *queue, struct wb_system *system)
{
    struct wb_task *task = choose_one(queue, system);

    if (task != NULL)
        wb_task_wake(task);
}

void wb_wait_queue_choose_all(struct wb_wait_queue *queue, struct wb_system *system)
{
    // See the head of this file for what this fence pairs with.
    wb_word_fence(WB_SEQ_CST);
    wake_all(queue, is_chosen, queue, system);
}

void wb_wait_queue_choose_guarded(struct wb_wait_queue *mutex, struct wb_system *system)
{
    wake_all(NULL, is_guarded, mutex, system);
}

static void wake_sets(struct wb_wait_queue *queue, bool alone, struct wb_system *system)
{
    struct wb_wakes wakes = wb_wakes_begin();
    struct wb_task *task = alone ? choose_one(queue, system) : NULL;

    if (task != NULL)
        wb_wakes_add(&wakes, task);
    add_all(&system->set, &wakes, has_in_set, queue, system);
    wb_wakes_end(&wakes, system);
}

void wb_wait_queue_open(struct wb_wait_queue *queue, struct wb_system *system)
{
    // See the head of this file for what this fence pairs with.
    wb_word_fence(WB_SEQ_CST);
    // Acquire: whoever set it is found below.
    if (wb_word_load(&queue->waited, WB_RELAXED) == 0)
        return;
    const uint32_t waited = wb_word_swap(&queue->waited, 0, WB_ACQ_REL);
    if ((waited & WB_WAITED_IN_SET) != 0)
        wake_sets(queue, (waited & WB_WAITED_ALONE) != 0, system);
    else if ((waited & WB_WAITED_ALONE) != 0)
        wb_wait_queue_choose(queue, system);
}

static uint32_t holder_of(const struct wb_wait_queue *queue)
{
    return queue != NULL ? wb_word_load(&queue->holder, WB_RELAXED) : 0;
}

static bool is_participant(const struct wb_barrier *barrier, const struct wb_task *task)
{
    for (uint32_t i = 0; i < barrier->n_participants; i++)
        // Relaxed: the task has ended, and sat down before.
        if ((wb_word_load(&barrier->participants[i].task, WB_RELAXED) & WB_HOLDERS_MAX) ==
            task->id + 1)
            return true;
    return false;
}

// It waits for one that ends. Nobody else is woken: one that has nothing to do could come before
// its equals later.
static bool is_left(struct wb_task *task, void *ended)
{
    // Acquire: a task that says that it waits has set by which mutex before.
    const struct wb_wait_queue *queue = wb_word_load(&task->sync.waits_for, WB_ACQUIRE);

    if (holder_of(queue) == WB_HOLDER_BARRIER)
        return is_participant((const struct wb_barrier *)queue, ended);
    if (queue != NULL && queue == wb_word_load(&task->sync.condition, WB_RELAXED))
        queue = wb_word_load(&task->sync.guard, WB_RELAXED);
    return holder_of(queue) == wb_wait_queue_holder(ended);
}

static void abandon(struct wb_task *task)
{
    // Those who wait are looked for among all tasks.
    if (task->sync.owned == 0 && wb_word_load(&task->sync.sits, WB_RELAXED) == 0)
        return;
    // Against a waiter that looks whether the task is over: one of the two sees the other.
    wb_word_fence(WB_SEQ_CST);
    wake_all(NULL, is_left, task, task->system);
}

// A signal that the task was chosen for, and has not returned with, is for another. It comes twice
// if this is cut short and done again; a signal that is lost would be worse.
static void pass_on(struct wb_task *task, const struct wb_wait_queue *waited_for)
{
    struct wb_wait_queue *queue = wb_word_load(&task->sync.condition, WB_RELAXED);

    if (queue != NULL && queue != waited_for)
        wb_wait_queue_choose(queue, task->system);
    wb_word_store(&task->sync.condition, NULL, WB_RELAXED);
}

static void recover(struct wb_task *task)
{
    // Release, by an exchange: a giver that chose this task did so before, and whoever is woken
    // after this sees what was given.
    pass_on(task, wb_word_swap(&task->sync.waits_for, NULL, WB_ACQ_REL));
    wb_wait_queue_end(task);
    task->sync.held = 0;
    task->sync.owned = 0;
}

// ---- Waiting ------------------------------------------------------------------------------------

enum wb_status wb_wait_queue_poll(struct wb_wait_queue *queue, wb_wait_queue_attempt *attempt,
                                  struct wb_task *self, uint64_t until_ns)
{
    struct wb_spin spin = { 0 };
    enum wb_status status;

    do {
        status = attempt(queue, self);
    } while (status == WB_ERR_EMPTY && wb_kernel_spin(&spin, until_ns));
    self->poll_mark_ns += spin.polled_ns;
    return status;
}

static enum wb_status block(struct wb_wait_queue *queue, wb_wait_queue_attempt *attempt,
                            struct wb_task *self, uint64_t until_ns)
{
    bool timed_out = false;

    wb_wait_queue_begin(queue, self);
    // Release: who is led to this task by `waited` finds that it waits.
    (void)wb_word_swap(&self->sync.waits_for, queue, WB_RELEASE);
    (void)wb_word_or(&queue->waited, WB_WAITED_ALONE, WB_RELEASE);
    wb_word_fence(WB_SEQ_CST);
    enum wb_status status = attempt(queue, self);
    if (status == WB_ERR_EMPTY) {
        wb_inherit_boost(queue, self);
        timed_out = wb_kernel_block(until_ns) == WB_ERR_TIMEOUT;
    }
    // Acquire: if somebody chose this task, it sees what was given.
    (void)wb_word_swap(&self->sync.waits_for, NULL, WB_ACQ_REL);
    wb_wait_queue_end(self);
    if (timed_out) {
        status = attempt(queue, self);
        if (status == WB_ERR_EMPTY) {
            wb_inherit_release(queue, self);
            return WB_ERR_TIMEOUT;
        }
    }
    return status;
}

enum wb_status wb_wait_queue_enter(struct wb_wait_queue *queue, wb_wait_queue_attempt *attempt,
                                   uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();
    enum wb_status status = attempt(queue, self);

    if (status != WB_ERR_EMPTY || timeout_ns == 0)
        return status;
    const uint64_t until_ns = wb_end_of(timeout_ns);
    for (;;) {
        status = wb_wait_queue_poll(queue, attempt, self, until_ns);
        if (status != WB_ERR_EMPTY)
            return status;
        status = block(queue, attempt, self, until_ns);
        if (status != WB_ERR_EMPTY)
            return status;
        wb_departure_at_wait(self);
    }
}

const struct wb_part_locks wb_part_locks = {
    .abandon = abandon,
    .recover = recover,
    .inherit = wb_inherit,
};
