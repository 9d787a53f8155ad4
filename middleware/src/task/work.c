// SPDX-License-Identifier: Apache-2.0
// What tasks compute, and on which kinds of cores.

#include "wb/descriptor.h"

#include "life.h"

enum { NORMAL_SPREAD_MAX_PPM = 333333 };

static uint32_t kinds_of(const struct wb_system *system)
{
    return system->config.kinds != 0 ? system->config.kinds : 1;
}

enum wb_status wb_core_set_kind(struct wb_core *core, uint32_t kind)
{
    if (kind >= kinds_of(core->system) || core->system->n_tasks != 0)
        return WB_ERR_INVAL;
    core->kind = (uint16_t)kind;
    return WB_OK;
}

static bool spread_is_valid(enum wb_distribution distribution, uint32_t spread_ppm)
{
    switch (distribution) {
    case WB_UNIFORM:
        return spread_ppm <= WB_PPM;
    case WB_NORMAL:
        return spread_ppm <= NORMAL_SPREAD_MAX_PPM;
    case WB_CONSTANT:
    case WB_EXPONENTIAL:
        return spread_ppm == 0;
    }
    return false;
}

// One for each kind, whatever the configuration says; NULL without memory.
static uint64_t *copy_cycles(struct wb_system *system, const struct wb_work_config *config)
{
    const uint32_t kinds = kinds_of(system);
    uint64_t *cycles = wb_system_alloc(system, kinds * sizeof *cycles, sizeof *cycles);

    for (uint32_t kind = 0; cycles != NULL && kind < kinds; kind++)
        cycles[kind] = config->cycles[config->n_cycles == 1 ? 0 : kind];
    return cycles;
}

static bool may_start_on(const struct wb_task *task, uint32_t core)
{
    return core == wb_task_core(task) ||
           (core < 32 && (wb_word_load(&task->cores, WB_RELAXED) >> core & 1) != 0);
}

enum wb_status wb_task_set_work(struct wb_task *task, const struct wb_work_config *config)
{
    struct wb_system *system = task->system;
    const uint32_t kinds = kinds_of(system);
    uint32_t not_on = 0;

    if (!spread_is_valid(config->distribution, config->spread_ppm) ||
        (config->n_cycles != 1 && config->n_cycles != kinds))
        return WB_ERR_INVAL;
    for (uint32_t i = 0; i < config->n_cycles; i++)
        if (config->cycles[i] > WB_CYCLES_MAX)
            return WB_ERR_INVAL;
    const uint64_t *cycles = copy_cycles(system, config);
    if (cycles == NULL)
        return WB_ERR_NOMEM;
    for (uint32_t kind = 0; kind < kinds; kind++)
        not_on |= (uint32_t)(cycles[kind] == 0) << kind;
    // Most work is for every kind: then no core is looked at, of which there may be many.
    for (uint32_t i = 0; not_on != 0 && i < system->n_cores; i++)
        if (may_start_on(task, i) && (not_on >> system->cores[i]->kind & 1) != 0)
            return WB_ERR_INVAL;
    task->work = (struct wb_work){ .distribution = config->distribution,
                                   .spread_ppm = config->spread_ppm,
                                   .working_bytes = config->working_bytes,
                                   .traffic_bytes = config->traffic_bytes,
                                   .firings = config->firings,
                                   .cycles = cycles,
                                   .not_on = not_on,
                                   .random = wb_draw_seed(system->config.seed, task->id) };
    return WB_OK;
}

uint64_t wb_work_cycles(struct wb_task *self)
{
    struct wb_work *work = &self->work;

    if (work->cycles == NULL)
        return 0;
    const struct wb_system *system = self->system;
    const uint32_t kind = system->config.kinds > 1 ? system->cores[wb_kernel_core()]->kind : 0;
    const uint64_t mean = work->cycles[kind];
    return work->distribution == WB_CONSTANT
               ? mean
               : wb_draw_cycles(&work->random, work->distribution, work->spread_ppm, mean);
}

bool wb_compute(struct wb_task *self)
{
    wb_counter_add(&self->stats.firings, 1);
    wb_kernel_compute(wb_work_cycles(self));
    return !self->system->config.models_compute;
}

uint64_t wb_task_firings(const struct wb_task *self)
{
    return self->work.firings;
}
