// SPDX-License-Identifier: Apache-2.0
// Notify policies: receivers that are not woken by each message (wb/channel.h).
//
// A receiver that waits by a notify policy says when it looks by itself (`look_ns`), then that it
// waits (WB_WAITS_FOR_NOTIFY), and attempts once more. A sender publishes its message, and then
// looks at `waiting`, as for any receiver (see the head of port.c): it knows of that look, or its
// message has been seen by that attempt. It wakes the receiver only if the look is later than the
// notify policy allows, or the batch is complete. No lock, and no word with two writers:
//
// - Only the first message of a wait needs the clock: all that come after it are noticed with it.
//   So each sender notes when it sent the first of this wait (`came_ns`), by the wait's number.
// - The receiver may be in a later wait by the time that a sender acts on what it read of an
//   earlier one. It took the message then, and is woken for nothing at worst. A time that is noted
//   for the later wait in this way is too early: the receiver looks the sooner.
// - Who is killed between its message and its ring leaves a receiver that looks by itself, or is
//   woken by recovery like everybody.

#include "channel.h"
#include "estimator.h"
#include "wb/channel.h"

enum { BATCH_SHIFT = 2, DOORBELL_MASK = (1 << BATCH_SHIFT) - 1 };

static uint32_t kind_of(const struct wb_notify_config *config)
{
    return (uint32_t)config->doorbell | (config->batch > 1 ? config->batch << BATCH_SHIFT : 0);
}

static uint32_t kind_now(const struct wb_channel *channel)
{
    // Acquire: see wb_channel_set_notify_policy().
    return wb_word_load(&channel->notify_kind, WB_ACQUIRE);
}

static uint64_t within_ns(const struct wb_notify_policy *notify)
{
    return wb_word_load(&notify->within_us, WB_RELAXED) * (uint64_t)1000;
}

// ---- What a channel has -------------------------------------------------------------------------

bool wb_notify_is_valid(const struct wb_notify_config *config, uint32_t slots)
{
    const bool batched = config->batch > 1;

    if (config->doorbell > WB_NOTIFY_ADAPTIVE || config->batch > slots ||
        (batched && config->doorbell != WB_NOTIFY_INTERRUPT))
        return false;
    return (!batched && config->doorbell == WB_NOTIFY_INTERRUPT) ||
           (config->within_us != 0 && config->within_us <= WB_WITHIN_MAX_US);
}

struct wb_notify_config wb_channel_notify_policy(const struct wb_channel *channel)
{
    if (channel->notify == NULL)
        return (struct wb_notify_config){ .doorbell = WB_NOTIFY_INTERRUPT };
    const uint32_t kind = kind_now(channel);
    return (struct wb_notify_config){ .doorbell = (enum wb_doorbell)(kind & DOORBELL_MASK),
                                      .batch = kind >> BATCH_SHIFT,
                                      .within_us =
                                          wb_word_load(&channel->notify->within_us, WB_RELAXED) };
}

enum wb_status wb_channel_set_notify_policy(struct wb_channel *channel,
                                            const struct wb_notify_config *config)
{
    if (channel->notify == NULL || !wb_notify_is_valid(config, channel->slots))
        return WB_ERR_INVAL;
    wb_word_store(&channel->notify->within_us, config->within_us, WB_RELAXED);
    // Release: who sees the kind sees the time. Who sees the old kind may go by the new time once.
    wb_word_store(&channel->notify_kind, kind_of(config), WB_RELEASE);
    if (channel->receiver != NULL)
        wb_task_wake(channel->receiver->task);
    return WB_OK;
}

const struct wb_notify_stats *wb_channel_notify_stats(const struct wb_channel *channel)
{
    return channel->notify != NULL ? &channel->notify->stats : NULL;
}

static enum wb_status add_policy(struct wb_system *system, struct wb_channel *channel,
                                 const struct wb_channel_config *of)
{
    const struct wb_notify_config *config = &of->notify;

    if (!wb_notify_is_valid(config, of->slots))
        return WB_ERR_INVAL;
    channel->notify = wb_system_alloc(system, sizeof *channel->notify, WB_LINE_BYTES);
    if (channel->notify == NULL)
        return WB_ERR_NOMEM;
    wb_word_init(&channel->notify_kind, kind_of(config));
    wb_word_init(&channel->notify->within_us, config->within_us);
    return WB_OK;
}

