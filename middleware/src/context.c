// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include <assert.h>

#include "mem.h"

enum { MAGIC = 0x57bc0de };

struct context {
    uint32_t magic, task;
    size_t heap_bytes;  // in use, right behind this
    uint64_t sum;       // of what follows it
    void *state;
    uint64_t release_ns;
    size_t used_bytes, peak_bytes;
    void *free[WB_HEAP_CLASSES];
};

_Static_assert(sizeof(struct context) % sizeof(uint64_t) == 0, "it is summed up in words");

static size_t whole_words(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

static size_t heap_bytes(const struct wb_task *task)
{
    return (size_t)(task->heap.next - task->heap.base);
}

// Fowler, Noll and Vo's hash, by words.
static uint64_t sum_up(const struct context *context)
{
    const uint64_t *word = (const uint64_t *)(const void *)&context->state;
    const uint64_t *end = (const uint64_t *)(const void *)(context + 1) +
                          whole_words(context->heap_bytes) / sizeof(uint64_t);
    uint64_t sum = 0xcbf29ce484222325;

    for (; word != end; word++)
        sum = (sum ^ *word) * 0x100000001b3;
    return sum;
}

size_t wb_context_bytes(const struct wb_task *task, bool with_stack)
{
    assert(!with_stack);
    return sizeof(struct context) + whole_words(heap_bytes(task));
}

size_t wb_context_most(const struct wb_task *task, bool with_stack)
{
    return sizeof(struct context) + whole_words((size_t)(task->heap.end - task->heap.base)) +
           (with_stack ? task->stack_bytes : 0);
}

enum wb_status wb_context_save(const struct wb_task *task, void *buffer, size_t bytes,
                               bool with_stack)
{
    struct context *context = buffer;

    if (bytes < wb_context_bytes(task, with_stack))
        return WB_ERR_FULL;
    *context = (struct context){ .magic = MAGIC,
                                 .task = task->id,
                                 .heap_bytes = heap_bytes(task),
                                 .state = task->state,
                                 .release_ns = task->release_ns,
                                 .used_bytes = task->heap.used_bytes,
                                 .peak_bytes = task->heap.peak_bytes };
    memcpy(context->free, task->heap.free, sizeof context->free);
    memset((unsigned char *)(context + 1) + whole_words(context->heap_bytes) - sizeof(uint64_t), 0,
           context->heap_bytes != 0 ? sizeof(uint64_t) : 0);
    memcpy(context + 1, task->heap.base, context->heap_bytes);
    context->sum = sum_up(context);
    return WB_OK;
}

enum wb_status wb_context_load(struct wb_task *task, const void *buffer)
{
    const struct context *context = buffer;
    struct wb_heap *heap = &task->heap;

    if (context->magic != MAGIC || context->task != task->id ||
        context->heap_bytes > (size_t)(heap->end - heap->base) || context->sum != sum_up(context))
        return WB_ERR_INVAL;
    memcpy(heap->base, context + 1, context->heap_bytes);
    memcpy(heap->free, context->free, sizeof heap->free);
    heap->next = heap->base + context->heap_bytes;
    heap->used_bytes = context->used_bytes;
    heap->peak_bytes = context->peak_bytes;
    atomic_store_explicit(&heap->returned, NULL, memory_order_relaxed);
    task->state = context->state;
    task->release_ns = context->release_ns;
    return WB_OK;
}
