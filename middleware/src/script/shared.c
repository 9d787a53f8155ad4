// SPDX-License-Identifier: Apache-2.0
// Events of what tasks have in common. In a step they are tried once; what has to wait does so on
// the task's own stack.

#include "../word/mem.h"
#include "run.h"

// ---- What is said -------------------------------------------------------------------------------

static void append(char *text, const char *more)
{
    const size_t n = wb_text_bytes(text) - 1;

    wb_text_copy(text + n, more, WB_ERROR_BYTES - n);
}

WB_NORETURN void run_fail(struct run *run, const struct wb_script_event *event, const char *what)
{
    char text[WB_ERROR_BYTES] = "";

    append(text, event->place);
    append(text, ": ");
    append(text, what);
    wb_task_fail(run->self, text);
    __builtin_unreachable();
}

// ---- What tasks have in common ------------------------------------------------------------------

static enum stop lock(struct run *run, const struct wb_script_event *event, struct wb_mutex *mutex)
{
    if (run->held == 0)
        run->safe = run->spot;
    const enum wb_status status = wb_mutex_lock(mutex, timeout_of(run));
    if (status == WB_ERR_EMPTY)
        return TO_STACK;
    if (status == WB_ERR_INVAL)
        run_fail(run, event, "it locks a mutex that it holds: `unlock` it before");
    run->held++;  // also what a task that is over has left locked
    return run_done(run);
}

static enum stop unlock(struct run *run, const struct wb_script_event *event,
                        struct wb_mutex *mutex)
{
    if (wb_mutex_unlock(mutex) != WB_OK)
        run_fail(run, event, "it unlocks a mutex that it does not hold: `lock` it before");
    // Last: a life that is cut short before does all again from where it held none.
    const enum stop stop = run_done(run);
    wb_word_order();
    run->held--;
    return stop;
}

static enum stop wait_for(struct run *run, const struct wb_script_event *event,
                          struct wb_condition *condition)
{
    struct wb_mutex *mutex =
        event->other != WB_SCRIPT_NONE ? &run->script->objects[event->other].mutex : NULL;

    if (wb_condition_wait(condition, mutex, WB_FOREVER) == WB_ERR_INVAL)
        run_fail(run, event, "it waits with a mutex that it does not hold: `lock` it before");
    return run_done(run);
}

static enum stop meet(struct run *run, const struct wb_script_event *event,
                      struct wb_barrier *barrier)
{
    const int status = wb_barrier_pass(barrier, &run_progress(run)->round, WB_FOREVER);

    if (status == WB_ERR_GONE && wb_stopping(run->self))
        return run_exit(run);
    if (status == WB_ERR_GONE)
        run_fail(run, event, "another task of its barrier has ended, so no task can pass it");
    if (status == WB_ERR_FULL)
        run_fail(run, event, "its barrier is for fewer tasks than wait at it: raise `tasks`");
    return run_done(run);
}

// One more than there may be is lost, as by a binary semaphore.
static void give_semaphore(struct wb_semaphore *semaphore)
{
    const enum wb_status given = wb_semaphore_give(semaphore);

    wb_assert(given == WB_OK || given == WB_ERR_FULL);
}

enum stop run_shared(struct run *run, const struct wb_script_event *event)
{
    struct wb_object *object = &run->script->objects[event->object];

    run_note_position(run);
    switch (event->verb) {
    case WB_SCRIPT_LOCK:
        return lock(run, event, &object->mutex);
    case WB_SCRIPT_UNLOCK:
        return unlock(run, event, &object->mutex);
    case WB_SCRIPT_WAIT:
        return run->may_block ? wait_for(run, event, &object->condition) : TO_STACK;
    case WB_SCRIPT_BARRIER:
        return run->may_block ? meet(run, event, &object->barrier) : TO_STACK;
    case WB_SCRIPT_TAKE:
        if (wb_semaphore_take(&object->semaphore, timeout_of(run)) == WB_ERR_EMPTY)
            return TO_STACK;
        break;
    case WB_SCRIPT_GIVE:
        give_semaphore(&object->semaphore);
        break;
    case WB_SCRIPT_SIGNAL:
        wb_condition_signal(&object->condition);
        break;
    default:
        wb_condition_broadcast(&object->condition);
        break;
    }
    return run_done(run);
}