// ---- The sender ---------------------------------------------------------------------------------

// What has come in the wait that began at index `from`; or no more fits.
static bool is_complete(const struct wb_channel *channel, uint32_t from, uint32_t batch)
{
    const uint32_t tail = wb_word_load(&channel->tail, WB_ACQUIRE);
    const uint32_t head = wb_word_load(&channel->head, WB_RELAXED);

    return channel_distance(channel, from, tail) >= batch ||
           channel_distance(channel, head, tail) >= channel->slots;
}

// By the first message that this sender has sent in this wait, of which it notes when that was.
// What it notes may be of a message that the receiver has, while that is only about to wait: so who
// comes after it judges by the same time, and does not take for granted that the receiver was rung.
static bool is_looked_for_too_late(struct wb_port *out, const struct wb_notify_policy *notify)
{
    // Acquire: the time of the look is that of this wait, or of a later one.
    const uint32_t turn = wb_word_load(&notify->turn, WB_ACQUIRE);
    const uint64_t look_ns = wb_stamp_get(&notify->look_ns);

    if (wb_word_load(&out->came_turn, WB_RELAXED) != turn) {
        wb_stamp_set(&out->came_ns, wb_kernel_now_ns());
        // Release: who sees the number sees the time.
        wb_word_store(&out->came_turn, turn, WB_RELEASE);
    }
    const uint64_t came_ns = wb_stamp_get(&out->came_ns);
    return look_ns > came_ns && look_ns - came_ns > within_ns(notify);
}

// The port by which the calling task sends; NULL: it has none that is open, or calls from outside.
static struct wb_port *sending(const struct wb_channel *channel)
{
    const struct wb_task *self = wb_kernel_self();

    for (struct wb_port *out = channel->senders; out != NULL; out = out->next_of_channel)
        if (out->task == self && wb_word_load(&out->closed, WB_RELAXED) == 0)
            return out;
    return NULL;
}

static bool rings(const struct wb_port *in)
{
    const struct wb_channel *channel = in->channel;
    const struct wb_notify_policy *notify = channel->notify;
    const uint32_t batch = kind_now(channel) >> BATCH_SHIFT;
    struct wb_port *out = sending(channel);

    // A port was shut.
    if (out == NULL || is_looked_for_too_late(out, notify))
        return true;
    return batch != 0 && is_complete(channel, wb_word_load(&notify->from, WB_RELAXED), batch);
}

// ---- The receiver -------------------------------------------------------------------------------

