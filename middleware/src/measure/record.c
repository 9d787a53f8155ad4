// SPDX-License-Identifier: Apache-2.0
#include "wb/descriptor.h"

#include "../channel/channel.h"
#include "../word/mem.h"
#include "wb/launcher.h"

enum { FLAG_BYTES = 8 };  // the completeness word, padded so that entries stay aligned

// `bytes`: of an entry, which the compiler knows where there are many.
static inline unsigned char *slot(const struct wb_ring *ring, uint32_t index, uint32_t bytes)
{
    return ring->data + (size_t)(index & (ring->slots - 1)) * (FLAG_BYTES + bytes);
}

static inline __attribute__((always_inline)) void ring_put(struct wb_ring *ring, const void *entry,
                                                           uint32_t bytes)
{
    uint32_t tail = wb_word_load(&ring->tail, WB_RELAXED);

    if (ring->slots == 0)
        return;
    do {
        // Acquire: the reader is done with the slot before we write it again.
        while (tail - wb_word_load(&ring->head, WB_ACQUIRE) >= ring->slots) {
            if (ring->make_room == NULL) {
                wb_word_add(&ring->dropped, 1, WB_RELAXED);
                return;
            }
            ring->make_room();
        }
    } while (!wb_word_compare_swap_weak(&ring->tail, &tail, tail + 1, WB_RELAXED, WB_RELAXED));
    unsigned char *s = slot(ring, tail, bytes);
    memcpy(s + FLAG_BYTES, entry, bytes);
    wb_word_store((struct wb_word *)(void *)s, 1, WB_RELEASE);
}

void wb_ring_put(struct wb_ring *ring, const void *entry)
{
    ring_put(ring, entry, ring->entry_bytes);
}

static inline __attribute__((always_inline)) uint32_t ring_take(struct wb_ring *ring, void *to,
                                                                uint32_t most, uint32_t bytes)
{
    const uint32_t head = wb_word_load(&ring->head, WB_RELAXED);
    // Relaxed: a slot that was claimed just now is taken next time. No memory of a ring that has
    // never held anything is touched.
    const uint32_t there = wb_word_load(&ring->tail, WB_RELAXED) - head;
    // Acquire: what a killed kernel has completed is visible, so what is not will never be.
    const uint32_t since = wb_word_load(&ring->since, WB_ACQUIRE);
    const bool is_settled = since == ring->settled;
    uint32_t n = 0, passed = 0;

    for (; n < most && passed < there; passed++) {
        unsigned char *s = slot(ring, head + passed, bytes);
        struct wb_word *complete = (struct wb_word *)(void *)s;
        if (wb_word_load(complete, WB_ACQUIRE) != 0) {
            memcpy((unsigned char *)to + (size_t)n++ * bytes, s + FLAG_BYTES, bytes);
            wb_word_store(complete, 0, WB_RELAXED);
        } else if (is_settled || (int32_t)(since - (head + passed)) <= 0) {
            break;
        }
    }
    if (!is_settled && (int32_t)(head + passed - since) >= 0)
        ring->settled = since;
    // Release: writers see the slots as incomplete and read before they may claim them.
    if (passed != 0)
        wb_word_store(&ring->head, head + passed, WB_RELEASE);
    return n;
}

bool wb_ring_take(struct wb_ring *ring, void *entry)
{
    return ring_take(ring, entry, 1, ring->entry_bytes) != 0;
}

uint32_t wb_ring_take_events(struct wb_ring *ring, struct wb_event *events, uint32_t most)
{
    return ring_take(ring, events, most, sizeof *events);
}

// ---- What a task waits for ----------------------------------------------------------------------

static uint32_t waited(enum wb_wait_for what, size_t number)
{
    return (uint32_t)what << WB_WAIT_SHIFT | (uint32_t)number;
}

