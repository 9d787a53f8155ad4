// SPDX-License-Identifier: Apache-2.0
#include "wb/record.h"

#include "../internal.h"
#include "../word/mem.h"

enum { FLAG_BYTES = 8 };  // the completeness word, padded so that entries stay aligned

static unsigned char *slot(struct wb_ring *ring, uint32_t index)
{
    return ring->data + (size_t)(index & (ring->slots - 1)) * (FLAG_BYTES + ring->entry_bytes);
}

void wb_ring_put(struct wb_ring *ring, const void *entry)
{
    uint32_t tail = wb_word_load(&ring->tail, WB_RELAXED);

    if (ring->slots == 0)
        return;
    do {
        // Acquire: the reader is done with the slot before we write it again.
        if (tail - wb_word_load(&ring->head, WB_ACQUIRE) >= ring->slots) {
            wb_word_add(&ring->dropped, 1, WB_RELAXED);
            return;
        }
    } while (!wb_word_compare_swap_weak(&ring->tail, &tail, tail + 1, WB_RELAXED, WB_RELAXED));
    unsigned char *s = slot(ring, tail);
    memcpy(s + FLAG_BYTES, entry, ring->entry_bytes);
    wb_word_store((struct wb_word *)(void *)s, 1, WB_RELEASE);
}

bool wb_ring_take(struct wb_ring *ring, void *entry)
{
    const uint32_t head = wb_word_load(&ring->head, WB_RELAXED);

    // Relaxed: a slot that was claimed just now is taken next time. No memory of a ring that has
    // never held anything is touched.
    if (wb_word_load(&ring->tail, WB_RELAXED) == head)
        return false;
    unsigned char *s = slot(ring, head);
    struct wb_word *complete = (struct wb_word *)(void *)s;
    if (wb_word_load(complete, WB_ACQUIRE) == 0)
        return false;
    memcpy(entry, s + FLAG_BYTES, ring->entry_bytes);
    wb_word_store(complete, 0, WB_RELAXED);
    // Release: writers see the slot as incomplete and read before they may claim it.
    wb_word_store(&ring->head, head + 1, WB_RELEASE);
    return true;
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
        .object = object,
        .value = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value,
    };
    wb_ring_put(&core->record.events, &event);
}

// ---- The part -----------------------------------------------------------------------------------

static void note_migration(struct wb_task *task, const struct wb_migration *migration)
{
    struct wb_core *here = wb_core_here(task->system);

    wb_ring_put(here != NULL ? &here->record.migrations : &task->system->record.migrations,
                migration);
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
                                                 .message = wb_port_record,
                                                 .first_output = wb_migration_first_output };
