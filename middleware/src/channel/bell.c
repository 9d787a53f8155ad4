// SPDX-License-Identifier: Apache-2.0
// Bells: receivers that are not woken by each message (wb/bell.h).
//
// A receiver that waits by a bell says when it looks by itself (`look_ns`), then that it waits
// (WB_WAITS_FOR_BELL), and attempts once more. A sender publishes its message, and then looks at
// `waiting`, as for any receiver (see the head of port.c): it knows of that look, or its message
// has been seen by that attempt. It wakes the receiver only if the look is later than the bell
// allows, or the batch is complete. No lock, and no word with two writers:
//
// - Only the first message of a wait needs the clock: all that come after it are noticed with it.
//   So each sender notes when it sent the first of this wait (`came_ns`), by the wait's number.
// - The receiver may be in a later wait by the time that a sender acts on what it read of an
//   earlier one. It took the message then, and is woken for nothing at worst. A time that is noted
//   for the later wait in this way is too early: the receiver looks the sooner.
// - Who is killed between its message and its ring leaves a receiver that looks by itself, or is
//   woken by recovery like everybody.

#include "wb/bell.h"
#include "attempt.h"
#include "guess.h"

enum { BATCH_SHIFT = 2, DOORBELL_MASK = (1 << BATCH_SHIFT) - 1 };

static uint32_t kind_of(const struct wb_bell_config *config)
{
    return (uint32_t)config->doorbell | (config->batch > 1 ? config->batch << BATCH_SHIFT : 0);
}

static uint32_t kind_now(const struct wb_channel *channel)
{
    // Acquire: see wb_channel_set_bell().
    return wb_word_load(&channel->bell_kind, WB_ACQUIRE);
}

static uint64_t within_ns(const struct wb_bell *bell)
{
    return wb_word_load(&bell->within_us, WB_RELAXED) * (uint64_t)1000;
}

// ---- What a channel has -------------------------------------------------------------------------

bool wb_bell_is_good(const struct wb_bell_config *config, uint32_t slots)
{
    const bool batched = config->batch > 1;

    if (config->doorbell > WB_BELL_ADAPTIVE || config->batch > slots ||
        (batched && config->doorbell != WB_BELL_INTERRUPT))
        return false;
    return (!batched && config->doorbell == WB_BELL_INTERRUPT) ||
           (config->within_us != 0 && config->within_us <= WB_WITHIN_MAX_US);
}

struct wb_bell_config wb_channel_bell(const struct wb_channel *channel)
{
    if (channel->bell == NULL)
        return (struct wb_bell_config){ .doorbell = WB_BELL_INTERRUPT };
    const uint32_t kind = kind_now(channel);
    return (struct wb_bell_config){ .doorbell = (enum wb_doorbell)(kind & DOORBELL_MASK),
                                    .batch = kind >> BATCH_SHIFT,
                                    .within_us =
                                        wb_word_load(&channel->bell->within_us, WB_RELAXED) };
}

enum wb_status wb_channel_set_bell(struct wb_channel *channel, const struct wb_bell_config *config)
{
    if (channel->bell == NULL || !wb_bell_is_good(config, channel->slots))
        return WB_ERR_INVAL;
    wb_word_store(&channel->bell->within_us, config->within_us, WB_RELAXED);
    // Release: who sees the kind sees the time. Who sees the old kind may go by the new time once.
    wb_word_store(&channel->bell_kind, kind_of(config), WB_RELEASE);
    if (channel->receiver != NULL)
        wb_task_wake(channel->receiver->task);
    return WB_OK;
}

const struct wb_bell_stats *wb_channel_bell_stats(const struct wb_channel *channel)
{
    return channel->bell != NULL ? &channel->bell->stats : NULL;
}