static void count_one(struct wb_counter *counter)
{
    wb_counter_add(counter, 1);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t turn_of(const struct wb_notify_policy *notify)
{
    return wb_word_load(&notify->turn, WB_RELAXED);
}

// Says that the task waits, and when it looks by itself.
static void begin_look(struct wb_port *in, uint64_t look_ns)
{
    struct wb_notify_policy *notify = in->channel->notify;

    wb_stamp_set(&notify->look_ns, look_ns);
    wb_word_store(&notify->from, in->claimed, WB_RELAXED);
    // Release: see rings(). The fence is that of port.c.
    wb_word_store(&notify->turn, turn_of(notify) + 1, WB_RELEASE);
    (void)wb_word_swap(&in->waiting, WB_WAITS_FOR_NOTIFY, WB_RELEASE);
    wb_word_fence(WB_SEQ_CST);
}

// The same, and attempts once more.
static enum wb_status attempt(struct wb_port *in, void **slot, uint64_t look_ns)
{
    begin_look(in, look_ns);
    return port_attempt_in(in, slot);
}

static bool is_rung(const struct wb_port *in)
{
    return wb_word_load(&in->waiting, WB_RELAXED) == WB_WAITS_NOT;
}

// When the first message came, since the wait of number `since` began; 0: none that is known did.
static uint64_t came(const struct wb_channel *channel, uint32_t since)
{
    const uint32_t turns = turn_of(channel->notify) - since;
    uint64_t first_ns = 0;

    for (const struct wb_port *out = channel->senders; out != NULL; out = out->next_of_channel) {
        // Acquire: see is_looked_for_too_late().
        if (wb_word_load(&out->came_turn, WB_ACQUIRE) - since > turns)
            continue;
        const uint64_t ns = wb_stamp_get(&out->came_ns);
        first_ns = first_ns == 0 ? ns : earlier(first_ns, ns);
    }
    return first_ns;
}

static void count_ring(const struct wb_port *in)
{
    if (is_rung(in))
        count_one(&in->channel->notify->stats.rings);
}

// It has been noticed, so long after it came.
static void note_delay(struct wb_notify_stats *stats, uint64_t came_ns, uint64_t now_ns)
{
    const uint64_t late_ns = now_ns > came_ns ? now_ns - came_ns : 0;

    count_one(&stats->noticed);
    wb_counter_add(&stats->late_ns, late_ns);
    if (late_ns > wb_stamp_get(&stats->worst_ns))
        wb_stamp_set(&stats->worst_ns, late_ns);
}

// What the kernel took to let the task run: since it was to look, or its sender had to ring.
static void note_kernel(struct wb_notify_stats *stats, uint64_t due_ns, uint64_t now_ns)
{
    if (now_ns > due_ns && now_ns - due_ns > wb_stamp_get(&stats->kernel_ns))
        wb_stamp_set(&stats->kernel_ns, now_ns - due_ns);
}

// The message is there, or the wait over. True: there is one, which came at `*came_ns`; 0: not
// known, then it is now.
static bool end_look(struct wb_port *in, enum wb_status status, uint64_t due_ns, uint64_t *came_ns)
{
    struct wb_notify_stats *stats = &in->channel->notify->stats;

    const uint64_t now_ns = wb_kernel_now_ns();
    if (status == WB_OK && *came_ns != 0) {
        note_kernel(stats, due_ns, now_ns);
        note_delay(stats, *came_ns, now_ns);
    }
    count_ring(in);
    port_end_wait(in);
    if (status != WB_OK)
        return false;
    count_one(&stats->waits);
    if (*came_ns == 0)
        *came_ns = now_ns;
    return true;
}

// ---- Polling ------------------------------------------------------------------------------------

// The next look keeps the rhythm of those before it.
static uint64_t next_look(uint64_t last_ns, uint64_t now_ns, uint64_t interval_ns)
{
    const uint64_t latest_ns = now_ns + interval_ns;

    if (last_ns == 0)
        return latest_ns;
    return last_ns > now_ns ? earlier(last_ns, latest_ns)
                            : latest_ns - (now_ns - last_ns) % interval_ns;
}

static enum wb_status wait_polling(struct wb_port *in, void **slot, uint64_t until_ns)
{
    struct wb_notify_policy *notify = in->channel->notify;
    const uint64_t look_ns =
        next_look(wb_stamp_get(&notify->look_ns), wb_kernel_now_ns(), within_ns(notify));

    wb_stamp_set(&notify->look_ns, look_ns);
    const bool over = wb_kernel_block(earlier(look_ns, until_ns)) == WB_ERR_TIMEOUT;
    const enum wb_status status = port_attempt_in(in, slot);
    count_one(&notify->stats.polls);
    if (status == WB_OK) {
        count_one(&notify->stats.hits);
        count_one(&notify->stats.waits);
    }
    return over && until_ns <= look_ns && port_must_wait(status) ? WB_ERR_TIMEOUT : status;
}

// ---- Batches ------------------------------------------------------------------------------------

// True: what has come since `*came_ns` may be taken. Else when it may, by the clock, in `*look_ns`.
static bool is_due(const struct wb_port *in, uint32_t since, uint64_t *came_ns, uint64_t *look_ns)
{
    const struct wb_channel *channel = in->channel;

    if (is_complete(channel, in->claimed, kind_now(channel) >> BATCH_SHIFT) ||
        wb_word_load(&channel->senders_open, WB_ACQUIRE) == 0)
        return true;
    *look_ns = WB_FOREVER;  // nothing: the first message rings
    if (wb_word_load(&channel->tail, WB_ACQUIRE) == in->claimed)
        return false;
    if (*came_ns == 0)
        *came_ns = came(channel, since);
    // Its sender may have been killed before it could say when it came: not later than this.
    const uint64_t now_ns = wb_kernel_now_ns();
    *look_ns = *came_ns == 0 ? now_ns : *came_ns + within_ns(channel->notify);
    return *look_ns <= now_ns;
}

static enum wb_status wait_batch(struct wb_port *in, void **slot, uint64_t until_ns)
{
    struct wb_notify_policy *notify = in->channel->notify;
    const uint32_t kind = kind_now(in->channel), since = turn_of(notify) + 1;
    // No message that is yet to come has to be noticed before that, so none rings to say that it is
    // the first.
    uint64_t now_ns = wb_kernel_now_ns(), look_ns = now_ns + within_ns(notify), came_ns = 0;
    enum wb_status status = attempt(in, slot, look_ns);
    bool due = !port_must_wait(status);

    while (!due && now_ns < until_ns && kind_now(in->channel) == kind) {
        (void)wb_kernel_block(earlier(look_ns, until_ns));
        now_ns = wb_kernel_now_ns();
        if (!is_rung(in) && now_ns >= look_ns)
            count_one(&notify->stats.polls);
        due = is_due(in, since, &came_ns, &look_ns);
        if (due)
            break;
        count_ring(in);
        begin_look(in, look_ns);
        // What came before senders could see that.
        due = is_due(in, since, &came_ns, &look_ns);
    }
    if (port_must_wait(status))
        status = port_attempt_in(in, slot);
    if (end_look(in, status, came_ns + within_ns(notify), &came_ns) && now_ns >= look_ns)
        count_one(&notify->stats.hits);
    return port_must_wait(status) && now_ns >= until_ns ? WB_ERR_TIMEOUT : status;
}

// ---- Adaptive -----------------------------------------------------------------------------------

// The number of the message that the task waits for.
static uint64_t number_of_next(const struct wb_port *in)
{
    const struct wb_channel *channel = in->channel;
    return wb_counter_own(&in->messages) + channel_distance(channel, in->committed, in->claimed);
}

// By the better of two estimates, when the next message is to be looked for; WB_FOREVER: none can
// tell.
static uint64_t expected(struct wb_notify_policy *notify, uint64_t number, uint64_t now_ns)
{
    const struct wb_estimator *rhythm = &notify->rhythm, *service = &notify->service;
    const uint64_t bound_ns = within_ns(notify);
    const uint64_t by_rhythm_ns =
        notify->last_ns + (number - notify->last) * estimator_mean(rhythm);
    const bool is_regular = rhythm->n != 0 && by_rhythm_ns > now_ns && number > notify->last &&
                            estimator_spread(rhythm) <= estimator_spread(service);
    const struct wb_estimator *estimator = is_regular ? rhythm : service;

    if (estimator->n == 0)
        return WB_FOREVER;
    wb_stamp_set(&notify->stats.mean_ns, estimator_mean(estimator));
    wb_stamp_set(&notify->stats.spread_ns, estimator_spread(estimator));
    return (is_regular ? by_rhythm_ns : now_ns + estimator_mean(estimator)) +
           estimator_margin(estimator_spread(estimator), bound_ns);
}

static void learn(struct wb_notify_policy *notify, uint64_t number, uint64_t began_ns,
                  uint64_t came_ns)
{
    estimator_learn(&notify->service, came_ns > began_ns ? came_ns - began_ns : 0);
    if (notify->last_ns != 0 && number > notify->last && came_ns > notify->last_ns)
        estimator_learn(&notify->rhythm, (came_ns - notify->last_ns) / (number - notify->last));
    notify->last_ns = came_ns;
    notify->last = number;
}

// The task has looked, and there was nothing: it polls for as long as its kernel has nothing better
// to do, and says when it looks next.
static enum wb_status look_on(struct wb_port *in, void **slot, uint64_t until_ns, uint64_t look_ns)
{
    struct wb_spin spin = { 0 };
    enum wb_status status = WB_ERR_EMPTY;

    while (port_must_wait(status) && wb_kernel_spin(&spin, until_ns))
        status = port_attempt_in(in, slot);
    in->task->poll_mark_ns += spin.polled_ns;
    if (status == WB_OK)
        count_one(&in->channel->notify->stats.hits);
    return port_must_wait(status) ? attempt(in, slot, look_ns) : status;
}

// After a look in vain there is another, as late again. Then it is not worth to look: it is to be
// woken.
static uint64_t next_after(const struct wb_notify_policy *notify, uint32_t misses, uint64_t now_ns)
{
    return misses > 1 ? WB_FOREVER
                      : now_ns + estimator_margin(wb_stamp_get(&notify->stats.spread_ns),
                                                  within_ns(notify));
}

static enum wb_status wait_adaptive(struct wb_port *in, void **slot, uint64_t until_ns)
{
    struct wb_notify_policy *notify = in->channel->notify;
    const uint32_t kind = kind_now(in->channel), since = turn_of(notify) + 1;
    const uint64_t number = number_of_next(in), began_ns = wb_kernel_now_ns();
    uint64_t now_ns = began_ns, look_ns = expected(notify, number, now_ns), came_ns;
    enum wb_status status = attempt(in, slot, look_ns);
    uint32_t misses = 0;

    while (port_must_wait(status) && now_ns < until_ns && kind_now(in->channel) == kind) {
        (void)wb_kernel_block(earlier(look_ns, until_ns));
        const bool rung = is_rung(in);
        now_ns = wb_kernel_now_ns();
        status = port_attempt_in(in, slot);
        if (!rung && now_ns >= look_ns) {
            count_one(&notify->stats.polls);
            if (status == WB_OK)
                count_one(&notify->stats.hits);
            if (port_must_wait(status)) {
                look_ns = next_after(notify, ++misses, now_ns);
                status = look_on(in, slot, until_ns, look_ns);
            }
        } else if (rung && port_must_wait(status)) {
            count_ring(in);
            status = attempt(in, slot, look_ns);
        }
    }
    came_ns = came(in->channel, since);
    // It did not look for it, or its sender has to ring and may not have come so far.
    const bool must_ring = is_rung(in) || look_ns > now_ns || look_ns > came_ns + within_ns(notify);
    if (end_look(in, status, must_ring ? came_ns : look_ns, &came_ns))
        learn(notify, number, began_ns, came_ns);
    return port_must_wait(status) && now_ns >= until_ns ? WB_ERR_TIMEOUT : status;
}

// The notify policy was taken away meanwhile.
static enum wb_status wait_plainly(struct wb_port *in, void **slot, uint64_t until_ns)
{
    enum wb_status status = wb_port_prepare(in, slot, until_ns);

    if (!port_must_wait(status))
        return status;
    const bool over = wb_kernel_block(until_ns) == WB_ERR_TIMEOUT;
    status = port_attempt_in(in, slot);
    port_end_wait(in);
    return over && port_must_wait(status) ? WB_ERR_TIMEOUT : status;
}

static enum wb_status wait(struct wb_port *in, void **slot, uint64_t timeout_ns)
{
    const uint64_t until_ns = wb_end_of(timeout_ns);
    enum wb_status status = WB_ERR_EMPTY;

    while (port_must_wait(status)) {
        const uint32_t kind = kind_now(in->channel);
        status = (kind == WB_NOTIFY_POLLING    ? wait_polling
                  : kind == WB_NOTIFY_ADAPTIVE ? wait_adaptive
                  : kind >> BATCH_SHIFT != 0   ? wait_batch
                                               : wait_plainly)(in, slot, until_ns);
    }
    return status;
}

const struct wb_part_notify wb_part_notify = { .add = add_policy, .wait = wait, .rings = rings };
