// SPDX-License-Identifier: Apache-2.0
#include "wb/record.h"

#include "mem.h"
#include "wb/system.h"

enum { FLAG_BYTES = 8 };  // the completeness word, padded so that entries stay aligned

static unsigned char *slot(struct wb_ring *ring, uint32_t index)
{
    return ring->data + (size_t)(index & (ring->slots - 1)) * (FLAG_BYTES + ring->entry_bytes);
}

void wb_ring_put(struct wb_ring *ring, const void *entry)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    if (ring->slots == 0)
        return;
    do {
        // Acquire: the reader is done with the slot before we write it again.
        if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) >= ring->slots) {
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(&ring->tail, &tail, tail + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    unsigned char *s = slot(ring, tail);
    memcpy(s + FLAG_BYTES, entry, ring->entry_bytes);
    atomic_store_explicit((_Atomic uint32_t *)(void *)s, 1, memory_order_release);
}

bool wb_ring_take(struct wb_ring *ring, void *entry)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    if (ring->slots == 0)
        return false;
    unsigned char *s = slot(ring, head);
    _Atomic uint32_t *complete = (_Atomic uint32_t *)(void *)s;
    if (atomic_load_explicit(complete, memory_order_acquire) == 0)
        return false;
    memcpy(entry, s + FLAG_BYTES, ring->entry_bytes);
    atomic_store_explicit(complete, 0, memory_order_relaxed);
    // Release: writers see the slot as incomplete and read before they may claim it.
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
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
