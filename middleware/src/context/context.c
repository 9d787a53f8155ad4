// SPDX-License-Identifier: Apache-2.0

#include "context.h"
#include "../word/mem.h"
#include "wb/wb.h"

// A context in blocks has each part at a place of its own, which stays whatever is in use, and a
// sum for each block: so it can be brought up to date by the blocks that have changed.
enum { MAGIC = 0x57bc0e47, IN_BLOCKS = 0x57bc0e48, ALIGN = 64, BLOCK = 4096 };

struct context {
    struct wb_swapped magic;  // 0 while it is being written
    uint32_t task;
    size_t bytes;       // of all: this, the ports' positions, the heap, the stack
    uint64_t checksum;  // of all that follows this word; in blocks: up to the sums
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

static size_t heap_most(const struct wb_task *task)
{
    return (size_t)(task->heap.end - task->heap.base);
}

size_t wb_context_bytes(const struct wb_task *task, bool with_stack)
{
    return head_bytes(task) + wb_round_up(heap_in_use(task), ALIGN) +
           (with_stack ? wb_round_up(stack_in_use(task), ALIGN) : 0);
}

size_t wb_context_most(const struct wb_task *task, bool with_stack)
{
    return head_bytes(task) + wb_round_up(heap_most(task), ALIGN) +
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

// Of the first `bytes` of a context, a multiple of ALIGN, after this word. Four sums side by side,
// for each step of one waits for the last. It finds damage, not malice.
static uint64_t checksum(const struct context *context, size_t bytes)
{
    enum { LANES = 4 };
    const unsigned char *at = (const unsigned char *)&context->heap_bytes;
    const unsigned char *aligned = (const unsigned char *)context + ALIGN;
    const unsigned char *end = (const unsigned char *)context + bytes;
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

// All but the heap and the stack themselves.
static void save_head(const struct wb_task *task, struct context *context, bool with_stack)
{
    struct wb_context_port *position = positions_of(context);

    memset(&context->task, 0, head_bytes(task) - sizeof context->magic);
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
}

enum wb_status wb_context_save(const struct wb_task *task, void *buffer, size_t bytes,
                               bool with_stack)
{
    struct context *context = buffer;

    if (wb_context_bytes(task, with_stack) > bytes)
        return WB_ERR_FULL;
    save_head(task, context, with_stack);

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
    context->checksum = checksum(context, context->bytes);
    wb_word_init(&context->magic, MAGIC);
    return WB_OK;
}

// ---- In blocks ----------------------------------------------------------------------------------

static const uint64_t UNKNOWN = UINT64_MAX;  // a block with this sum is summed up each time

// Where the parts are. Those of the stack are as far apart as in the stack itself.
struct blocks {
    uint64_t *heap_sums, *stack_sums;
    unsigned char *heap, *stack;
};

static size_t blocks_of(size_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK;
}

static size_t sums_bytes(const struct wb_task *task)
{
    return wb_round_up(
        (blocks_of(heap_most(task)) + blocks_of(task->stack_bytes)) * sizeof(uint64_t), ALIGN);
}

static struct blocks blocks_in(const struct wb_task *task, unsigned char *buffer)
{
    uint64_t *sums = (uint64_t *)(void *)(buffer + head_bytes(task));
    unsigned char *heap = buffer + head_bytes(task) + sums_bytes(task);

    return (struct blocks){ .heap_sums = sums,
                            .stack_sums = sums + blocks_of(heap_most(task)),
                            .heap = heap,
                            .stack = heap + wb_round_up(heap_most(task), ALIGN) };
}

size_t wb_context_most_in_blocks(const struct wb_task *task, bool with_stack)
{
    return wb_context_most(task, with_stack) + sums_bytes(task);
}

// Of a block. Sums, and sums of those, which say where a word was: of additions alone, in lanes, so
// that it takes no longer than the copy. The shift carries the highest bits to where further sums
// do not lose them. `bytes` is a multiple of ALIGN.
static uint64_t sum_up(const unsigned char *at, size_t bytes)
{
    enum { LANES = 4 };
    const unsigned char *end = at + bytes;
    uint64_t sum[LANES] = { 0 }, sums[LANES] = { 0 }, all = 0;

    for (; at < end; at += sizeof sum)
        for (size_t i = 0; i < LANES; i++) {
            sum[i] += word_at(at + i * sizeof *sum);
            sums[i] += sum[i] ^ sum[i] >> 32;
        }
    for (size_t i = 0; i < LANES; i++)
        all = mix(mix(all, sum[i]), sums[i]);
    return all;
}

// A block is whole whatever of it is in use, so that its sum is always of the same bytes.
static void update(unsigned char *to, uint64_t *sums, const unsigned char *from, size_t first,
                   size_t bytes)
{
    for (size_t at = first / BLOCK * BLOCK; at < bytes; at += BLOCK) {
        const size_t n = bytes - at < BLOCK ? bytes - at : BLOCK;
        if (!wb_kernel_update(to + at, from + at, n) && sums[at / BLOCK] != UNKNOWN)
            continue;
        sums[at / BLOCK] = sum_up(to + at, wb_round_up(n, ALIGN));
    }
}

static size_t whole_blocks(size_t bytes, size_t most)
{
    const size_t whole = blocks_of(bytes) * BLOCK;
    return whole < most ? whole : most;
}

void wb_context_update(const struct wb_task *task, void *buffer, bool with_stack)
{
    struct context *context = buffer;
    const struct blocks to = blocks_in(task, buffer);

    // Acquire: nothing below is written before the context says that it is being written. One that
    // was left so has blocks whose sums may be of what was there before, or is the first.
    if (wb_word_swap(&context->magic, 0, WB_ACQUIRE) != IN_BLOCKS)
        memset(to.heap_sums, 0xff, sums_bytes(task));
    save_head(task, context, with_stack);
    update(to.heap, to.heap_sums, task->heap.base, 0,
           whole_blocks(context->heap_bytes, heap_most(task)));
    if (with_stack)
        update(to.stack, to.stack_sums, task->stack, task->stack_bytes - context->stack_bytes,
               task->stack_bytes);
    context->checksum = checksum(context, head_bytes(task) + sums_bytes(task));
    // Release: with all that was written.
    (void)wb_word_swap(&context->magic, IN_BLOCKS, WB_RELEASE);
}

static bool blocks_are_whole(const unsigned char *at, const uint64_t *sums, size_t first,
                             size_t bytes)
{
    for (size_t i = first / BLOCK; i * BLOCK < bytes; i++) {
        const size_t n = bytes - i * BLOCK < BLOCK ? bytes - i * BLOCK : BLOCK;
        if (sums[i] != sum_up(at + i * BLOCK, wb_round_up(n, ALIGN)))
            return false;
    }
    return true;
}

static bool is_whole_in_blocks(const struct wb_task *task, const struct context *context)
{
    const struct blocks at = blocks_in(task, (unsigned char *)(uintptr_t)context);

    return context->checksum == checksum(context, head_bytes(task) + sums_bytes(task)) &&
           blocks_are_whole(at.heap, at.heap_sums, 0,
                            whole_blocks(context->heap_bytes, heap_most(task))) &&
           (context->stack_bytes == 0 ||
            blocks_are_whole(at.stack, at.stack_sums, task->stack_bytes - context->stack_bytes,
                             task->stack_bytes));
}

// ---- Either way ---------------------------------------------------------------------------------

static bool is_in_blocks(const struct context *context)
{
    // Acquire: what was written before it is visible.
    return wb_word_load(&context->magic, WB_ACQUIRE) == IN_BLOCKS;
}

// Sizes first: a damaged one must not lead the checksum out of the buffer.
bool wb_context_is_whole(const struct wb_task *task, const void *buffer)
{
    const struct context *context = buffer;
    const bool in_blocks = is_in_blocks(context);

    return (in_blocks || wb_word_load(&context->magic, WB_RELAXED) == MAGIC) &&
           context->task == task->id && context->heap_bytes <= heap_most(task) &&
           context->stack_bytes <= task->stack_bytes &&
           context->bytes == head_bytes(task) + wb_round_up(context->heap_bytes, ALIGN) +
                                 wb_round_up(context->stack_bytes, ALIGN) &&
           (in_blocks ? is_whole_in_blocks(task, context)
                      : context->checksum == checksum(context, context->bytes));
}

enum wb_status wb_context_load(struct wb_task *task, const void *buffer)
{
    const struct context *context = buffer;
    const struct blocks blocks = blocks_in(task, (unsigned char *)(uintptr_t)buffer);
    const unsigned char *heap = (const unsigned char *)buffer + head_bytes(task);
    const unsigned char *stack = heap + wb_round_up(context->heap_bytes, ALIGN);

    if (!wb_context_is_whole(task, buffer))
        return WB_ERR_INVAL;
    if (is_in_blocks(context)) {
        heap = blocks.heap;
        stack = blocks.stack + (task->stack_bytes - context->stack_bytes);
    }
    wb_kernel_copy(task->heap.base, heap, context->heap_bytes);
    if (context->stack_bytes != 0) {
        wb_kernel_copy(context->stack_low, stack, context->stack_bytes);
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
