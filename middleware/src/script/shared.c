// SPDX-License-Identifier: Apache-2.0
// Events of what tasks have in common. In a step they are tried once; what has to wait does so on
// the task's own stack.

#include "../word/mem.h"
#include "run.h"

// ---- What is said -------------------------------------------------------------------------------

static void append(char *text, const char *more)
{
    size_t n = 0;

    while (text[n] != '\0')
        n++;
    wb_text_copy(text + n, more, WB_ERROR_BYTES - n);
}

WB_NORETURN void run_fail(struct wb_task *self, const struct wb_script_event *event,
                          const char *what)
{
    char text[WB_ERROR_BYTES] = "";

    append(text, event->place);
    append(text, ": ");
    append(text, what);
    wb_task_fail(self, text);
    __builtin_unreachable();
}

// ---- What tasks have in common ------------------------------------------------------------------

static enum stop lock(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                      const struct way *way)
{
    struct wb_object *object = &run->script->objects[event->object];

    if (run->held == 0)
        run->safe = run->spot;
    const enum wb_status status = wb_mutex_lock(&object->mutex, timeout_of(way));
    if (status == WB_ERR_EMPTY)
        return TO_STACK;
    if (status == WB_ERR_INVAL)
        run_fail(self, event, "it locks a mutex that it holds: `unlock` it before");
    run->held++;  // also what a task that is over has left locked
    return done(run);
}

static enum stop unlock(struct wb_task *self, struct run *run, const struct wb_script_event *event)
{
    if (wb_mutex_unlock(&run->script->objects[event->object].mutex) != WB_OK)
        run_fail(self, event, "it unlocks a mutex that it does not hold: `lock` it before");
    // Last: a life that is cut short before does all again from where it held none.
    const enum stop stop = done(run);
    wb_word_order();
    run->held--;
    return stop;
}

static enum stop wait_for_condition(struct wb_task *self, struct run *run,
                                    const struct wb_script_event *event, const struct way *way)
{
    struct wb_object *objects = run->script->objects;
    struct wb_mutex *mutex = event->other != WB_SCRIPT_NONE ? &objects[event->other].mutex : NULL;

    if (!way->may_block)
        return TO_STACK;
    if (wb_condition_wait(&objects[event->object].condition, mutex, WB_FOREVER) == WB_ERR_INVAL)
        run_fail(self, event, "it waits with a mutex that it does not hold: `lock` it before");
    return done(run);
}

static enum stop wake(struct run *run, const struct wb_script_event *event)
{
    struct wb_condition *condition = &run->script->objects[event->object].condition;

    if (event->verb == WB_SCRIPT_SIGNAL)
        wb_condition_signal(condition);
    else
        wb_condition_broadcast(condition);
    return done(run);
}

static enum stop meet(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                      const struct way *way)
{
    struct wb_object *object = &run->script->objects[event->object];

    if (!way->may_block)
        return TO_STACK;
    const int status = wb_barrier_pass(&object->barrier, &run->round, WB_FOREVER);
    if (status == WB_ERR_GONE && wb_stopping(self))
        return to_exit(run);
    if (status == WB_ERR_GONE)
        run_fail(self, event, "another task of its barrier is over, so nobody passes it any more");
    if (status == WB_ERR_FULL)
        run_fail(self, event, "its barrier is for fewer tasks than wait at it: raise `tasks`");
    return done(run);
}

static enum stop take(struct run *run, const struct wb_script_event *event, const struct way *way)
{
    struct wb_object *object = &run->script->objects[event->object];

    if (wb_semaphore_take(&object->semaphore, timeout_of(way)) == WB_ERR_EMPTY)
        return TO_STACK;
    return done(run);
}

// One more than there may be is lost, as by a binary semaphore.
static enum stop give(struct run *run, const struct wb_script_event *event)
{
    const enum wb_status given = wb_semaphore_give(&run->script->objects[event->object].semaphore);

    wb_assert(given == WB_OK || given == WB_ERR_FULL);
    return done(run);
}

enum stop run_shared(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                     const struct way *way)
{
    switch (event->verb) {
    case WB_SCRIPT_LOCK:
        return lock(self, run, event, way);
    case WB_SCRIPT_UNLOCK:
        return unlock(self, run, event);
    case WB_SCRIPT_WAIT:
        return wait_for_condition(self, run, event, way);
    case WB_SCRIPT_BARRIER:
        return meet(self, run, event, way);
    case WB_SCRIPT_TAKE:
        return take(run, event, way);
    case WB_SCRIPT_GIVE:
        return give(run, event);
    default:
        return wake(run, event);
    }
}
