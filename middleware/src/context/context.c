// SPDX-License-Identifier: Apache-2.0

#include "context.h"
#include "../word/mem.h"
#include "wb/wb.h"

enum { MAGIC = 0x57bc0e47, ALIGN = 64 };

struct context {
    uint32_t magic, task;
    size_t bytes;       // of all: this, the ports' positions, the heap, the stack
    uint64_t checksum;  // of all that follows this word
    size_t heap_bytes, stack_bytes;
    unsigned char *stack_low;
    void *state;
    struct wb_release release;
    struct wb_arrival arrival;
    uint64_t job_deadline_ns, random;
    struct wb_heap heap;
    unsigned char kernel[WB_KERNEL_TASK_BYTES];
};

static size_t ports_of(const struct wb_task *task)
{
    size_t n = 0;

    for (const struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        n++;
    return n;
}

static size_t head_bytes(const struct wb_task *task)
{
    return wb_round_up(sizeof(struct context), ALIGN) +
           wb_round_up(ports_of(task) * sizeof(struct wb_context_port), ALIGN);
}

static size_t heap_in_use(const struct wb_task *task)
{
    return (size_t)(task->heap.next - task->heap.base);
}

static size_t stack_in_use(const struct wb_task *task)
{
    const unsigned char *low = wb_kernel_stack_low(task);
    return (size_t)(task->stack + task->stack_bytes - low);
}

size_t wb_context_bytes(const struct wb_task *task, bool with_stack)
{
    return head_bytes(task) + wb_round_up(heap_in_use(task), ALIGN) +
           (with_stack ? wb_round_up(stack_in_use(task), ALIGN) : 0);
}

size_t wb_context_most(const struct wb_task *task, bool with_stack)
{
    return head_bytes(task) + wb_round_up((size_t)(task->heap.end - task->heap.base), ALIGN) +
           (with_stack ? wb_round_up(task->stack_bytes, ALIGN) : 0);
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio: spreads every bit up
    return sum ^ sum >> 32;
}

static uint64_t word_at(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

// Four sums side by side, for each step of one waits for the last; `bytes` is a multiple of ALIGN.
// It finds damage, not malice.
static uint64_t checksum(const struct context *context)
{
    enum { LANES = 4 };
    const unsigned char *at = (const unsigned char *)&context->heap_bytes;
    const unsigned char *aligned = (const unsigned char *)context + ALIGN;
    const unsigned char *end = (const unsigned char *)context + context->bytes;
    uint64_t sum[LANES] = { context->bytes ^ (uint64_t)context->task << 32 };

    for (; at < aligned; at += sizeof *sum)
        sum[0] = mix(sum[0], word_at(at));
    for (; at < end; at += sizeof sum)
        for (size_t i = 0; i < LANES; i++)
            sum[i] = mix(sum[i], word_at(at + i * sizeof *sum));
    return mix(mix(mix(sum[0], sum[1]), sum[2]), sum[3]);
}

static struct wb_context_port *positions_of(struct context *context)
{
    return (struct wb_context_port *)(void *)((unsigned char *)context +
                                              wb_round_up(sizeof *context, ALIGN));
}

// Others may free blocks of this heap meanwhile, on to `returned`: those are left out.
static void save_heap(struct wb_heap *to, const struct wb_heap *from)
{
    to->base = from->base;
    to->next = from->next;
    to->end = from->end;
    memcpy(to->free, from->free, sizeof to->free);
    wb_word_init(&to->returned, NULL);
    to->used_bytes = from->used_bytes;
    to->peak_bytes = from->peak_bytes;
}

enum wb_status wb_context_save(const struct wb_task *task, void *buffer, size_t bytes,
                               bool with_stack)
{
    struct context *context = buffer;
    struct wb_context_port *position = positions_of(context);

    if (wb_context_bytes(task, with_stack) > bytes)
        return WB_ERR_FULL;
    memset(context, 0, head_bytes(task));
    context->magic = MAGIC;
    context->task = task->id;
    context->bytes = wb_context_bytes(task, with_stack);
    context->heap_bytes = heap_in_use(task);
    context->stack_bytes = with_stack ? stack_in_use(task) : 0;
    context->stack_low = with_stack ? wb_kernel_stack_low(task) : NULL;
    context->state = task->state;
    context->release = task->release;
    context->arrival = task->arrival;
    context->job_deadline_ns = task->job_deadline_ns;
    context->random = task->work.random;
    save_heap(&context->heap, &task->heap);
    memcpy(context->kernel, task->kernel, sizeof context->kernel);
    for (const struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        *position++ = (struct wb_context_port){ .claimed = port->claimed,
                                                .committed = port->committed,
                                                .resend_skip = port->resend_skip,
                                                .messages = wb_port_messages(port) };

    unsigned char *at = (unsigned char *)buffer + head_bytes(task);
    wb_kernel_copy(at, task->heap.base, context->heap_bytes);
    memset(at + context->heap_bytes, 0,
           wb_round_up(context->heap_bytes, ALIGN) - context->heap_bytes);
    at += wb_round_up(context->heap_bytes, ALIGN);
    if (with_stack) {
        wb_kernel_copy(at, context->stack_low, context->stack_bytes);
        memset(at + context->stack_bytes, 0,
               wb_round_up(context->stack_bytes, ALIGN) - context->stack_bytes);
    }
    context->checksum = checksum(context);
    return WB_OK;
}

// Sizes first: a damaged one must not lead the checksum out of the buffer.
bool wb_context_is_whole(const struct wb_task *task, const void *buffer)
{
    const struct context *context = buffer;
    const size_t heap_most = (size_t)(task->heap.end - task->heap.base);

    return context->magic == MAGIC && context->task == task->id &&
           context->heap_bytes <= heap_most && context->stack_bytes <= task->stack_bytes &&
           context->bytes == head_bytes(task) + wb_round_up(context->heap_bytes, ALIGN) +
                                 wb_round_up(context->stack_bytes, ALIGN) &&
           context->checksum == checksum(context);
}

enum wb_status wb_context_load(struct wb_task *task, const void *buffer)
{
    const struct context *context = buffer;
    const unsigned char *at = (const unsigned char *)buffer + head_bytes(task);

    if (!wb_context_is_whole(task, buffer))
        return WB_ERR_INVAL;
    wb_kernel_copy(task->heap.base, at, context->heap_bytes);
    if (context->stack_bytes != 0) {
        wb_kernel_copy(context->stack_low, at + wb_round_up(context->heap_bytes, ALIGN),
                       context->stack_bytes);
        memcpy(task->kernel, context->kernel, sizeof task->kernel);
    }
    save_heap(&task->heap, &context->heap);
    task->state = context->state;
    task->release = context->release;
    task->arrival = context->arrival;
    task->job_deadline_ns = context->job_deadline_ns;
    task->work.random = context->random;
    return WB_OK;
}

struct wb_context_port wb_context_port(const struct wb_port *port, const void *buffer)
{
    const struct wb_task *task = port->task;
    const struct wb_context_port *position = positions_of((struct context *)(uintptr_t)buffer);

    for (const struct wb_port *p = task->ports; p != port; p = p->next_of_task)
        position++;
    return *position;
}
