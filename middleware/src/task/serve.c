// SPDX-License-Identifier: Apache-2.0
// The agent: acts on the notes in its core's inbox.

#include "../decide/decide.h"
#include "life.h"

// Where kernels share tasks, another may have chosen it meanwhile, and computed its priority too:
// that one is to do so again, after this.
static void inherit(struct wb_core *core, struct wb_task *task)
{
    if (wb_parts.locks->inherit(task))
        wb_kernel_reprioritise(task);
    if (!core->system->shares)
        return;
    wb_word_fence(WB_SEQ_CST);
    if (wb_task_core(task) == core->index)
        return;
    wb_word_add(&task->sync.reevaluations, 1, WB_RELEASE);
    wb_inbox_post(core->system->cores[wb_task_core(task)], task->id);
}

static inline void look_at_own(struct wb_core *core, struct wb_task *task, uint32_t owner_state)
{
    switch (wb_task_state_of(owner_state)) {
    case WB_TASK_NEW:
        if (wb_reporting(core->system) != NULL)
            wb_parts.agents->arrival(task, core->index, wb_kernel_now_ns());
        wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_READY, core->index), WB_RELAXED);
        // The launcher has written the first context of those of its own program.
        if (wb_has_programs(core->system) && core->program != 0)
            wb_task_begin_here(task);
        wb_task_attach(core, task);
        break;
    case WB_TASK_RETURNED:
        wb_migration_returned(core, task, owner_state);
        break;
    case WB_TASK_READY:
    case WB_TASK_RUNNING:
    case WB_TASK_BLOCKED:
        if (wb_must_reevaluate(task))
            inherit(core, task);
        wb_kernel_unblock(task);
        break;
    case WB_TASK_OFFERED:  // whoever attaches it unblocks it
    case WB_TASK_ENDED:
    case WB_TASK_LOST:
        break;
    }
}

static inline void look_at_task(struct wb_core *core, struct wb_task *task)
{
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
    const enum wb_task_state state = wb_task_state_of(owner_state);

    if (state == WB_TASK_OFFERED && wb_target_of(owner_state) == core->index)
        wb_migration_arrive(core, task, owner_state, wb_attach_ops_of(task));
    else if (wb_owner_of(owner_state) == core->index)
        look_at_own(core, task, owner_state);
    else if (!wb_state_is_over(owner_state))
        wb_inbox_post(core->system->cores[wb_owner_of(owner_state)], task->id);
}

static inline void count_pending_bits(struct wb_core *core, uint32_t served)
{
    wb_kernel_charge(WB_ACTION_SERVE, served);
    wb_counter_add(&core->stats.notes, served);
}

static inline __attribute__((always_inline)) bool is_asked(const struct wb_core *core)
{
    return wb_parts.agents != NULL && wb_agent_is_asked(core);
}

// What a core touches of a task that it takes in: from another core's cache each line takes as long
// as the note did, and they come together.
static inline void fetch_lines(const struct wb_task *task)
{
    const unsigned char *const lines[] = {
        (const unsigned char *)&task->owner_state,
        (const unsigned char *)&task->owner_state + WB_LINE_BYTES,
        (const unsigned char *)&task->owner_state + 2 * WB_LINE_BYTES,
        (const unsigned char *)&task->resumed_ns,
        (const unsigned char *)&task->resumed_ns + WB_LINE_BYTES,
        (const unsigned char *)&task->revive,
        (const unsigned char *)&task->settled,
        (const unsigned char *)(&task->settled + 1) - 1,
        task->kernel,
        task->kernel + WB_LINE_BYTES,
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        wb_word_prefetch(lines[i]);
}

static inline __attribute__((always_inline)) uint32_t
look_at_tasks(struct wb_core *core, uint32_t word, uint32_t bits, uint32_t served)
{
    for (; bits != 0; bits &= bits - 1, served++)
        look_at_task(core, &core->system->tasks[word * 32 + (uint32_t)__builtin_ctz(bits)]);
    return served;
}

// As the summary and its word are taken in one step, the first task's lines can be fetched before:
// the step itself waits for a line.
static struct wb_two take_pair(struct wb_core *core)
{
    // Relaxed: to fetch too early, or in vain, does no harm.
    const uint32_t bits = wb_word_load(&core->inbox.near[0], WB_RELAXED);

    if (bits != 0)
        fetch_lines(&core->system->tasks[__builtin_ctz(bits)]);
    return wb_pair_take(&core->inbox.pair, WB_ACQ_REL);
}

uint32_t wb_agent_serve(struct wb_core *core)
{
    struct wb_inbox *inbox = &core->inbox;
    uint32_t served = 0, summary;

    // Acquire: a bit whose summary we take is visible, and so is what it is about.
    if (wb_inbox_has_pair(inbox)) {
        const struct wb_two taken = take_pair(core);
        served = look_at_tasks(core, 0, taken.second, 0);
        summary = taken.first & ~1u;
    } else {
        summary = wb_word_swap(&inbox->summary, 0, WB_ACQ_REL);
    }
    for (; summary != 0; summary &= summary - 1)
        for (uint32_t w = (uint32_t)__builtin_ctz(summary); w < inbox->n_words; w += 32)
            served = look_at_tasks(core, w, wb_word_swap(&inbox->words[w], 0, WB_ACQ_REL), served);
    if (served != 0)
        count_pending_bits(core, served);
    if (is_asked(core))
        wb_parts.agents->obey(core);
    return served;
}

// Acts on what takes no longer than a switch does: nothing is copied, loaded, or looked for among
// all tasks. False: it is something else.
static inline bool look_briefly(struct wb_core *core, struct wb_task *task)
{
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);

    if (wb_must_reevaluate(task))
        return false;
    if (wb_task_state_of(owner_state) == WB_TASK_OFFERED &&
        wb_target_of(owner_state) == core->index && wb_task_is_handed_off(task) &&
        wb_revival(task) == WB_REVIVE_NOT)
        wb_migration_arrive(core, task, owner_state, NULL);  // as the look above says
    else if (wb_owner_state_is_kept(owner_state, core->index))
        wb_kernel_unblock(task);
    else
        return false;
    return true;
}

bool wb_agent_admit(struct wb_core *core)
{
    struct wb_inbox *inbox = &core->inbox;
    // Acquire, here and below: as in wb_agent_serve().
    uint32_t summary = wb_word_swap(&inbox->summary, 0, WB_ACQ_REL);

    if (summary == 0)
        return is_asked(core);
    const uint32_t w = (uint32_t)__builtin_ctz(summary);
    uint32_t bits = wb_word_swap(&inbox->words[w], 0, WB_ACQ_REL);
    if (bits != 0 &&
        look_briefly(core, &core->system->tasks[w * 32 + (uint32_t)__builtin_ctz(bits)])) {
        bits &= bits - 1;
        count_pending_bits(core, 1);
    }
    // What is left goes back as it was posted: the bits, then their summary.
    if (bits != 0)
        wb_word_or(&inbox->words[w], bits, WB_RELEASE);
    else if (w + 32 >= inbox->n_words)
        summary &= summary - 1;
    if (summary != 0)
        wb_word_or(&inbox->summary, summary, WB_RELEASE);
    return summary != 0 || is_asked(core);
}

uint64_t wb_agent_tick(struct wb_core *core, uint64_t now_ns)
{
    const struct wb_part_agents *agents = wb_reporting(core->system);

    return agents != NULL ? agents->tick(core, now_ns) : WB_FOREVER;
}