static uint32_t in_wait_queue(const struct wb_task *task, const struct wb_wait_queue *queue)
{
    const struct wb_system *system = task->system;
    const uintptr_t offset = (uintptr_t)queue - (uintptr_t)system->objects;
    const uint32_t holder = wb_word_load(&queue->holder, WB_RELAXED);

    if (offset < system->n_objects * sizeof *system->objects)
        return waited(WB_WAIT_OBJECT, offset / sizeof *system->objects);
    if (queue == &system->set)
        return WB_WAIT_UNTOLD;
    if (queue == wb_word_load(&task->sync.condition, WB_RELAXED))
        return waited(WB_WAIT_CONDITION, 0);
    if (holder == WB_HOLDER_BARRIER)
        return waited(WB_WAIT_BARRIER, 0);
    return waited(holder != 0 ? WB_WAIT_MUTEX : WB_WAIT_SEMAPHORE, 0);
}

// Several at once are waited for by a set (wb/wb.h).
static uint32_t at_port(const struct wb_task *task)
{
    const struct wb_port *found = NULL;

    for (const struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        if (wb_word_load(&port->waiting, WB_RELAXED) == WB_WAITS_NOT)
            continue;
        if (found != NULL)
            return WB_WAIT_UNTOLD;
        found = port;
    }
    return found == NULL
               ? WB_WAIT_UNTOLD
               : waited(WB_WAIT_CHANNEL, (size_t)(found->channel - task->system->channels));
}

// Of a task that has just blocked. Who gives it that clears what it waits for: then the wait is
// about to end, and nothing is told. Relaxed: only told, and its own words mostly.
static uint32_t waits_for(const struct wb_task *task)
{
    const struct wb_wait_queue *queue = wb_word_load(&task->sync.waits_for, WB_RELAXED);

    if (queue != NULL)
        return in_wait_queue(task, queue);
    return at_port(task);
}

void wb_record_event(struct wb_core *core, enum wb_event_kind kind, uint32_t task, uint32_t object,
                     uint64_t value, uint64_t time_ns)
{
    if (core->record.events.slots == 0)
        return;
    const struct wb_event event = {
        .time_ns = time_ns,
        .kind = (uint16_t)kind,
        .core = (uint16_t)core->index,
        .task = task,
        .object = kind == WB_EVENT_BLOCK ? waits_for(&core->system->tasks[task]) : object,
        .value = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value,
    };
    ring_put(&core->record.events, &event, sizeof event);
}

// ---- The part -----------------------------------------------------------------------------------

static void note_migration(struct wb_task *task, const struct wb_migration *migration)
{
    struct wb_core *here = wb_core_here(task->system);

    wb_ring_put(here != NULL ? &here->record.migrations : &task->system->record.migrations,
                migration);
}

static void note_message(struct wb_port *port, enum wb_event_kind kind)
{
    wb_record_event(wb_core_here(port->task->system), kind, port->task->id, port->channel->id,
                    wb_channel_depth(port->channel), wb_kernel_stamp_ns());
}

static void note_first_output(struct wb_task *task)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    task->settled.output_ns = now_ns;
    wb_record_event(wb_core_here(task->system), WB_EVENT_OUTPUT, task->id, 0, 0, now_ns);
    wb_migration_close(task);
}

static bool ring_init(struct wb_system *system, struct wb_ring *ring, uint32_t slots,
                      uint32_t entry_bytes)
{
    ring->slots = slots;
    ring->entry_bytes = entry_bytes;
    if (slots == 0)
        return true;
    ring->data = wb_system_alloc(system, (size_t)slots * (FLAG_BYTES + entry_bytes), WB_LINE_BYTES);
    return ring->data != NULL;
}

static bool record_init(struct wb_system *system, struct wb_record *record, uint32_t events)
{
    return ring_init(system, &record->events, events, sizeof(struct wb_event)) &&
           ring_init(system, &record->migrations, system->config.record_migrations,
                     sizeof(struct wb_migration));
}

const struct wb_part_records wb_part_records = { .init = record_init,
                                                 .event = wb_record_event,
                                                 .migration = note_migration,
                                                 .message = note_message,
                                                 .first_output = note_first_output };
