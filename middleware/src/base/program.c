// SPDX-License-Identifier: Apache-2.0
// Systems of several programs: which code a task has where, and what they must agree on.

#include "../word/mem.h"
#include "base.h"

size_t wb_programs_bytes(const struct wb_system_config *config)
{
    return config->programs <= 1
               ? 0
               : wb_round_up(config->programs * sizeof(struct wb_program), WB_LINE_BYTES) +
                     (config->programs - 1) *
                         wb_round_up(config->tasks * sizeof(wb_task_entry *), WB_LINE_BYTES);
}

bool wb_programs_init(struct wb_system *system)
{
    const uint32_t n = system->config.programs;
    struct wb_program *programs = wb_system_alloc(system, n * sizeof *programs, WB_LINE_BYTES);

    if (programs == NULL)
        return false;
    programs[0].can = wb_kernel_can();
    for (uint32_t i = 1; i < n; i++) {
        programs[i].entries = wb_system_alloc(
            system, system->config.tasks * sizeof *programs[i].entries, WB_LINE_BYTES);
        if (programs[i].entries == NULL)
            return false;
    }
    system->programs = programs;
    return true;
}

enum wb_status wb_core_set_program(struct wb_core *core, uint32_t program)
{
    const struct wb_system *system = core->system;

    if ((program != 0 && program >= system->config.programs) || system->n_tasks != 0)
        return WB_ERR_INVAL;
    core->program = (uint16_t)program;
    core->memory = core->index + program * (WB_CORES_MAX + 1);
    return WB_OK;
}

uint32_t wb_core_can(const struct wb_core *core)
{
    return wb_has_programs(core->system) ? core->system->programs[core->program].can
                                         : wb_kernel_can();
}

wb_task_entry *wb_task_entry_on(const struct wb_task *task, const struct wb_core *core)
{
    wb_task_entry **entries =
        wb_has_programs(task->system) ? task->system->programs[core->program].entries : NULL;

    return entries != NULL ? entries[task->id] : task->entry;
}

enum wb_status wb_task_may_cross(const struct wb_task *task, const struct wb_core *from,
                                 const struct wb_core *to)
{
    if (from->program == to->program)
        return WB_OK;
    return task->mode != WB_REENTER             ? WB_ERR_UNABLE
           : wb_task_entry_on(task, to) == NULL ? WB_ERR_INVAL
                                                : WB_OK;
}

bool wb_task_is_foreign(const struct wb_task *task, const struct wb_core *core)
{
    return (wb_word_load(&task->memory_core, WB_RELAXED) ^ core->memory) > WB_CORES_MAX;
}

enum wb_status wb_task_init_here(struct wb_task *task)
{
    // What another kernel had there means something else.
    if (wb_has_programs(task->system))
        memset(task->kernel, 0, sizeof task->kernel);
    return wb_kernel_task_init(task);
}

void wb_task_begin_here(struct wb_task *task)
{
    if (wb_task_init_here(task) != WB_OK)
        wb_system_fault(task->system, WB_FAULT_KERNEL, task,
                        "the kernel of its core cannot run it on its stack: raise its `stack`");
}

// ---- The layout ---------------------------------------------------------------------------------

// FNV-1a, of numbers.
static uint64_t mix(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 8; i++, number >>= 8)
        hash = (hash ^ (number & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t wb_layout(void)
{
#define AT(type, member) offsetof(struct type, member)
    static const uint32_t numbers[] = {
        sizeof(void *),
        sizeof(enum wb_mode),
        WB_LINE_BYTES,
        WB_NAME_BYTES,
        WB_KERNEL_TASK_BYTES,
        WB_KERNEL_CORE_BYTES,
        sizeof(struct wb_system),
        AT(wb_system, config),
        AT(wb_system, app),
        AT(wb_system, live),
        AT(wb_system, control),
        AT(wb_system, transfer),
        AT(wb_system, fault),
        AT(wb_system, record),
        sizeof(struct wb_core),
        AT(wb_core, inbox.near),
        AT(wb_core, state),
        AT(wb_core, stats),
        AT(wb_core, record),
        AT(wb_core, point),
        AT(wb_core, report),
        AT(wb_core, kernel),
        sizeof(struct wb_task),
        AT(wb_task, name),
        AT(wb_task, mode),
        AT(wb_task, owner_state),
        AT(wb_task, request),
        AT(wb_task, migration),
        AT(wb_task, sync),
        AT(wb_task, resumed_ns),
        AT(wb_task, stats),
        AT(wb_task, report),
        AT(wb_task, heap),
        AT(wb_task, shared),
        AT(wb_task, work),
        AT(wb_task, frame),
        AT(wb_task, release),
        AT(wb_task, images),
        AT(wb_task, settled),
        AT(wb_task, kernel),
        sizeof(struct wb_channel),
        AT(wb_channel, slots),
        AT(wb_channel, tail),
        AT(wb_channel, high),
        sizeof(struct wb_port),
        AT(wb_port, claimed),
        AT(wb_port, committed),
        sizeof(struct wb_event),
        sizeof(struct wb_migration),
        sizeof(struct wb_ring),
        sizeof(struct wb_wait_queue),
        sizeof(struct wb_mutex),
        sizeof(struct wb_condition),
        sizeof(struct wb_barrier),
        sizeof(struct wb_semaphore),
        sizeof(struct wb_locks),
        sizeof(struct wb_program),
        sizeof(struct wb_fault),
        sizeof(struct wb_residents),
    };
#undef AT
    const void *const parts[] = {
        wb_parts.replicate, wb_parts.recreate, wb_parts.reenter,   wb_parts.channels,
        wb_parts.mailboxes, wb_parts.notify,   wb_parts.locks,     wb_parts.pool,
        wb_parts.images,    wb_parts.deaths,   wb_parts.agents,    wb_parts.arrivals,
        wb_parts.records,   wb_parts.latency,  wb_parts.responses, wb_parts.waiters,
    };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        hash = mix(hash, numbers[i]);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = mix(hash, parts[i] != NULL);
    return hash;
}
