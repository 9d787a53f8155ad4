// SPDX-License-Identifier: Apache-2.0
// What a task may ask of itself and of others.

#include "../word/mem.h"
#include "../word/names.h"
#include "base.h"

struct wb_core *wb_core_here(struct wb_system *system)
{
    const uint32_t core = wb_kernel_core();
    return core < system->n_cores ? system->cores[core] : NULL;
}

bool wb_stopping(const struct wb_task *self)
{
    return wb_word_load(&self->system->stopping, WB_RELAXED) != 0;
}

struct wb_task *wb_task_self(void)
{
    return wb_kernel_self();
}

const char *wb_task_name(const struct wb_task *self)
{
    return self->name;
}

uint32_t wb_task_index(const struct wb_task *self)
{
    return self->index;
}

uint32_t wb_task_core(const struct wb_task *self)
{
    return wb_owner_of(wb_word_load(&self->owner_state, WB_RELAXED));
}

bool wb_task_runs_on(const struct wb_task *task, const struct wb_core *core)
{
    return (task->work.not_on >> core->kind & 1) == 0;
}

uint64_t wb_task_migrations(const struct wb_task *self)
{
    return wb_counter_get(&self->stats.migrations);
}

struct wb_app *wb_task_app(const struct wb_task *self)
{
    return &self->system->app;
}

struct wb_task *wb_task_find(const struct wb_app *app, const char *name, uint32_t index)
{
    const struct wb_names *names = &app->system->names;
    const uint32_t hash = wb_name_hash(name, index);
    const struct wb_name *slot = NULL;

    while ((slot = wb_names_next(names, hash, slot))->number != 0) {
        struct wb_task *task = &app->system->tasks[slot->number - 1];
        if ((slot->number & WB_NAMES_CHANNEL) == 0 && task->index == index &&
            wb_text_equal(task->name, name))
            return task;
    }
    return NULL;
}

void *wb_task_state(const struct wb_task *self)
{
    return self->state;
}

void wb_task_set_state(struct wb_task *self, void *state)
{
    self->state = state;
}
