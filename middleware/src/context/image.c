// SPDX-License-Identifier: Apache-2.0
// Checkpoint images: what a task whose kernel is killed while it runs goes on from.
//
// An image is the task's context (context.h), taken at a checkpoint. To go on from it, the task
// must find its channels as they were then. What it has received since is still there, because its
// ports keep released slots until the next image. What it has sent since stands, and is not sent
// twice: the same number of messages that it sends first are dropped (`resend_skip`). So for a task
// that computes the same from the same, every message is delivered once. With `replay` off, what it
// received since the image is counted as skipped, and it goes on with the next message.
//
// Order: an image is whole before it becomes the newest, and the newest before slots are given
// back. A kernel killed in between leaves an image from which the rest can be done again.

#include "../channel/channel.h"
#include "context.h"

static const char claims[] =
    "it keeps checkpoint images, and has a claimed slot that is not committed at its checkpoint";
static const char holds[] =
    "it keeps checkpoint images without replay, and holds a message at its checkpoint";

static bool init(struct wb_task *task)
{
    const bool with_stack = task->mode != WB_RECREATE;

    if (task->checkpoint_every == 0)
        return true;
    // The first checkpoint takes the first image.
    task->images.since = task->checkpoint_every - 1;
    task->images.bytes = task->system->config.updates_images
                             ? wb_context_most_in_blocks(task, with_stack)
                             : wb_context_most(task, with_stack);
    for (int i = 0; i < 2; i++) {
        task->images.buffer[i] = wb_system_alloc(task->system, task->images.bytes, WB_LINE_BYTES);
        if (task->images.buffer[i] == NULL)
            return false;
    }
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        if (!task->replay || port->channel->aside)
            continue;
        port->defer_release = port->direction == WB_IN;
        if (port->direction != WB_OUT)
            continue;
        port->scratch = wb_system_alloc(task->system, port->channel->stride_bytes, WB_LINE_BYTES);
        if (port->scratch == NULL)
            return false;
    }
    return true;
}

static const char *validate(const struct wb_task *task)
{
    for (const struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        if (port->direction == WB_OUT &&
            (port->claimed != port->committed || port->resend_skipped != 0))
            return claims;
        if (port->direction == WB_IN && !port->defer_release && port->claimed != port->committed)
            return holds;
    }
    return NULL;
}

static bool capture(struct wb_task *self)
{
    // A lock would be another's when it goes on: the image waits for a checkpoint without.
    if (++self->images.since < self->checkpoint_every || self->sync.owned != 0)
        return false;
    const char *why_not = validate(self);
    if (why_not != NULL)
        wb_task_fail(self, why_not);
    wb_kernel_capture();
    return true;
}

static void give_back(struct wb_port *in)
{
    // Release: our reads of the slots come before the sender's next writes to them.
    wb_word_store(&in->channel->head, in->committed, WB_RELEASE);
    if (in->channel->senders != NULL)
        wb_port_notify(in->channel->senders);
}

void wb_task_captured(struct wb_task *task)
{
    struct wb_images *images = &task->images;
    const uint32_t spare = wb_word_load(&images->newest, WB_RELAXED) == 1;
    const bool with_stack = task->mode != WB_RECREATE;

    if (task->system->config.updates_images)
        wb_context_update(task, images->buffer[spare], with_stack);
    else if (wb_context_save(task, images->buffer[spare], images->bytes, with_stack) != WB_OK)
        return;  // the buffers are as large as a context can be
    // Release: who finds it the newest finds it whole.
    wb_word_store(&images->newest, spare + 1, WB_RELEASE);
    wb_counter_add(&images->taken, 1);
    images->since = 0;
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        if (port->defer_release)
            give_back(port);
}

// ---- After a death ------------------------------------------------------------------------------

static void put_back_receiver(struct wb_port *in, const struct wb_context_port *then)
{
    struct wb_images *images = &in->task->images;
    const uint64_t since = wb_port_messages(in) - then->messages;

    if (!in->defer_release) {
        images->skipped += since;
        wb_channel_recover(in);
        return;
    }
    images->replayed += since;
    in->committed = then->committed;
    // A task that starts from its entry has nothing in hand: what it held comes again.
    in->claimed = in->task->mode == WB_RECREATE ? then->committed : then->claimed;
    in->cached_peer = in->claimed;
    wb_counter_set(&in->messages, then->messages);
    give_back(in);
}

// How many messages were committed since the image. The port's own count may lack the last one, if
// the kernel was killed right after it; the indices tell which of the two it is.
static uint32_t sent_since(const struct wb_port *out, const struct wb_context_port *then)
{
    const uint32_t slots = out->channel->slots;
    const uint32_t counted = (uint32_t)(wb_port_messages(out) - then->messages);
    const uint32_t tail = wb_word_load(&out->channel->tail, WB_ACQUIRE);
    const uint32_t moved = ring_distance(then->committed, tail, slots);
    return counted % (2 * slots) == moved ? counted : counted + 1;
}

static void put_back_sender(struct wb_port *out, const struct wb_context_port *then)
{
    const uint32_t since = sent_since(out, then);

    wb_channel_recover(out);
    out->resend_skipped = 0;
    out->resend_skip = out->scratch != NULL ? then->resend_skip + since : 0;
    if (out->scratch != NULL)
        wb_counter_set(&out->messages, then->messages + since);
}

static bool resume(struct wb_task *task)
{
    struct wb_images *images = &task->images;
    const uint32_t newest = wb_word_load(&images->newest, WB_ACQUIRE);

    if (newest == 0)
        return false;
    const void *image = images->buffer[newest - 1];
    if (!wb_context_is_whole(task, image)) {
        images->damaged++;
        wb_word_store(&images->newest, 0, WB_RELAXED);
        return false;
    }
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        const struct wb_context_port then = wb_context_port(port, image);
        if (port->channel->tickets != NULL)
            wb_channel_recover(port);
        else if (port->direction == WB_IN)
            put_back_receiver(port, &then);
        else
            put_back_sender(port, &then);
    }
    images->since = 0;
    images->resumed++;
    return true;
}

static enum wb_status load_image(struct wb_task *task)
{
    const uint32_t newest = wb_word_load(&task->images.newest, WB_ACQUIRE);
    return newest != 0 ? wb_context_load(task, task->images.buffer[newest - 1]) : WB_ERR_INVAL;
}

const struct wb_part_images wb_part_images = {
    .init = init,
    .capture = capture,
    .resume = resume,
    .load = load_image,
};