static enum wb_status add(struct wb_system *system, struct wb_channel *channel,
                          const struct wb_channel_config *of)
{
    const struct wb_bell_config *config = &of->bell;

    if (!wb_bell_is_good(config, of->slots))
        return WB_ERR_INVAL;
    channel->bell = wb_system_alloc(system, sizeof *channel->bell, WB_LINE_BYTES);
    if (channel->bell == NULL)
        return WB_ERR_NOMEM;
    wb_word_init(&channel->bell_kind, kind_of(config));
    wb_word_init(&channel->bell->within_us, config->within_us);
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
static bool is_looked_for_too_late(struct wb_port *out, const struct wb_bell *bell)
{
    // Acquire: the time of the look is that of this wait, or of a later one.
    const uint32_t turn = wb_word_load(&bell->turn, WB_ACQUIRE);
    const uint64_t look_ns = wb_stamp_get(&bell->look_ns);

    if (wb_word_load(&out->came_turn, WB_RELAXED) != turn) {
        wb_stamp_set(&out->came_ns, wb_kernel_now_ns());
        // Release: who sees the number sees the time.
        wb_word_store(&out->came_turn, turn, WB_RELEASE);
    }
    const uint64_t came_ns = wb_stamp_get(&out->came_ns);
    return look_ns > came_ns && look_ns - came_ns > within_ns(bell);
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
    const struct wb_bell *bell = channel->bell;
    const uint32_t batch = kind_now(channel) >> BATCH_SHIFT;
    struct wb_port *out = sending(channel);

    // A port was shut.
    if (out == NULL || is_looked_for_too_late(out, bell))
        return true;
    return batch != 0 && is_complete(channel, wb_word_load(&bell->from, WB_RELAXED), batch);
}

// ---- The receiver -------------------------------------------------------------------------------

static void count(struct wb_counter *counter)
{
    wb_counter_add(counter, 1);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t turn_of(const struct wb_bell *bell)
{
    return wb_word_load(&bell->turn, WB_RELAXED);
}

// Says that the task waits, and when it looks by itself.
static void begin(struct wb_port *in, uint64_t look_ns)
{
    struct wb_bell *bell = in->channel->bell;

    wb_stamp_set(&bell->look_ns, look_ns);
    wb_word_store(&bell->from, in->cursor, WB_RELAXED);
    // Release: see rings(). The fence is that of port.c.
    wb_word_store(&bell->turn, turn_of(bell) + 1, WB_RELEASE);
    (void)wb_word_swap(&in->waiting, WB_WAITS_FOR_BELL, WB_RELEASE);
    wb_word_fence(WB_SEQ_CST);
}

// The same, and attempts once more.
static enum wb_status attempt(struct wb_port *in, void **slot, uint64_t look_ns)
{
    begin(in, look_ns);
    return port_attempt_in(in, slot);
}

static bool is_rung(const struct wb_port *in)
{
    return wb_word_load(&in->waiting, WB_RELAXED) == WB_WAITS_NOT;
}

// When the first message came, since the wait of number `since` began; 0: none that is known did.
static uint64_t came(const struct wb_channel *channel, uint32_t since)
{
    const uint32_t turns = turn_of(channel->bell) - since;
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
        count(&in->channel->bell->stats.rings);
}

// It has been noticed, so long after it came.
static void note_delay(struct wb_bell_stats *stats, uint64_t came_ns, uint64_t now_ns)
{
    const uint64_t late_ns = now_ns > came_ns ? now_ns - came_ns : 0;

    count(&stats->noticed);
    wb_counter_add(&stats->late_ns, late_ns);
    if (late_ns > wb_stamp_get(&stats->worst_ns))
        wb_stamp_set(&stats->worst_ns, late_ns);
}

// What the kernel took to let the task run: since it was to look, or its sender had to ring.
static void note_kernel(struct wb_bell_stats *stats, uint64_t due_ns, uint64_t now_ns)
{
    if (now_ns > due_ns && now_ns - due_ns > wb_stamp_get(&stats->kernel_ns))
        wb_stamp_set(&stats->kernel_ns, now_ns - due_ns);
}

// The message is there, or the wait over. True: there is one, which came at `*came_ns`; 0: not
// known, then it is now.
static bool end(struct wb_port *in, enum wb_status status, uint64_t due_ns, uint64_t *came_ns)
{
    struct wb_bell_stats *stats = &in->channel->bell->stats;

    const uint64_t now_ns = wb_kernel_now_ns();
    if (status == WB_OK && *came_ns != 0) {
        note_kernel(stats, due_ns, now_ns);
        note_delay(stats, *came_ns, now_ns);
    }
    count_ring(in);
    port_end_wait(in);
    if (status != WB_OK)
        return false;
    count(&stats->waits);
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
    struct wb_bell *bell = in->channel->bell;
    const uint64_t look_ns =
        next_look(wb_stamp_get(&bell->look_ns), wb_kernel_now_ns(), within_ns(bell));

    wb_stamp_set(&bell->look_ns, look_ns);
    const bool over = wb_kernel_block(earlier(look_ns, until_ns)) == WB_ERR_TIMEOUT;
    const enum wb_status status = port_attempt_in(in, slot);
    count(&bell->stats.looks);
    if (status == WB_OK) {
        count(&bell->stats.hits);
        count(&bell->stats.waits);
    }
    return over && until_ns <= look_ns && port_must_wait(status) ? WB_ERR_TIMEOUT : status;
}

// ---- Batches ------------------------------------------------------------------------------------

// True: what has come since `*came_ns` may be taken. Else when it may, by the clock, in `*look_ns`.
static bool is_due(const struct wb_port *in, uint32_t since, uint64_t *came_ns, uint64_t *look_ns)
{
    const struct wb_channel *channel = in->channel;

    if (is_complete(channel, in->cursor, kind_now(channel) >> BATCH_SHIFT) ||
        wb_word_load(&channel->senders_open, WB_ACQUIRE) == 0)
        return true;
    *look_ns = WB_FOREVER;  // nothing: the first message rings
    if (wb_word_load(&channel->tail, WB_ACQUIRE) == in->cursor)
        return false;
    if (*came_ns == 0)
        *came_ns = came(channel, since);
    // Its sender may have been killed before it could say when it came: not later than this.
    const uint64_t now_ns = wb_kernel_now_ns();
    *look_ns = *came_ns == 0 ? now_ns : *came_ns + within_ns(channel->bell);
    return *look_ns <= now_ns;
}

static enum wb_status wait_batch(struct wb_port *in, void **slot, uint64_t until_ns)
{
    struct wb_bell *bell = in->channel->bell;
    const uint32_t kind = kind_now(in->channel), since = turn_of(bell) + 1;
    // No message that is yet to come has to be noticed before that, so none rings to say that it is
    // the first.
    uint64_t now_ns = wb_kernel_now_ns(), look_ns = now_ns + within_ns(bell), came_ns = 0;
    enum wb_status status = attempt(in, slot, look_ns);
    bool due = !port_must_wait(status);

    while (!due && now_ns < until_ns && kind_now(in->channel) == kind) {
        (void)wb_kernel_block(earlier(look_ns, until_ns));
        now_ns = wb_kernel_now_ns();
        if (!is_rung(in) && now_ns >= look_ns)
            count(&bell->stats.looks);
        due = is_due(in, since, &came_ns, &look_ns);
        if (due)
            break;
        count_ring(in);
        begin(in, look_ns);
        // What came before senders could see that.
        due = is_due(in, since, &came_ns, &look_ns);
    }
    if (port_must_wait(status))
        status = port_attempt_in(in, slot);
    if (end(in, status, came_ns + within_ns(bell), &came_ns) && now_ns >= look_ns)
        count(&bell->stats.hits);
    return port_must_wait(status) && now_ns >= until_ns ? WB_ERR_TIMEOUT : status;
}

// ---- Adaptive -----------------------------------------------------------------------------------

// The number of the message that the task waits for.
static uint64_t number_of_next(const struct wb_port *in)
{
    const struct wb_channel *channel = in->channel;
    return wb_counter_own(&in->messages) + channel_distance(channel, in->edge, in->cursor);
}

// By the better of two guesses, when the next message is to be looked for; WB_FOREVER: none can
// tell.
static uint64_t expected(struct wb_bell *bell, uint64_t number, uint64_t now_ns)
{
    const struct wb_guess *rhythm = &bell->rhythm, *service = &bell->service;
    const uint64_t bound_ns = within_ns(bell);
    const uint64_t by_rhythm_ns = bell->last_ns + (number - bell->last) * guess_mean(rhythm);
    const bool is_regular = rhythm->n != 0 && by_rhythm_ns > now_ns && number > bell->last &&
                            guess_spread(rhythm) <= guess_spread(service);
    const struct wb_guess *guess = is_regular ? rhythm : service;

    if (guess->n == 0)
        return WB_FOREVER;
    wb_stamp_set(&bell->stats.mean_ns, guess_mean(guess));
    wb_stamp_set(&bell->stats.spread_ns, guess_spread(guess));
    return (is_regular ? by_rhythm_ns : now_ns + guess_mean(guess)) +
           guess_margin(guess_spread(guess), bound_ns);
}

static void learn(struct wb_bell *bell, uint64_t number, uint64_t began_ns, uint64_t came_ns)
{
    guess_learn(&bell->service, came_ns > began_ns ? came_ns - began_ns : 0);
    if (bell->last_ns != 0 && number > bell->last && came_ns > bell->last_ns)
        guess_learn(&bell->rhythm, (came_ns - bell->last_ns) / (number - bell->last));
    bell->last_ns = came_ns;
    bell->last = number;
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
        count(&in->channel->bell->stats.hits);
    return port_must_wait(status) ? attempt(in, slot, look_ns) : status;
}

// After a look in vain there is another, as late again. Then it is not worth to look: it is to be
// woken.
static uint64_t next_after(const struct wb_bell *bell, uint32_t misses, uint64_t now_ns)
{
    return misses > 1
               ? WB_FOREVER
               : now_ns + guess_margin(wb_stamp_get(&bell->stats.spread_ns), within_ns(bell));
}

static enum wb_status wait_adaptive(struct wb_port *in, void **slot, uint64_t until_ns)
{
    struct wb_bell *bell = in->channel->bell;
    const uint32_t kind = kind_now(in->channel), since = turn_of(bell) + 1;
    const uint64_t number = number_of_next(in), began_ns = wb_kernel_now_ns();
    uint64_t now_ns = began_ns, look_ns = expected(bell, number, now_ns), came_ns;
    enum wb_status status = attempt(in, slot, look_ns);
    uint32_t misses = 0;

    while (port_must_wait(status) && now_ns < until_ns && kind_now(in->channel) == kind) {
        (void)wb_kernel_block(earlier(look_ns, until_ns));
        const bool rung = is_rung(in);
        now_ns = wb_kernel_now_ns();
        status = port_attempt_in(in, slot);
        if (!rung && now_ns >= look_ns) {
            count(&bell->stats.looks);
            if (status == WB_OK)
                count(&bell->stats.hits);
            if (port_must_wait(status)) {
                look_ns = next_after(bell, ++misses, now_ns);
                status = look_on(in, slot, until_ns, look_ns);
            }
        } else if (rung && port_must_wait(status)) {
            count_ring(in);
            status = attempt(in, slot, look_ns);
        }
    }
    came_ns = came(in->channel, since);
    // It did not look for it, or its sender has to ring and may not have come so far.
    const bool must_ring = is_rung(in) || look_ns > now_ns || look_ns > came_ns + within_ns(bell);
    if (end(in, status, must_ring ? came_ns : look_ns, &came_ns))
        learn(bell, number, began_ns, came_ns);
    return port_must_wait(status) && now_ns >= until_ns ? WB_ERR_TIMEOUT : status;
}

// The bell was taken away meanwhile.
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
        status = (kind == WB_BELL_POLLING    ? wait_polling
                  : kind == WB_BELL_ADAPTIVE ? wait_adaptive
                  : kind >> BATCH_SHIFT != 0 ? wait_batch
                                             : wait_plainly)(in, slot, until_ns);
    }
    return status;
}

const struct wb_part_bells wb_part_bells = { .add = add, .wait = wait, .rings = rings };
