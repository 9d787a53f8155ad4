// SPDX-License-Identifier: Apache-2.0
// How a migration ends: its outcome, and its record.

#include "../internal.h"
#include "../word/mem.h"

static void record(struct wb_task *task, const struct wb_migration *migration)
{
    if (wb_parts.records != NULL)
        wb_parts.records->migration(task, migration);
}

// Tells who asked. A user's own word is kept from what policies and tasks ask for.
static void tell(struct wb_task *task, uint32_t requester, uint32_t number, enum wb_status status)
{
    const uint32_t outcome = wb_outcome(task->id, number, status);

    if (task->migration.by == WB_BY_USER)
        wb_word_store(&task->outcome, outcome, WB_RELAXED);
    if (requester != 0) {
        uint32_t awaited = wb_outcome_awaited(task->id, number);
        // Relaxed: the requester looks once it has seen the request end, which is released. It
        // fails where the requester waits no more, and has asked for another migration.
        (void)wb_word_compare_swap(&task->system->tasks[requester - 1].answer, &awaited, outcome,
                                   WB_RELAXED, WB_RELAXED);
    }
}

void wb_migration_finish(struct wb_task *task, enum wb_status outcome)
{
    const uint32_t number = wb_request_number(wb_word_load(&task->request, WB_RELAXED));
    const uint32_t requester = wb_word_load(&task->requester, WB_RELAXED);

    if (outcome != WB_OK) {
        task->migration.status = outcome;
        record(task, &task->migration);
    }
    tell(task, requester, number, outcome);
    // Release: the next requester, and whoever waits for the outcome, see the end of this one.
    wb_word_store(&task->request, wb_request(WB_REQUEST_NONE, 0, number), WB_RELEASE);
    if (requester != 0 && requester - 1 != task->id)
        wb_task_wake(&task->system->tasks[requester - 1]);
}

void wb_migration_close(struct wb_task *task)
{
    if (wb_parts.records == NULL || !task->open)
        return;
    task->open = false;
    record(task, &task->settled);
}

// In two parts: compilers for small processors copy these without a call.
static void keep(struct wb_task *task)
{
    enum { PART = 48 };
    unsigned char *to = (unsigned char *)&task->settled;
    const unsigned char *from = (const unsigned char *)&task->migration;

    _Static_assert(sizeof task->settled > PART && sizeof task->settled <= 64 + PART, "more parts");
    memcpy(__builtin_assume_aligned(to, 8), __builtin_assume_aligned(from, 8), PART);
    memcpy(__builtin_assume_aligned(to + PART, 8), __builtin_assume_aligned(from + PART, 8),
           sizeof task->settled - PART);
}

// The record waits for the first output, while the next request is filled in already.
void wb_migration_settle(struct wb_task *task, uint64_t now_ns)
{
    task->migration.running_ns = now_ns;
    const struct wb_part_agents *agents = wb_reporting(task->system);
    if (agents != NULL)
        agents->migration(task, &task->migration);
    if (wb_parts.records != NULL) {
        keep(task);
        task->open = true;
    }
    wb_counter_add(&task->stats.migrations, 1);
    wb_migration_finish(task, WB_OK);
}

void wb_migration_first_output(struct wb_task *task)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    task->settled.output_ns = now_ns;
    wb_record(wb_core_here(task->system), WB_EVENT_OUTPUT, task->id, 0, 0, now_ns);
    wb_migration_close(task);
}

bool wb_migration_pending(const struct wb_task *task)
{
    return wb_request_phase(wb_word_load(&task->request, WB_ACQUIRE)) != WB_REQUEST_NONE;
}
